//! `stratalog fmt`: layout of all programs there are, with comments anywhere; and the command as people call it.

use std::process::Output;

use proptest::prelude::{ProptestConfig, TestCaseError, any, prop_assert, prop_assert_eq, proptest};
use proptest::sample::Index;
use stratalog_language::format;
use stratalog_tests::cli;
use tempfile::TempDir;

use crate::commented::{commented, programs};

#[test]
fn every_golden_program_has_a_layout() {
    assert!(programs().len() > 1000, "{}", programs().len());
    for program in programs() {
        for width in [1, 30, 100] {
            let formatted = format(program, width).unwrap_or_else(|found| panic!("{program}\n{found:?}"));
            assert_eq!(formatted.kept, [], "{program}");
            let once = formatted.text;
            let twice = format(&once, width).map(|formatted| formatted.text);
            assert_eq!(twice.as_ref(), Ok(&once), "{program}");
            assert!(once.ends_with('\n') && !once.ends_with("\n\n"), "{once:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn comments_may_stand_anywhere(
        which in any::<Index>(),
        places in proptest::collection::vec((any::<Index>(), 0..4_usize), 1..4),
        width in 1..120_usize,
    ) {
        let program = commented(which.get::<String>(programs()), &places);
        let failed = |found| TestCaseError::fail(format!("{program}\n{found:?}"));
        let formatted = format(&program, width).map_err(failed)?;
        // Several may stand where no layout has a place for them; one never does.
        prop_assert!(places.len() > 1 || formatted.kept.is_empty(), "{program}");
        let twice = format(&formatted.text, width).map_err(failed)?;
        prop_assert_eq!(twice.text, formatted.text, "{}", program);
    }
}

fn fmt(folder: &TempDir, arguments: &[&str]) -> Output {
    let mut command = cli::command();
    command.arg("fmt").args(arguments).current_dir(folder.path()).output().expect("the command line runs")
}

#[test]
fn files_and_folders_are_written_anew_where_they_differ() {
    let folder = TempDir::new().expect("a temporary folder");
    let write =
        |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("a file is written");
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("a file is read");
    std::fs::create_dir(folder.path().join("rules")).expect("a folder is made");
    write("rules/a.dl", "+p(X)<-q(X)");
    write("rules/b.dl", "+p(X) <- q(X)\n");
    write("rules/notes.txt", "+p(X)<-q(X)");
    let told = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();
    let checked = fmt(&folder, &["--check", "rules"]);
    assert_eq!(checked.status.code(), Some(1));
    assert_eq!(told(&checked), "rules/a.dl would change\n2 files, 1 would change\n");
    assert_eq!(read("rules/a.dl"), "+p(X)<-q(X)");
    let done = fmt(&folder, &["rules"]);
    assert_eq!((done.status.code(), told(&done).as_str()), (Some(0), "2 files, 1 changed\n"));
    assert_eq!(read("rules/a.dl"), "+p(X) <- q(X)\n");
    assert_eq!(read("rules/notes.txt"), "+p(X)<-q(X)");
    assert_eq!(fmt(&folder, &["--check", "rules"]).status.code(), Some(0));
    // One that cannot be read is left as it is, and the others are not.
    write("bad.dl", "+p(X) <-\n");
    write("good.dl", "?p( X )");
    let refused = fmt(&folder, &["bad.dl", "good.dl"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(told(&refused).contains("--> bad.dl:"), "{}", told(&refused));
    assert_eq!((read("bad.dl").as_str(), read("good.dl").as_str()), ("+p(X) <-\n", "?p(X)\n"));
    assert_eq!(fmt(&folder, &["missing.dl"]).status.code(), Some(2));
}

#[test]
fn standard_input_goes_to_standard_output() {
    let folder = TempDir::new().expect("a temporary folder");
    let mut process = cli::command()
        .args(["fmt", "--width", "20", "-"])
        .current_dir(folder.path())
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the command line starts");
    let mut input = process.stdin.take().expect("standard input is piped");
    std::io::Write::write_all(&mut input, b"+far(X,Y)<-near(X,Y),X!=Y").expect("the program is read");
    drop(input);
    let output = process.wait_with_output().expect("it ends");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "+far(X, Y) <-\n    near(X, Y),\n    X != Y\n");
}
