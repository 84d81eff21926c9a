//! Ctrl-C: the command line stops soon whatever it waits for, loses no signal, and says what it does not know.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use portable_pty::CommandBuilder;
use stratalog_tests::cli::{self, Done, ok};
use stratalog_tests::prompt::Prompt;
use stratalog_tests::proxy::Proxy;
use stratalog_tests::server::{PASSWORD, Server};
use stratalog_tests::times::PATIENCE;
use tempfile::TempDir;

/// Never ends by itself.
const ENDLESS: &str = "n(X) <- start(X)\nn(Y) <- n(X), Y = X + 1\n?n(X)";

fn start(mut command: Command, arguments: &[&str]) -> Child {
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the command line starts")
}

fn signal(process: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &process.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

fn a_moment() {
    std::thread::sleep(Duration::from_millis(700));
}

/// Its end; what it has written is read only then.
fn ended(mut process: Child) -> Done {
    let until = Instant::now() + PATIENCE;
    while process.try_wait().unwrap().is_none() {
        if Instant::now() >= until {
            process.kill().unwrap();
            panic!(
                "it does not end: {}",
                String::from_utf8_lossy(&process.wait_with_output().unwrap().stderr)
            );
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let output = process.wait_with_output().unwrap();
    Done {
        code: output.status.code(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

#[test]
fn an_outcome_that_nobody_knows_is_told_as_such() {
    let server = Server::start();
    ok(&server, &["-c", "+start(1)"]);
    let proxy = Proxy::to(server.address());
    let at_proxy = || {
        let mut command = cli::at(&server);
        command.env("STRATALOG_URL", proxy.url());
        command
    };
    for (program, uncertain) in [(format!("+written(1)\n{ENDLESS}"), true), (ENDLESS.to_owned(), false)] {
        let process = start(at_proxy(), &["-c", &program]);
        cli::until_one_runs(&server);
        proxy.swallow();
        signal(&process, "-INT");
        std::thread::sleep(Duration::from_millis(300));
        signal(&process, "-INT");
        let done = ended(process);
        assert_eq!(done.code, Some(130), "{}", done.err);
        assert!(done.err.starts_with("interrupted"), "{}", done.err);
        assert_eq!(done.err.contains("may have taken effect or not"), uncertain, "{}", done.err);
        proxy.cut();
    }
    // What the server has confirmed is no question.
    let process = start(cli::at(&server), &["-c", &format!("+written(2)\n{ENDLESS}")]);
    cli::until_one_runs(&server);
    signal(&process, "-INT");
    let done = ended(process);
    assert_eq!((done.code, done.err.as_str()), (Some(130), "interrupted\n"));
}

#[test]
fn standard_input_that_never_ends_is_left() {
    let server = Server::start();
    for arguments in [&["import", "t", "-", "--format", "csv"][..], &["run", "-"]] {
        let process = start(cli::at(&server), arguments);
        a_moment();
        signal(&process, "-INT");
        assert_eq!(ended(process).code, Some(130), "{arguments:?}");
    }
}

#[test]
fn rows_that_nobody_reads_are_left() {
    let server = Server::start();
    ok(&server, &["-c", "+n(0)"]);
    let many = "r(X) <- n(X)\nr(Y) <- r(X), X < 300000, Y = X + 1\n?r(X)";
    let process = start(cli::at(&server), &["-c", many, "--format", "csv"]);
    std::thread::sleep(Duration::from_millis(2000));
    signal(&process, "-INT");
    let done = ended(process);
    assert_eq!((done.code, done.err.as_str()), (Some(130), "interrupted\n"));
}

#[test]
fn no_further_file_is_begun() {
    let server = Server::start();
    let folder = TempDir::new().unwrap();
    for n in [1, 3] {
        fs::write(folder.path().join(format!("{n}.csv")), format!("a\n{n}\n")).unwrap();
    }
    let pipe = folder.path().join("2.csv");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut command = cli::at(&server);
    command.current_dir(folder.path());
    let process = start(command, &["import", "t", "1.csv", "2.csv", "3.csv"]);
    // This waits for the reader; more never comes.
    let writer = fs::OpenOptions::new().write(true).open(&pipe).unwrap();
    signal(&process, "-INT");
    let done = ended(process);
    assert_eq!(done.code, Some(130), "{}", done.err);
    assert_eq!(done.err.matches("inserted 1 fact").count(), 1, "{}", done.err);
    assert!(done.err.ends_with("interrupted\n"), "{}", done.err);
    assert_eq!(ok(&server, &["-c", "?t(X)", "--csv", "--no-header"]), "1\n");
    drop(writer);
}

#[test]
fn a_server_that_does_not_answer_is_left() {
    let server = Server::start();
    ok(&server, &["-c", "+start(1)"]);
    let process = start(cli::at(&server), &["-c", ENDLESS]);
    cli::until_one_runs(&server);
    let to_server = |name: &str| {
        Command::new("kill").args([name, &server.pid().to_string()]).status().unwrap();
    };
    to_server("-STOP");
    signal(&process, "-INT");
    std::thread::sleep(Duration::from_millis(300));
    signal(&process, "-INT");
    let done = ended(process);
    to_server("-CONT");
    assert_eq!(done.code, Some(130), "{}", done.err);
}

#[test]
fn a_password_prompt_leaves_a_terminal_that_shows_what_is_typed() {
    let server = Server::start();
    let known = cli::at(&server);
    for (command, asks) in
        [("\"$0\"", "Password for admin:"), ("\"$0\" user create ada", "New password for ada:")]
    {
        let home = Arc::new(TempDir::new().unwrap());
        let mut shell = CommandBuilder::new("sh");
        shell.args(["-c", &format!("trap : INT; {command}; echo left with $?; stty -a; sleep 60")]);
        shell.arg(known.get_program());
        let terminal = Prompt::run(&known, shell, home, &[("STRATALOG_PASSWORD", "")]);
        terminal.wait(asks);
        terminal.keys("half\u{3}");
        terminal.wait("left with 130");
        terminal.wait("icanon");
        assert!(terminal.seen().contains(" echo "), "{}", terminal.seen());
        assert!(!terminal.seen().contains("half"), "{}", terminal.seen());
    }
    // A password is read as before.
    let done = cli::run(cli::at(&server), &["user", "create", "ada"], &format!("{PASSWORD}\n"));
    assert_eq!(done.code, Some(0), "{}", done.err);
}

#[test]
fn an_editor_has_ctrl_c_for_itself() {
    let server = Server::start();
    let home = Arc::new(TempDir::new().unwrap());
    let editor = home.path().join("editor.sh");
    let script = "#!/bin/sh\ntrap 'echo caught' INT\nls -l \"$1\"\necho editing\nsleep 2\nsleep 1\nprintf '+edited(1)' > \"$1\"\n";
    fs::write(&editor, script).unwrap();
    fs::set_permissions(&editor, fs::Permissions::from_mode(0o755)).unwrap();
    let scratch = home.path().join("scratch");
    fs::create_dir(&scratch).unwrap();
    let variables = [("EDITOR", editor.to_str().unwrap()), ("TMPDIR", scratch.to_str().unwrap())];
    let prompt = Prompt::open_in(&server, Arc::clone(&home), &variables);
    let reads = prompt.reads();
    prompt.keys(".edit\r");
    prompt.wait("editing");
    prompt.wait("-rw-------");
    prompt.keys("\u{3}");
    prompt.wait("caught");
    prompt.wait("inserted 1 fact into edited");
    prompt.wait_for_reads(reads + 1);
    assert_eq!(fs::read_dir(&scratch).unwrap().count(), 0);
    assert_eq!(prompt.end(), 0);
}
