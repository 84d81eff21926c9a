//! The command line as people call it: what it writes where, how it ends, who it is.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use stratalog_tests::cli::{self, ok, run_at};
use stratalog_tests::server::{PASSWORD, Server};
use tempfile::TempDir;

const PEOPLE: &str = "+person(name: string, born: timestamp, score: float, tag: any)\n\
    +person[(\"ada\", 0, 2.0, \"x\"), (\"bob, \\\"b\\\"\", null, null, 7)]";
const ASK: &str = "?person(Name:asc, Born, Score, Tag)";

#[test]
fn every_format_holds_the_same_rows() {
    let server = Server::start();
    ok(&server, &["-c", PEOPLE]);
    let written = |format| ok(&server, &["-c", ASK, "--format", format]);
    assert_eq!(
        written("box"),
        "\
┌──────────┬──────────────────────┬───────┬─────┐
│ name     │ born                 │ score │ tag │
╞══════════╪══════════════════════╪═══════╪═════╡
│ ada      │ 1970-01-01T00:00:00Z │   2.0 │ x   │
│ bob, \"b\" │ null                 │  null │ 7   │
└──────────┴──────────────────────┴───────┴─────┘
"
    );
    assert!(written("table").starts_with("+----"));
    assert_eq!(
        written("csv"),
        "name,born,score,tag\nada,1970-01-01T00:00:00Z,2.0,x\n\"bob, \"\"b\"\"\",,,7\n"
    );
    assert_eq!(
        written("tsv"),
        "name\tborn\tscore\ttag\nada\t1970-01-01T00:00:00Z\t2.0\tx\nbob, \"b\"\t\\N\t\\N\t7\n"
    );
    let first = r#"{"name":"ada","born":"1970-01-01T00:00:00Z","score":2.0,"tag":"x"}"#;
    let second = r#"{"name":"bob, \"b\"","born":null,"score":null,"tag":7}"#;
    assert_eq!(written("jsonl"), format!("{first}\n{second}\n"));
    assert_eq!(written("json"), format!("[\n  {first},\n  {second}\n]\n"));
    assert_eq!(ok(&server, &["-c", "?person(\"eve\", X, _, _)", "--json"]), "[]\n");
}

#[test]
fn lines_markdown_headers_and_null() {
    let server = Server::start();
    ok(&server, &["-c", PEOPLE]);
    let ask = "?Name:asc, Score <- person(Name, _, Score, _)";
    assert_eq!(
        ok(&server, &["-c", ask, "--format", "line", "--null", "-"]),
        " Name = ada\nScore = 2.0\n\n Name = bob, \"b\"\nScore = -\n"
    );
    assert_eq!(
        ok(&server, &["-c", ask, "--format", "markdown"]),
        "| Name | Score |\n| --- | --: |\n| ada | 2.0 |\n| bob, \"b\" | null |\n"
    );
    assert_eq!(ok(&server, &["-c", ask, "--csv", "--no-header", "--limit", "1"]), "ada,2.0\n");
}

#[test]
fn rows_go_to_standard_output_and_everything_else_does_not() {
    let server = Server::start();
    let done = run_at(&server, &["-c", "+edge[(1, 2), (2, 3)]\n?edge(X, Y)", "--limit", "1", "--timing"]);
    assert_eq!((done.code, done.out.as_str()), (Some(0), "X\tY\n1\t2\n"), "{}", done.err);
    assert!(done.err.contains("note: 1 row of 2 shown") && done.err.contains("time: server"), "{}", done.err);
    let done = run_at(&server, &["-c", "?edge(X, Y)", "--limit", "1", "-q"]);
    assert_eq!((done.out.as_str(), done.err.as_str()), ("X\tY\n1\t2\n", ""));
    // A program may come from a file, from standard input, or as an argument.
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("p.dl");
    fs::write(&file, "?edge(1, X)").unwrap();
    let file = file.to_str().unwrap();
    for arguments in [&["run", file][..], &["-f", file], &["query", "?edge(1, X)"]] {
        assert_eq!(ok(&server, arguments), "A\tX\n1\t2\n", "{arguments:?}");
    }
    for arguments in [&[][..], &["run", "-"]] {
        let done = cli::run(cli::at(&server), arguments, "?edge(1, X)");
        assert_eq!(done.out, "A\tX\n1\t2\n", "{arguments:?}");
    }
}

