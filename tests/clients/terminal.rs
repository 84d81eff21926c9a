//! Answers on a terminal: what is shown of a long, a wide and a slow one, the way to all of it, and what that takes of memory.

use std::fs;
use std::num::NonZero;
use std::sync::Arc;

use portable_pty::CommandBuilder;
use stratalog_tests::cli;
use stratalog_tests::prompt::{COLUMNS, Prompt};
use stratalog_tests::server::Server;
use tempfile::TempDir;

const DIGITS: &str = "+n[(0), (1), (2), (3), (4), (5), (6), (7), (8), (9)]";

/// A server that knows the digits.
fn server() -> Server {
    let server = Server::start();
    let done = cli::run(cli::at(&server), &["-c", DIGITS], "");
    assert_eq!(done.code, Some(0), "{}", done.err);
    server
}

/// Runs a line of a shell on a terminal, in which `$0` is the command line; what is shown when it has ended.
fn shown(server: &Server, line: &str, variables: &[(&str, &str)]) -> String {
    shown_in(COLUMNS, server, line, variables)
}

/// The same on a terminal of so many columns.
fn shown_in(columns: u16, server: &Server, line: &str, variables: &[(&str, &str)]) -> String {
    let known = cli::at(server);
    let mut shell = CommandBuilder::new("sh");
    shell.args(["-c", &format!("{line}; echo left with $?; sleep 60")]);
    shell.arg(known.get_program());
    let columns = NonZero::new(columns).unwrap();
    let home = Arc::new(TempDir::new().unwrap());
    let terminal = Prompt::run_as_wide_as(columns, &known, shell, home, variables);
    terminal.wait("left with ");
    terminal.seen()
}

#[test]
fn a_long_answer_is_shown_in_part_and_counted_whole() {
    let server = server();
    let seen = shown(&server, "\"$0\" -c '?X, Y, Z <- n(X), n(Y), n(Z)'", &[]);
    assert!(seen.contains("40 of 1,000 rows: --all shows everything"), "{seen}");
    assert_eq!(seen.lines().filter(|line| line.starts_with('│')).count(), 41, "{seen}");
    // A limit of its own is not mistaken for what there is, and one that is asked for is kept.
    let seen = shown(&server, "\"$0\" -c '?X, Y, Z <- n(X), n(Y), n(Z), limit(45)'", &[]);
    assert!(seen.contains("40 of 45 rows"), "{seen}");
    let seen = shown(&server, "\"$0\" --limit 43 -c '?X, Y, Z <- n(X), n(Y), n(Z)'", &[]);
    assert!(seen.contains("note: 43 rows of 1000 shown") && seen.contains("(43 rows, "), "{seen}");
    // So are the rows of a relation that a command shows, stored or derived.
    let seen = shown(&server, "\"$0\" -q -c '+m(X, Y) <- n(X), n(Y)'; \"$0\" -c '.rule m'", &[]);
    assert!(seen.contains("40 of 100 rows: --all shows everything"), "{seen}");
    let facts: Vec<String> = (0..90).map(|n| format!("({n})")).collect();
    let seen =
        shown(&server, &format!("\"$0\" -q -c '+many[{}]'; \"$0\" -c '.rel many'", facts.join(", ")), &[]);
    assert!(seen.contains("40 of 90 rows: --all shows everything"), "{seen}");
    // What a program reads, and what commands list, is whole.
    let seen = shown(&server, "\"$0\" --csv -c '?X, Y <- n(X), n(Y)' | cat | wc -l", &[]);
    assert!(seen.contains("101"), "{seen}");
    let seen = shown(&server, "\"$0\" --csv -c '?X, Y <- n(X), n(Y)'; \"$0\" -c .help", &[]);
    assert!(!seen.contains(" rows: --all"), "{seen}");
}

