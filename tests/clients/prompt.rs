//! The prompt as a person sees it: the real executable in a real terminal.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use stratalog_tests::cli;
use stratalog_tests::prompt::{COLUMNS, Prompt, ROWS};
use stratalog_tests::server::{PASSWORD, Server};
use tempfile::TempDir;

#[test]
fn a_program_is_typed_over_several_lines_and_answered() {
    let server = Server::start();
    let prompt = Prompt::open(&server);
    prompt.wait("`.help` helps");
    prompt.type_more("+owns[(\"ada\", \"acme\"),");
    prompt.type_line("(\"acme\", \"bolts\")]", "inserted 2 facts into owns");
    prompt.type_line("+controls(X, Y) <- owns(X, Y)", "registered a rule for controls");
    prompt.type_line("?controls(\"ada\", What)", "│ ada │ acme │");
    prompt.wait("(1 row, ");
    // The error shows its place, and the next line works.
    prompt.type_line("?control(X, Y)", "^^^^^^^");
    prompt.wait("did you mean `controls`?");
    prompt.type_line(".kg create lab", "lab> ");
    assert_eq!(prompt.end(), 0);
}

#[test]
fn a_password_that_is_nowhere_is_asked_for_and_not_shown() {
    let server = Server::start();
    let home = Arc::new(TempDir::new().unwrap());
    let prompt = Prompt::start(&server, home, &[("STRATALOG_PASSWORD", "")]);
    prompt.wait("Password for admin:");
    prompt.keys(&format!("{PASSWORD}\r"));
    prompt.wait("default> ");
    assert!(!prompt.seen().contains(PASSWORD), "{}", prompt.seen());
    prompt.wait_for_reads(1);
    assert_eq!(prompt.end(), 0);
}

#[test]
fn ctrl_c_stops_the_program_and_not_the_prompt() {
    let server = Server::start();
    let prompt = Prompt::open(&server);
    prompt.type_line("+start(1)", "inserted 1 fact");
    prompt.type_line("+n(X) <- start(X)", "registered");
    prompt.type_line("+n(Y) <- n(X), Y = X + 1", "default> ");
    let reads = prompt.reads();
    prompt.keys("?n(X)\r");
    std::thread::sleep(Duration::from_millis(700));
    prompt.keys("\u{3}");
    prompt.wait("interrupted");
    prompt.wait_for_reads(reads + 1);
    // It does not run on at the server, where nothing runs but what asks.
    prompt.type_line(".query list", "(1 row, ");
    assert!(!prompt.seen().contains("│ ?n(X)"), "{}", prompt.seen());
    // On an unfinished line, Ctrl-C clears it.
    let reads = prompt.reads();
    prompt.keys("?start(");
    prompt.wait("?start(");
    prompt.keys("\u{3}");
    prompt.wait_for_reads(reads + 1);
    prompt.type_line("?start(X)", "(1 row, ");
    assert_eq!(prompt.end(), 0);
}

#[test]
fn tab_completes_names_columns_commands_and_files() {
    let server = Server::start();
    let prompt = Prompt::open(&server);
    prompt.type_line("+citizen(name: string, born: int)", "declared");
    prompt.type_line("+citizen(\"ada\", 1815)", "inserted 1 fact");
    prompt.type_line("+planet(name: string)", "declared");
    std::thread::sleep(Duration::from_millis(500)); // names are asked for in the background
    // One without facts, too.
    let reads = prompt.reads();
    prompt.keys("?plan\t");
    prompt.wait("?planet(");
    prompt.keys("\u{3}");
    prompt.wait_for_reads(reads + 1);
    prompt.keys("?citi\t");
    prompt.wait("?citizen(");
    prompt.keys("Na\t");
    prompt.wait("?citizen(Name");
    prompt.keys(", B\t");
    prompt.wait("?citizen(Name, Born");
    prompt.type_line(")", "(1 row, ");
    prompt.keys(".nullv\t");
    prompt.wait(".nullvalue");
    let reads = prompt.reads();
    prompt.keys("\u{3}");
    prompt.wait_for_reads(reads + 1);
    std::fs::write(prompt.file("some_program.dl"), "+loaded(1)").unwrap();
    prompt.keys(".read some_p\t");
    prompt.wait(".read some_program.dl");
    prompt.type_line("", "inserted 1 fact into loaded");
    assert_eq!(prompt.end(), 0);
}

#[test]
fn commands_of_the_prompt_do_what_they_say() {
    let server = Server::start();
    let prompt = Prompt::open(&server);
    prompt.type_line("+edge[(1, 2), (2, null)]", "inserted 2 facts");
    prompt.type_line(".mode csv", "default> ");
    prompt.type_line("?edge(X:asc, Y)", "1,2");
    prompt.type_line(".nullvalue nil", "default> ");
    prompt.type_line("?edge(2, Y)", "2,nil");
    prompt.type_line(".headers maybe", "expected `.headers on|off`");
    prompt.type_line(".timer on", "default> ");
    prompt.type_line("?edge(1, Y)", "time: server");
    prompt.type_line(".timer off", "default> ");
    prompt.type_line(".limit 1", "default> ");
    prompt.type_line("?edge(X, Y)", "note: 1 row of 2 shown");
    prompt.type_line(".limit off", "default> ");
    prompt.type_line(".mode line", "default> ");
    prompt.type_line("?edge(1, Far)", "Far = 2");
    prompt.type_line(".mode box", "default> ");
    prompt.type_line(".tables", "│ edge");
    prompt.type_line(".schema edge", "│ column");
    prompt.type_line(".export edge edge.parquet", "default> ");
    prompt.type_line(".import copy edge.parquet", "inserted 2 facts into copy");
    prompt.type_line(".explain ?edge(1, X)", "probe edge(1, X)");
    prompt.type_line(".cancel", "nothing runs here");
    prompt.type_line(".history nullv", ".nullvalue nil");
    prompt.type_line(".help", "Commands of this prompt:");
    prompt.keys(".quit\r");
    let mut prompt = prompt;
    assert_eq!(prompt.child.wait().unwrap().exit_code(), 0);
}