#[test]
fn an_error_shows_its_place_in_colours_only_where_they_are_wanted() {
    let server = Server::start();
    let done = run_at(&server, &["-c", "+edge(1, 2)\n?edgee(X, Y)"]);
    assert_eq!((done.code, done.out.as_str()), (Some(1), ""));
    for part in ["error[unknown_relation]", "2 | ?edgee(X, Y)", "^^^^^", "did you mean `edge`?"] {
        assert!(done.err.contains(part), "{}", done.err);
    }
    assert!(!done.err.contains('\u{1b}'));
    let coloured = run_at(&server, &["-c", "?edgee(X, Y)", "--color", "always"]);
    assert!(coloured.err.contains('\u{1b}'));
    let mut forced = cli::at(&server);
    forced.env_remove("NO_COLOR").env("CLICOLOR_FORCE", "1");
    assert!(cli::run(forced, &["-c", "?edgee(X, Y)"], "").err.contains('\u{1b}'));
    let mut forced = cli::at(&server);
    forced.env_remove("NO_COLOR").env("CLICOLOR_FORCE", "1");
    assert!(!cli::run(forced, &["-c", "?edgee(X, Y)", "--color", "never"], "").err.contains('\u{1b}'));
}

#[test]
fn the_exit_code_says_what_went_wrong() {
    let server = Server::start();
    let endless = "start(1)\nn(X) <- start(X)\nn(Y) <- n(X), Y = X + 1\n?n(X)";
    let code = |arguments: &[&str]| run_at(&server, arguments).code;
    assert_eq!(code(&["-c", "?nothing(X)"]), Some(1));
    assert_eq!(code(&["--no-such-option"]), Some(2));
    assert_eq!(code(&["run", "/nonexistent/file.dl"]), Some(2));
    assert_eq!(code(&["-c", "?p(X)", "--url", "ftp://x"]), Some(2));
    assert_eq!(code(&["-c", "?p(X)", "run", "x"]), Some(2));
    assert_eq!(code(&["-c", "?p(X)", "--url", "127.0.0.1:1"]), Some(3));
    assert_eq!(code(&["-c", "?p(X)", "--api-key", "wrong"]), Some(4));
    assert_eq!(code(&["-c", endless, "--timeout", "0.1"]), Some(124));
    let process = cli::at(&server)
        .args(["-c", endless])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command line starts");
    cli::until_one_runs(&server);
    let sent = Command::new("kill").args(["-INT", &process.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let output = process.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    // The request has ended on the server, too.
    assert_eq!(ok(&server, &["-c", ".query list", "--csv", "--no-header"]).lines().count(), 1);
}

#[test]
fn a_reader_who_has_seen_enough_is_no_error() {
    let server = Server::start();
    ok(&server, &["-c", "+n(0)\nm(X) <- n(X)\n?m(X)"]);
    let script =
        "\"$0\" -c 'r(X) <- n(X)\nr(Y) <- r(X), X < 300000, Y = X + 1\n?r(X)' --format csv | head -n 2";
    let mut shell = Command::new("sh");
    let program = cli::at(&server);
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    let output = shell.args(["-c", script]).arg(program.get_program()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 2);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn a_file_of_rows_is_there_when_it_is_complete() {
    let server = Server::start();
    ok(&server, &["-c", PEOPLE]);
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for (name, begins) in [
        ("p.csv", "name,born"),
        ("p.jsonl", "{\"name\""),
        ("p.json", "["),
        ("p.parquet", "PAR1"),
        ("p.arrow", "ARROW1"),
    ] {
        assert_eq!(ok(&server, &["-c", ASK, "-o", &path(name)]), "");
        let bytes = fs::read(path(name)).unwrap();
        assert!(String::from_utf8_lossy(&bytes).starts_with(begins), "{name}");
    }
    let done = run_at(&server, &["-c", "?nothing(X)", "-o", &path("none.csv")]);
    assert_eq!(done.code, Some(1));
    let done = run_at(&server, &["-c", ASK, "-o", "/nonexistent/p.csv"]);
    assert_eq!(done.code, Some(1), "{}", done.err);
    let mut names: Vec<String> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["p.arrow", "p.csv", "p.json", "p.jsonl", "p.parquet"]);
}

#[test]
fn profiles_name_servers_and_users() {
    let server = Server::start();
    let folder = TempDir::new().unwrap();
    let config = folder.path().join("stratalog");
    fs::create_dir(&config).unwrap();
    let file = config.join("config.toml");
    fs::write(
        &file,
        format!("[lab]\nurl = \"{}\"\nuser = \"admin\"\npassword = \"{PASSWORD}\"\n", server.url()),
    )
    .unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let with_profiles = |arguments: &[&str]| {
        let mut command = cli::at(&server);
        command
            .env_remove("STRATALOG_URL")
            .env_remove("STRATALOG_PASSWORD")
            .env("XDG_CONFIG_HOME", folder.path());
        cli::run(command, arguments, "")
    };
    assert_eq!(with_profiles(&["--profile", "lab", "-c", ".kg"]).code, Some(0));
    let unknown = with_profiles(&["--profile", "work", "-c", ".kg"]);
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.err.contains("no profile `work`"), "{}", unknown.err);
    assert_eq!(with_profiles(&["-c", ".kg"]).code, Some(2));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    let open = with_profiles(&["--profile", "lab", "-c", ".kg"]);
    assert_eq!(open.code, Some(2));
    assert!(open.err.contains("chmod 600") && !open.err.contains(PASSWORD), "{}", open.err);
}

#[test]
fn users_and_keys_are_managed_without_showing_secrets() {
    let server = Server::start();
    let created = cli::run(cli::at(&server), &["user", "create", "ada", "--role", "editor"], "lovelace\n");
    assert_eq!(created.code, Some(0), "{}", created.err);
    assert!(!created.out.contains("lovelace") && !created.err.contains("lovelace"));
    let as_ada = |password: &str| {
        let mut command = cli::at(&server);
        command.env("STRATALOG_PASSWORD", password);
        cli::run(command, &["-U", "ada", "-c", ".kg"], "").code
    };
    assert_eq!(as_ada("lovelace"), Some(0));
    let changed = cli::run(cli::at(&server), &["user", "password", "ada"], "analytical\n");
    assert_eq!(changed.code, Some(0), "{}", changed.err);
    assert_eq!((as_ada("lovelace"), as_ada("analytical")), (Some(4), Some(0)));
    ok(&server, &["user", "role", "ada", "viewer"]);
    assert_eq!(ok(&server, &["user", "list", "--csv"]), "username,role\nada,viewer\nadmin,admin\n");
    let key = ok(&server, &["key", "create", "nightly", "--csv", "--no-header"]);
    let (key, label) = key.trim().split_once(',').unwrap();
    assert_eq!(label, "nightly");
    let mut with_key = cli::at(&server);
    with_key.env("SERVICE_API_KEY", key);
    assert_eq!(cli::run(with_key, &["-c", ".kg"], "").code, Some(0));
    ok(&server, &["key", "revoke", "nightly"]);
    assert_eq!(run_at(&server, &["--api-key", key, "-c", ".kg"]).code, Some(4));
    ok(&server, &["user", "drop", "ada"]);
    let refused = cli::run(cli::at(&server), &["user", "create", "eve"], "two words\n");
    assert_eq!(refused.code, Some(2));
    assert!(!refused.err.contains("two words"), "{}", refused.err);
}

#[test]
fn completions_and_manual_are_made_of_the_same_definitions() {
    for shell in ["bash", "zsh", "fish"] {
        let done = cli::run(cli::command(), &["completions", shell], "");
        assert_eq!(done.code, Some(0));
        assert!(done.out.contains("stratalog") && done.out.contains("password-file"), "{shell}");
    }
    let done = cli::run(cli::command(), &["man"], "");
    assert!(done.out.starts_with(".ie") || done.out.contains(".TH stratalog 1"), "{}", done.out);
    let folder = TempDir::new().unwrap();
    let done = cli::run(cli::command(), &["man", "--dir", folder.path().to_str().unwrap()], "");
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert!(folder.path().join("stratalog.1").exists() && folder.path().join("stratalog-import.1").exists());
    // A shell reads the completions without complaint.
    let script = cli::run(cli::command(), &["completions", "bash"], "").out;
    let checked = cli::run(Command::new("bash"), &["-n"], &script);
    assert_eq!((checked.code, checked.err.as_str()), (Some(0), ""));
}

#[test]
fn several_programs_run_until_one_fails_or_all_the_same() {
    let server = Server::start();
    let three = ["-c", "+a(1)", "-c", "?nothing(X)", "-c", "+b(1)"];
    assert_eq!(run_at(&server, &three).code, Some(1));
    assert_eq!(run_at(&server, &["-c", "?b(X)"]).code, Some(1));
    let done = run_at(&server, &[&three[..], &["--keep-going"]].concat());
    assert_eq!(done.code, Some(1));
    assert_eq!(ok(&server, &["-c", "?b(X)", "--csv", "--no-header"]), "1\n");
    let folder = TempDir::new().unwrap();
    let file = |name: &str, text: &str| {
        fs::write(folder.path().join(name), text).unwrap();
        folder.path().join(name).to_str().unwrap().to_owned()
    };
    let files = [file("1.csv", "n\n1\n"), file("2.csv", "n\nx,y\n"), file("3.csv", "n\n3\n")];
    let import = ["import", "c", &files[0], &files[1], &files[2], "-k"];
    assert_eq!(run_at(&server, &import).code, Some(1));
    assert_eq!(ok(&server, &["-c", "?c(X:asc)", "--csv", "--no-header"]), "1\n3\n");
    assert_eq!(run_at(&server, &["-c", "?a(X)", "-c", "?b(X)", "-o", "/tmp/x.csv"]).code, Some(2));
    let done = run_at(&server, &["-c", "?a(X)", "--markdown", "-v"]);
    assert_eq!(done.out, "| X |\n| --: |\n| 1 |\n");
    assert!(
        done.err.contains("as admin: graph default") && done.err.contains("time: server"),
        "{}",
        done.err
    );
    assert_eq!(ok(&server, &["-c", "?a(X)", "--format", "tabs"]), "X\n1\n");
}

#[test]
fn what_cannot_be_written_is_an_error() {
    let full = |mut command: Command, arguments: &[&str]| {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        command.args(arguments).stdin(Stdio::null()).stdout(full).stderr(Stdio::null());
        command.status().unwrap().code()
    };
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("p.dl");
    fs::write(&file, "?p(X)").unwrap();
    assert_eq!(full(cli::command(), &["check", "--json", file.to_str().unwrap()]), Some(1));
    assert_eq!(full(cli::command(), &["man"]), Some(1));
    assert_eq!(full(cli::command(), &["completions", "bash"]), Some(1));
    let server = Server::start();
    ok(&server, &["-c", "+a(1)"]);
    assert_eq!(full(cli::at(&server), &["events", "--since", "0"]), Some(1));
}

#[test]
fn an_export_changes_nothing() {
    let server = Server::start();
    ok(&server, &["-c", "+zip[(1), (2)]"]);
    for program in [".rel drop zip", "+zip(3)", "-zip(1)\n?zip(X)", ".rel", "zip(4)"] {
        let refused = run_at(&server, &["export", program, "-"]);
        assert_eq!((refused.code, refused.out.as_str()), (Some(1), ""), "{program}: {}", refused.err);
        assert!(refused.err.contains("may change something, or asks nothing"), "{program}: {}", refused.err);
    }
    assert_eq!(ok(&server, &["export", "zip", "-", "--format", "csv", "--no-header"]), "1\n2\n");
}

#[test]
fn a_file_that_is_changed_and_run_again_leaves_none_of_its_old_rules() {
    let server = Server::start();
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("rules.dl");
    let write_and_run = |text: &str, options: &[&str]| {
        fs::write(&file, text).unwrap();
        run_at(&server, &[&["run", file.to_str().unwrap()], options].concat())
    };
    assert_eq!(write_and_run("+n[1, 5, 9]\n+big(X) <- n(X), X > 1\n", &[]).code, Some(0));
    let beside = write_and_run("+big(X) <- n(X), X > 5\n", &[]);
    assert!(beside.err.contains("another rule for big has `X > 1` instead"), "{}", beside.err);
    assert_eq!(ok(&server, &["-c", "?big(X:asc)", "--csv", "--no-header"]), "5\n9\n");
    let instead = write_and_run("+big(X) <- n(X), X > 5\n", &["--replace-rules"]);
    assert!(instead.out.contains("in place of 2 clauses"), "{}", instead.out);
    assert_eq!(ok(&server, &["-c", "?big(X:asc)", "--csv", "--no-header"]), "9\n");
}