/// What values hold does nothing to a terminal, and stays what it is in a pipe.
#[test]
fn files_on_a_terminal_cannot_steer_it() {
    let server = server();
    let facts = "+t[(\"a\u{1b}]0;title\u{7}b\u{1b}[2Jc\")]";
    assert_eq!(cli::run(cli::at(&server), &["-c", facts], "").code, Some(0));
    for format in ["csv", "tsv", "jsonl"] {
        let seen = shown(&server, &format!("\"$0\" -c '?t(X)' --format {format}"), &[]);
        assert!(seen.contains("a\\u001b]0;title\\u0007b\\u001b[2Jc"), "{format}: {seen}");
    }
    let piped = cli::run(cli::at(&server), &["-c", "?t(X)", "--csv", "--no-header"], "").out;
    assert_eq!(piped, "a\u{1b}]0;title\u{7}b\u{1b}[2Jc\n");
}

/// After Ctrl-C, the prompt of a shell has a line of its own.
#[test]
fn watching_ends_with_a_line_of_its_own() {
    let server = server();
    let seen = shown(&server, "timeout --foreground -s INT 5 \"$0\" watch '?n(X)'; echo next", &[]);
    assert!(seen.contains("\n\ngo on with --since ") && seen.contains("\nnext"), "{seen}");
}

#[test]
fn everything_goes_through_a_pager_where_it_does_not_fit() {
    let server = server();
    let pager = [("PAGER", "cat > paged.txt; wc -l < paged.txt")];
    let seen = shown(&server, "\"$0\" --all -c '?X, Y <- n(X), n(Y)'", &pager);
    assert!(seen.contains("104") && !seen.contains('│') && seen.contains("(100 rows, "), "{seen}");
    for line in ["\"$0\" --all -c '?X <- n(X)'", "\"$0\" --all --no-pager -c '?X, Y <- n(X), n(Y)'"] {
        let seen = shown(&server, line, &pager);
        assert!(seen.contains("│ 9 │") && seen.contains("left with 0"), "{seen}");
    }
    // A reader who has seen enough is no error.
    let leaves = [("PAGER", "head -n 4")];
    let seen =
        shown(&server, "\"$0\" -a -c '?A, B, C, D, E, F <- n(A), n(B), n(C), n(D), n(E), n(F)'", &leaves);
    assert!(seen.contains("│ A │ B │") && seen.contains("left with 0"), "{seen}");
    assert!(!seen.contains("error"), "{seen}");
    let seen = shown(&server, "\"$0\" -a -c '?X, Y <- n(X), n(Y)'", &[("PAGER", "no-such-pager")]);
    assert!(seen.contains("$PAGER cannot be run") && seen.contains("left with 1"), "{seen}");
}

#[test]
fn wide_answers_fit_the_terminal() {
    let server = Server::start();
    let names: Vec<String> = (0..200).map(|n| format!("c{n}")).collect();
    let row = |row: usize| (0..200).map(|n| format!("\"{row} {n}\"")).collect::<Vec<_>>().join(", ");
    let declaration = format!("+w({}: string)\n", names.join(": string, "));
    let facts: Vec<String> = (0..30).map(|n| format!("({})", row(n))).collect();
    let done = cli::run(cli::at(&server), &["run", "-"], &format!("{declaration}+w[{}]", facts.join(", ")));
    assert_eq!(done.code, Some(0), "{}", done.err);
    let ask = format!("?w(C0, {})", names[1..].join(", ").to_uppercase());
    let prompt = Prompt::open(&server);
    fs::write(prompt.file("all.dl"), &ask).unwrap();
    fs::write(prompt.file("one.dl"), ask.replace("C0", "\"7 0\"")).unwrap();
    prompt.type_line(
        ".read all.dl",
        "200 columns: `.all on` shows everything, `.expanded on` one value a line",
    );
    let seen = prompt.seen();
    assert!(seen.contains("│ … │") && seen.contains("29 1 │"), "{seen}");
    // One row is read from top to bottom; so are others on request.
    prompt.type_line(".read one.dl", "c199 = 7 199");
    prompt.type_line("\\x", "default> ");
    prompt.type_line(".read all.dl", "1 of 30 rows");
    prompt.type_line(".expanded", "default> ");
    prompt.type_line(".expanded maybe", "expected `.expanded [on|off|auto]`");
    assert_eq!(prompt.end(), 0);
    let done = cli::run(cli::at(&server), &["-x", "-c", &ask.replace("C0", "\"7 0\"")], "");
    assert!(done.out.ends_with("c199 = 7 199\n") && done.out.lines().count() >= 199, "{}", done.out);
}

