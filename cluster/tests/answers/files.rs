//! The golden files.

use std::path::Path;

use crate::golden::files;
use crate::here::place;

#[test]
fn golden_files_are_answered_as_they_say() {
    let place = place();
    let mut failures = Vec::new();
    for file in &mut files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/golden")) {
        failures.extend(file.check().into_iter().map(|difference| format!("{}\n{difference}", file.name)));
    }
    let tally = place.tally();
    assert!(failures.is_empty(), "{}\n{tally:?}", failures.join("\n\n"));
    assert!(tally.by_plans > 100, "{tally:?}");
}
