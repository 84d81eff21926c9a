//! Every file below `golden/`, in every mode. `UPDATE_GOLDEN=1` writes the answers that the engine gives now into the
//! files: the difference is then the review. An argument names the files to run by a part of their names.

#![expect(clippy::print_stdout, reason = "a test runner prints")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;

use stratalog_tests::golden::files;

fn main() -> ExitCode {
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut files = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("golden"));
    let all = files.len();
    files.retain(|file| format!("golden::{}", file.name).contains(&wanted));
    println!("\nrunning {} tests", files.len());
    let mut failures = Vec::new();
    for file in &mut files {
        if update {
            file.update();
        }
        let check = || file.check();
        let differences =
            catch_unwind(AssertUnwindSafe(check)).unwrap_or_else(|_| vec!["the engine panicked".to_owned()]);
        println!("test golden::{} ... {}", file.name, if differences.is_empty() { "ok" } else { "FAILED" });
        failures.extend(differences.into_iter().map(|difference| (file.name.clone(), difference)));
    }
    for (name, difference) in &failures {
        println!("\n---- golden::{name} ----\n{difference}");
    }
    failures.dedup_by(|a, b| a.0 == b.0);
    let (word, failed) = if failures.is_empty() { ("ok", 0) } else { ("FAILED", failures.len()) };
    println!(
        "\ntest result: {word}. {} passed; {failed} failed; 0 ignored; 0 measured; {} filtered out\n",
        files.len() - failed,
        all - files.len()
    );
    if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