#[test]
fn long_and_wide_text_is_cut_and_whole_on_request() {
    let server = Server::start();
    let prompt = Prompt::open(&server);
    let (long, wide) = ("x".repeat(10_000), "日本語".repeat(100));
    fs::write(prompt.file("long.dl"), format!("+t[(\"{long}\", 1), (\"{wide}\", 1234567890123456)]"))
        .unwrap();
    prompt.type_line(".read long.dl", "inserted 2 facts");
    prompt.type_line("?t(X, N)", "long values cut (…): `.all on` shows everything");
    let seen = prompt.seen();
    assert!(seen.contains("│ 1234567890123456 │") && seen.contains("日…") | seen.contains("語…"), "{seen}");
    let frame = seen.lines().find(|line| line.starts_with('┌')).unwrap();
    assert_eq!(frame.chars().count(), usize::from(COLUMNS), "{seen}");
    prompt.type_line("?t(X, N), N < 0", "(0 rows, ");
    prompt.type_line(".pager off", "default> ");
    prompt.type_line(".all on", "default> ");
    prompt.type_line("?t(X, N), N = 1", "(1 row, ");
    assert!(prompt.screen.lock().unwrap().screen().contents().matches("xxxxxxxx").count() > 40);
    assert_eq!(prompt.end(), 0);
}

/// What does not fit is broken where the tree goes on to be one, and what is too deep goes on below.
#[test]
fn proofs_are_drawn_as_wide_as_the_terminal() {
    let server = Server::start();
    let rules = r#"+owns[("Alpha Holding", "Beta Industries", 0.8), ("Beta Industries", "Gamma Logistics", 0.6)]
+owns[("Gamma Logistics", "Delta Shipping", 0.9), ("Delta Shipping", "Epsilon Ports", 0.7)]
+controls(X, Y) <- owns(X, Y, Share), Share > 0.5
+controls(X, Z) <- controls(X, Y), owns(Y, Z, Share), Share > 0.5
+next[(1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7), (7, 8), (8, 9), (9, 10), (10, 11), (11, 12), (12, 13)]
+next[(13, 14), (14, 15), (15, 16), (16, 17), (17, 18), (18, 19), (19, 20), (20, 21)]
+follows(X, Y) <- next(X, Y)
+follows(X, Z) <- next(X, Y), follows(Y, Z)"#;
    assert_eq!(cli::run(cli::at(&server), &["run", "-"], rules).code, Some(0));
    let narrow = r#"controls("Alpha Holding", "Epsilon Ports")
│    by controls(X, Z) <- controls(X, Y), owns(Y, Z, Share), Share > 0.5
├─ controls("Alpha Holding", "Delta Shipping")
│  │    by controls(X, Z) <- controls(X, Y), owns(Y, Z, Share), Share > 0.5
│  ├─ controls("Alpha Holding", "Gamma Logistics")
│  │  │    by controls(X, Z) <- controls(X, Y), owns(Y, Z, Share), Share > 0.5
│  │  ├─ controls("Alpha Holding", "Beta Industries")
│  │  │  │    by controls(X, Y) <- owns(X, Y, Share), Share > 0.5
│  │  │  └─ owns("Alpha Holding", "Beta Industries", 0.8)
│  │  └─ owns("Beta Industries", "Gamma Logistics", 0.6)
│  └─ owns("Gamma Logistics", "Delta Shipping", 0.9)
└─ owns("Delta Shipping", "Epsilon Ports", 0.7)
"#;
    let wide = r#"controls("Alpha Holding", "Epsilon Ports")  by controls(X, Z) <- controls(X, Y), owns(Y, Z, Share), Share > 0.5
├─ controls("Alpha Holding", "Delta Shipping")  by controls(X, Z) <- controls(X, Y), owns(Y, Z, Share), Share > 0.5
│  ├─ controls("Alpha Holding", "Gamma Logistics")  by controls(X, Z) <- controls(X, Y), owns(Y, Z, Share), Share > 0.5
│  │  ├─ controls("Alpha Holding", "Beta Industries")  by controls(X, Y) <- owns(X, Y, Share), Share > 0.5
│  │  │  └─ owns("Alpha Holding", "Beta Industries", 0.8)
│  │  └─ owns("Beta Industries", "Gamma Logistics", 0.6)
│  └─ owns("Gamma Logistics", "Delta Shipping", 0.9)
└─ owns("Delta Shipping", "Epsilon Ports", 0.7)
"#;
    for (columns, picture) in [(80, narrow), (200, wide)] {
        let pager = [("PAGER", "cat")];
        let seen = shown_in(
            columns,
            &server,
            "\"$0\" -c '.why ?controls(\"Alpha Holding\", \"Epsilon Ports\")'",
            &pager,
        );
        assert!(seen.starts_with(&format!("{picture}(1 row, ")), "{columns} columns:\n{seen}");
        // Of what is deep, the last lines.
        let seen = shown_in(columns, &server, "\"$0\" -c '.why ?follows(1, 21)'", &pager);
        assert!(seen.lines().all(|line| line.chars().count() <= usize::from(columns)), "{seen}");
        assert_eq!(seen.contains("[1] follows("), columns == 80, "{columns} columns:\n{seen}");
        assert!(seen.contains("next(20, 21)\n"), "{columns} columns:\n{seen}");
    }
}