#[test]
fn an_editor_writes_a_program_and_watching_ends_with_ctrl_c() {
    let server = Server::start();
    let home = Arc::new(TempDir::new().unwrap());
    let editor = home.path().join("editor.sh");
    std::fs::write(&editor, "#!/bin/sh\nprintf '+edited(1)\\n?edited(X)' > \"$1\"\n").unwrap();
    std::fs::set_permissions(&editor, std::fs::Permissions::from_mode(0o755)).unwrap();
    let prompt = Prompt::open_in(&server, home, &[("EDITOR", editor.to_str().unwrap())]);
    prompt.type_line(".edit", "(1 row, ");
    let reads = prompt.reads();
    prompt.keys(".watch ?edited(X)\r");
    prompt.wait("│ change │");
    let done = cli::run(cli::at(&server), &["-c", "+edited(22)"], "");
    assert_eq!(done.code, Some(0));
    prompt.wait("│ +      │ 22 │");
    prompt.keys("\u{3}");
    prompt.wait_for_reads(reads + 1);
    prompt.type_line("?edited(X:asc), X > 20", "(1 row, ");
    assert_eq!(prompt.end(), 0);
}

#[test]
fn history_is_private_and_keeps_no_secret() {
    let server = Server::start();
    let prompt = Prompt::open(&server);
    prompt.type_line("+kept(1)", "inserted 1 fact");
    prompt.type_line(".user create eve s3cret viewer", "created user eve");
    prompt.type_line(".user /* */ create hh7 topsecretG viewer", "created user hh7");
    let home = Arc::clone(&prompt.home);
    let file = home.path().join(".local/state/stratalog/history");
    assert_eq!(prompt.end(), 0);
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("+kept(1)") && !text.contains("s3cret") && !text.contains("topsecretG"), "{text}");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    // The next prompt knows the lines of this one.
    let prompt = Prompt::open_in(&server, home, &[]);
    prompt.keys("\u{1b}[A");
    prompt.wait("+kept(1)");
}

#[test]
fn colours_show_only_what_is_typed_and_wanted() {
    let server = Server::start();
    let home = Arc::new(TempDir::new().unwrap());
    let plain = Prompt::open(&server);
    plain.keys("?edge(X, \"text\")");
    plain.wait("\"text\"");
    let coloured = |prompt: &Prompt| {
        let screen = prompt.screen.lock().unwrap();
        let screen = screen.screen();
        (0..ROWS).any(|row| {
            (0..COLUMNS).any(|column| {
                screen
                    .cell(row, column)
                    .is_some_and(|cell| cell.contents() == "t" && cell.fgcolor() == vt100::Color::Idx(2))
            })
        })
    };
    assert!(!coloured(&plain));
    let vivid = Prompt::open_in(&server, home, &[("NO_COLOR", "")]);
    vivid.keys("?edge(X, \"text\")");
    vivid.wait_for("green text", |_| coloured(&vivid));
}

/// The server is killed under a program that runs, and comes back: the prompt says what happened, repeats no write, and
/// goes on.
#[test]
fn a_killed_server_is_reported_and_the_prompt_goes_on() {
    let folder = TempDir::new().unwrap();
    let server = Server::start_in(folder.path(), &[]);
    let port = server.address().rsplit(':').next().unwrap().to_owned();
    let prompt = Prompt::open(&server);
    prompt.type_line("+start(1)", "inserted 1 fact");
    prompt.type_line("+n(X) <- start(X)", "registered");
    prompt.type_line("+n(Y) <- n(X), Y = X + 1", "default> ");
    prompt.type_line("+seen(1)", "inserted 1 fact into seen");
    let reads = prompt.reads();
    prompt.keys("-seen(1)\u{1b}\r+written(1)\u{1b}\r?n(X)\r");
    std::thread::sleep(Duration::from_millis(1000));
    drop(server);
    prompt.wait("may have taken effect or not");
    prompt.wait_for_reads(reads + 1);
    let server = restart(folder.path(), &port);
    prompt.type_line("?start(X)", "(1 row, ");
    let counted = cli::run(cli::at(&server), &["-c", "?written(X)", "--csv", "--no-header"], "");
    assert_eq!(counted.out, "1\n", "{}", counted.err);
    assert_eq!(prompt.end(), 0);
}

fn restart(folder: &Path, port: &str) -> Server {
    Server::start_in(folder, &[("SERVICE_HTTP__PORT", port)])
}
