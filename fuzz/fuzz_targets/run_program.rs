//! Any program is answered or refused within its budget: `cargo fuzz run run_program`.

#![no_main]

use std::time::Duration;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let mut session = stratalog_tests::fuzzed::session();
    stratalog_tests::fuzzed::run(&mut session, text, Duration::from_millis(500), 64 << 20);
});