/// Also of an answer whose rows the server sends, as it has a limit of its own.
#[test]
fn memory_does_not_grow_with_what_is_not_shown() {
    let server = server();
    let prompt = Prompt::open(&server);
    let status = format!("/proc/{}/status", prompt.child.process_id().unwrap());
    let peak = || {
        let text = fs::read_to_string(&status).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() >> 10
    };
    let million = "A, B, C, D, E, F <- n(A), n(B), n(C), n(D), n(E), n(F)";
    let before = peak();
    prompt.type_line(&format!("?{million}"), "40 of 1,000,000 rows");
    prompt.type_line(&format!("?{million}, limit(900000)"), "40 of 900,000 rows");
    assert!(peak() < before + 64, "{before} MiB before, {} now", peak());
    // Nor with a table that is written to a file: as a whole it took 1.6 KiB for each row.
    prompt.type_line(".all on", "default> ");
    prompt.type_line(".output rows.txt", "default> ");
    prompt.type_line(&format!("?{million}, A < 4"), "default> ");
    assert!(peak() < before + 400, "{before} MiB before, {} now", peak());
    assert_eq!(prompt.end(), 0);
    let done = cli::run(cli::at(&server), &["-q", "--markdown", "-c", &format!("?{million}, A < 2")], "");
    assert_eq!(done.out.lines().count(), 200_002);
}

#[test]
fn who_waits_is_told_how_long_and_ctrl_c_ends_it() {
    let server = server();
    let prompt = Prompt::open(&server);
    let reads = prompt.reads();
    prompt
        .keys("?count<A> <- n(A), n(B), n(C), n(D), n(E), n(F), n(G), n(H), n(I), n(J), n(K), n(L), n(M)\r");
    prompt.wait("(Ctrl-C stops it)");
    prompt.keys("\u{3}");
    prompt.wait("interrupted");
    prompt.wait_for_reads(reads + 1);
    assert!(!prompt.seen().contains("(Ctrl-C stops it)"), "{}", prompt.seen());
    // So it ends while rows come.
    prompt.type_line(".pager off", "default> ");
    prompt.type_line(".all on", "default> ");
    let reads = prompt.reads();
    prompt.keys("?A, B, C, D, E, F, G <- n(A), n(B), n(C), n(D), n(E), n(F), n(G)\r");
    prompt.wait("│ A │ B │");
    prompt.keys("\u{3}");
    prompt.wait("interrupted");
    prompt.wait_for_reads(reads + 1);
    prompt.type_line("?X <- n(X), X > 8", "│ 9 │");
    assert_eq!(prompt.end(), 0);
    // Nobody is told where nobody looks.
    let done = cli::run(
        cli::at(&server),
        &[
            "--timeout",
            "2",
            "-c",
            "?count<A> <- n(A), n(B), n(C), n(D), n(E), n(F), n(G), n(H), n(I), n(J), n(K), n(L), n(M)",
        ],
        "",
    );
    assert!(!done.err.contains("Ctrl-C"), "{}", done.err);
}
