//! What is run, from the environment.

use std::time::Duration;

use stratalog_tests::load::{MIX, Mix};

/// What is run.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) connections: Vec<usize>,
    pub(crate) time: Duration,
    pub(crate) facts: u64,
    pub(crate) mix: Mix,
    /// One user runs what never ends.
    pub(crate) divergence: bool,
    /// Somebody sends hostile input.
    pub(crate) attack: bool,
}

impl Settings {
    pub(crate) fn read() -> Settings {
        let text = |name: &str, default: &str| std::env::var(name).unwrap_or_else(|_| default.to_owned());
        let number = |name: &str, default: &str| text(name, default).parse::<u64>().expect("a number");
        let connections = text("LOAD_CONNECTIONS", "1,8,64,256");
        Settings {
            connections: connections.split(',').map(|n| n.trim().parse().expect("numbers")).collect(),
            time: Duration::from_secs(number("LOAD_SECONDS", "10")),
            facts: number("LOAD_FACTS", "100000"),
            mix: text("LOAD_MIX", MIX).parse().unwrap_or_else(|problem| panic!("LOAD_MIX: {problem}")),
            divergence: number("LOAD_DIVERGENCE", "0") != 0,
            attack: number("LOAD_ATTACK", "0") != 0,
        }
    }
}
