//! The prompt and files: where rows go, what is read, and which graph facts go to when the network breaks.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use stratalog_tests::cli;
use stratalog_tests::prompt::Prompt;
use stratalog_tests::proxy::Proxy;
use stratalog_tests::server::Server;
use tempfile::TempDir;

fn read(prompt: &Prompt, name: &str) -> String {
    fs::read_to_string(prompt.file(name)).unwrap()
}

#[test]
fn rows_are_added_to_a_file_and_messages_are_not() {
    let server = Server::start();
    let prompt = Prompt::open(&server);
    prompt.type_line(".mode line", "default> ");
    prompt.type_line(".output rows.csv", "default> ");
    prompt.type_line("+edge[(1, 2), (2, 3)]", "inserted 2 facts");
    prompt.type_line("?edge(X:asc, Y)", "default> ");
    prompt.type_line("?edge(2, Y)", "default> ");
    assert_eq!(read(&prompt, "rows.csv"), "X,Y\n1,2\n2,3\n2,3\n");
    // Another format goes to the same file where it can, and writes over nothing where it cannot.
    prompt.type_line(".mode tabs", "default> ");
    prompt.type_line("?edge(1, Y)", "default> ");
    assert_eq!(read(&prompt, "rows.csv"), "X,Y\n1,2\n2,3\n2,3\n1\t2\n");
    prompt.type_line(".mode json", "default> ");
    prompt.type_line("?edge(1, Y)", "this format holds one answer");
    assert_eq!(read(&prompt, "rows.csv"), "X,Y\n1,2\n2,3\n2,3\n1\t2\n");
    // The format from before is back.
    prompt.type_line(".output", "default> ");
    prompt.type_line("?edge(1, Far)", "Far = 2");
    // A file of one answer takes one.
    prompt.type_line(".output rows.parquet", "default> ");
    prompt.type_line("?edge(X, Y)", "default> ");
    let before = fs::read(prompt.file("rows.parquet")).unwrap();
    assert!(before.starts_with(b"PAR1"));
    prompt.type_line("?edge(1, Y)", "rows.parquet: it holds rows already");
    assert_eq!(fs::read(prompt.file("rows.parquet")).unwrap(), before);
    prompt.type_line("+edge(3, 4)", "inserted 1 fact into edge");
    prompt.type_line(".output", "default> ");
    prompt.type_line("?edge(3, Away)", "Away = 4");
    assert_eq!(prompt.end(), 0);
}

/// At once, and not when there are rows for it.
#[test]
fn a_file_that_cannot_be_written_is_told_when_it_is_named() {
    let server = Server::start();
    let prompt = Prompt::open(&server);
    prompt.type_line(
        ".output /nonexist/x.csv",
        "error: /nonexist/x.csv: No such file or directory (os error 2)",
    );
    prompt.type_line("+a(1)", "inserted 1 fact");
    prompt.type_line("?a(X)", "(1 row, ");
    prompt.type_line(".output new.csv", "default> ");
    assert!(!prompt.file("new.csv").exists());
    prompt.type_line(".output", "default> ");
    prompt.type_line("help export", ".export RELATION|QUERY FILE");
    prompt.type_line("help rel describe", "Lists the columns");
    assert_eq!(prompt.end(), 0);
}

#[test]
fn files_are_named_with_blanks_and_from_home() {
    let server = Server::start();
    let prompt = Prompt::open(&server);
    fs::write(prompt.file("x.dl"), "+from_home(1)").unwrap();
    fs::write(prompt.file("my file.dl"), "+from_quotes(1)").unwrap();
    fs::write(prompt.file("my cities.txt"), "Oslo;717710\nRome;many\n").unwrap();
    prompt.type_line(".read ~/x.dl", "inserted 1 fact into from_home");
    prompt.type_line(".read \"my file.dl\"", "inserted 1 fact into from_quotes");
    // The options are those of the command line.
    let import = ".import city 'my cities.txt' --format csv --no-header --delimiter ';' --columns 'name: string, n: int'";
    prompt.type_line(import, "many");
    prompt.type_line(&format!("{import} --on-error skip"), "inserted 1 fact into city, 1 record skipped");
    prompt.type_line(".import city", "not provided");
    prompt.type_line(".export city \"my export.csv\"", "default> ");
    assert_eq!(read(&prompt, "my export.csv"), "name,n\nOslo,717710\n");
    assert_eq!(prompt.end(), 0);
}

#[test]
fn facts_go_to_the_graph_that_the_prompt_shows() {
    let server = Server::start();
    let proxy = Proxy::to(server.address());
    let url = proxy.url();
    let home = Arc::new(TempDir::new().unwrap());
    let prompt = Prompt::open_in(&server, home, &[("STRATALOG_URL", &url)]);
    prompt.type_line(".kg create lab", "lab> ");
    prompt.type_line(".kg use default", "default> ");
    // The server switches, and its word of it is lost.
    let reads = prompt.reads();
    proxy.swallow();
    prompt.keys(".kg use lab\r");
    std::thread::sleep(Duration::from_millis(700));
    proxy.cut();
    prompt.wait("may have taken effect or not");
    prompt.wait_for_reads(reads + 1);
    std::thread::sleep(Duration::from_millis(700)); // connected again
    prompt.type_line("+secret(1)", "on the knowledge graph `lab` now; nothing was sent");
    prompt.type_line("+seen(1)", "inserted 1 fact into seen");
    let at = |graph: &str, ask: &str| cli::run(cli::at(&server), &["--kg", graph, "-c", ask], "").code;
    assert_eq!(at("lab", "?seen(X)"), Some(0));
    assert_eq!((at("lab", "?secret(X)"), at("default", "?secret(X)")), (Some(1), Some(1)));
    assert!(prompt.seen().trim_end().ends_with("lab>"), "{}", prompt.seen());
    assert_eq!(prompt.end(), 0);
}
