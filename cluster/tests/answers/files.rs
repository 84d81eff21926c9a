//! The golden files.

use std::path::Path;

use crate::golden::files;
use crate::here::evaluator;

/// What is said where there is no cluster.
const ABOUT_NONE: &str = "commands::cluster";

#[test]
fn golden_files_are_answered_as_they_say() {
    let evaluator = evaluator();
    let mut failures = Vec::new();
    let all = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/golden"));
    for file in all.into_iter().filter(|file| file.name != ABOUT_NONE) {
        failures.extend(file.check().into_iter().map(|difference| format!("{}\n{difference}", file.name)));
    }
    let tally = evaluator.tally();
    assert!(failures.is_empty(), "{}\n{tally:?}", failures.join("\n\n"));
    assert!(tally.by_plans > 100, "{tally:?}");
}
