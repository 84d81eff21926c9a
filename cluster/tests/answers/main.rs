//! What is evaluated by plans is what the engine, the oracle and the golden files say.

#![allow(dead_code, unreachable_pub, unused_imports, reason = "not all of what suites share is used here")]

#[path = "../../../tests/harness/answers.rs"]
mod answers;
#[path = "../../../tests/harness/attached.rs"]
mod attached;
#[path = "../../../tests/harness/functions/mod.rs"]
mod functions;
#[path = "../../../tests/harness/golden.rs"]
mod golden;
#[path = "../../../tests/harness/model/mod.rs"]
mod model;
#[path = "../../../tests/harness/modes.rs"]
mod modes;
#[path = "../../../tests/harness/oracle/mod.rs"]
mod oracle;
#[path = "../../../tests/harness/power_loss.rs"]
mod power_loss;
#[path = "../../../tests/harness/programs/mod.rs"]
mod programs;
#[path = "../../../tests/harness/value.rs"]
mod value;
#[path = "../../../tests/harness/ways.rs"]
mod ways;

mod files;
mod here;
mod random;
