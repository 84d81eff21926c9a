//! The chosen plans, as text: every file below `plans/`. A file is a program, `---`, and the lines that its last
//! command (`.explain`, `.debug` or `.profile`) answers, in their order, with `0` for every time. `UPDATE_GOLDEN=1` writes
//! the plans of now into the files: the difference is then the review.

use std::fs;
use std::path::{Path, PathBuf};

use stratalog_engine::{Budget, Content, Engine, EngineOptions, Parameters, RunOptions};
use stratalog_tests::answers::rows_of;
use stratalog_tests::times::without_times;

#[test]
fn every_file_has_the_plan_that_is_chosen() {
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let files = files();
    assert!(files.len() >= 20, "{} plan files", files.len());
    let mut differences = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("a plan file can be read");
        let (program, expected) = text.split_once("---\n").expect("a plan file has a line `---`");
        let found = plan(program);
        if update {
            fs::write(&file, format!("{program}---\n{found}")).expect("a plan file can be written");
        } else if expected != found {
            differences.push(format!("{}\n--- expected\n{expected}--- found\n{found}", file.display()));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

fn files() -> Vec<PathBuf> {
    let entries = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).expect("the folder of plan files can be read");
        entries.map(|entry| entry.expect("an entry can be read").path()).collect()
    };
    let topics = entries(&Path::new(env!("CARGO_MANIFEST_DIR")).join("plans"));
    let mut files: Vec<PathBuf> = topics.iter().flat_map(|topic| entries(topic)).collect();
    files.sort();
    files
}

/// What the program answers, a row a line.
fn plan(program: &str) -> String {
    let engine = Engine::in_memory(EngineOptions { threads: Some(1), ..EngineOptions::default() })
        .expect("an engine in memory");
    let mut session = engine.open_session("default").expect("the graph `default` exists");
    let prepared = session.prepare(program, &Parameters::new()).expect("the program is well formed");
    let answer = session.run(prepared, &RunOptions::default(), &Budget::unlimited()).expect("it runs");
    let Content::Rows(rows) = answer.content else { panic!("a plan is rows") };
    let rows = rows_of(&rows.batch(0, rows.row_count()));
    rows.iter().map(|row| without_times(&format!("{}\n", unquoted(&row[0].to_string())))).collect()
}

/// A text as it is, without the quotes and escapes with which values print.
fn unquoted(text: &str) -> String {
    let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).expect("a plan is text");
    inner.replace("\\\"", "\"").replace("\\\\", "\\")
}
