//! The ways to run a program: all must give the same answer.

use std::fmt;

use stratalog_engine::{Engine, EngineOptions, rewrite_names};

/// How an engine is set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mode {
    /// Worker threads.
    pub threads: usize,
    /// The rewrite that is switched off.
    pub without: Option<&'static str>,
}

/// One and two threads with every rewrite, then one thread without each rewrite in turn.
pub fn modes() -> Vec<Mode> {
    let without = rewrite_names().iter().map(|name| Mode { threads: 1, without: Some(name) });
    [1, 2].into_iter().map(|threads| Mode { threads, without: None }).chain(without).collect()
}

impl Mode {
    /// An empty engine that works this way.
    pub fn engine(self) -> Engine {
        let options = EngineOptions {
            threads: Some(self.threads),
            disabled_rewrites: self.without.into_iter().map(str::to_owned).collect(),
            ..EngineOptions::default()
        };
        Engine::in_memory(options).expect("an engine in memory")
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.without {
            None => write!(f, "threads {}", self.threads),
            Some(name) => write!(f, "threads {}, without {name}", self.threads),
        }
    }
}
