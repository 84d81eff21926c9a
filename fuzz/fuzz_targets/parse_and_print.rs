//! Any text is parsed or refused, and what was parsed is parsed again from its print: `cargo fuzz run parse_and_print`.

#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| stratalog_tests::fuzzed::parse_and_print(text));
