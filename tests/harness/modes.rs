//! The ways to run a program: all must give the same answer.

use std::fmt;

use proptest::prelude::Strategy;
use stratalog_engine::{Engine, EngineOptions, StorageOptions, rewrite_names};

/// How an engine is set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mode {
    /// Worker threads.
    pub threads: usize,
    /// The rewrites that are switched off.
    pub without: &'static [&'static str],
}

/// One and two threads with every rewrite, then one thread without each rewrite in turn.
pub fn modes() -> Vec<Mode> {
    let without = rewrite_names().chunks(1).map(|without| Mode { threads: 1, without });
    [1, 2].into_iter().map(|threads| Mode { threads, without: &[] }).chain(without).collect()
}

/// One or two threads with any neighbours among the rewrites switched off.
pub fn any_mode() -> impl Strategy<Value = Mode> {
    let count = rewrite_names().len();
    (1_usize..=2, 0..=count, 0..=count)
        .prop_map(|(threads, a, b)| Mode { threads, without: &rewrite_names()[a.min(b)..a.max(b)] })
}

impl Mode {
    /// An empty engine that works this way.
    pub fn engine(self) -> Engine {
        Engine::in_memory(self.options()).expect("an engine in memory")
    }

    /// An engine that works this way on what is stored.
    pub fn open(self, storage: StorageOptions) -> Engine {
        Engine::open(self.options(), storage).expect("what was stored can be opened")
    }

    fn options(self) -> EngineOptions {
        EngineOptions {
            threads: Some(self.threads),
            disabled_rewrites: self.without.iter().map(|name| (*name).to_owned()).collect(),
            ..EngineOptions::default()
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.without {
            [] => write!(f, "threads {}", self.threads),
            names => write!(f, "threads {}, without {}", self.threads, names.join(" and ")),
        }
    }
}
