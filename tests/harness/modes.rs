//! The ways to run a program: all must give the same answer.

use std::fmt;

use proptest::prelude::{Strategy, any};
use stratalog_engine::{Engine, EngineOptions, StorageOptions, Thresholds, rewrite_names};

/// How an engine is set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mode {
    /// Worker threads.
    pub threads: usize,
    /// The rewrites that are switched off.
    pub without: &'static [&'static str],
    /// Whether little is done as if it were much.
    pub as_if_large: bool,
    /// Whether rows of rules are kept from one question to the next.
    pub keeps_views: bool,
}

/// One and two threads with every rewrite, as they are, and as if everything were large and nothing were kept; then one
/// thread without each rewrite in turn.
pub fn modes() -> Vec<Mode> {
    let with = |as_if_large| {
        [1, 2].map(|threads| Mode { threads, without: &[], as_if_large, keeps_views: !as_if_large })
    };
    let without = rewrite_names().chunks(1);
    let without = without.map(|without| Mode { threads: 1, without, as_if_large: false, keeps_views: true });
    [false, true].into_iter().flat_map(with).chain(without).collect()
}

/// One or two threads with any neighbours among the rewrites switched off, and algorithms for any size.
pub fn any_mode() -> impl Strategy<Value = Mode> {
    let count = rewrite_names().len();
    (1_usize..=2, 0..=count, 0..=count, any::<bool>(), any::<bool>()).prop_map(
        |(threads, a, b, as_if_large, keeps_views)| Mode {
            threads,
            without: &rewrite_names()[a.min(b)..a.max(b)],
            as_if_large,
            keeps_views,
        },
    )
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
            thresholds: if self.as_if_large { Thresholds::lowest() } else { Thresholds::default() },
            view_memory: if self.keeps_views { EngineOptions::default().view_memory } else { 0 },
            ..EngineOptions::default()
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "threads {}", self.threads)?;
        if self.as_if_large {
            write!(f, ", as if large")?;
        }
        if !self.keeps_views {
            write!(f, ", without views")?;
        }
        match self.without {
            [] => Ok(()),
            names => write!(f, ", without {}", names.join(" and ")),
        }
    }
}
