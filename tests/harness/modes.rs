//! The ways to run a program: all must give the same answer.

use std::fmt;
use std::sync::{Arc, OnceLock};

use proptest::prelude::{Just, Strategy, any, prop_oneof};
use stratalog_engine::{
    Advance, Cluster, ClusterUse, Elsewhere, Engine, EngineOptions, StorageOptions, Thresholds, rewrite_names,
};

use crate::attached::places;

/// The cluster of every engine.
static CLUSTER: OnceLock<Cluster> = OnceLock::new();

/// Has every engine of this process that is made from now on ask a cluster for rows. The first one that is named stays.
pub fn ask(evaluator: Arc<dyn Elsewhere>) {
    CLUSTER.get_or_init(|| Cluster { evaluator, over_bytes: 0, default_use: ClusterUse::Only });
}

/// How an engine is set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mode {
    /// Worker threads.
    pub threads: usize,
    /// The rewrites that are switched off.
    pub without: &'static [&'static str],
    /// How recursions are worked on.
    pub recursions: Recursions,
    /// Whether rows of rules are kept from one question to the next, and brought forward wherever that is possible.
    pub keeps_views: bool,
}

/// How recursions are worked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recursions {
    /// As their size asks for.
    AsUsual,
    /// By another strategy than rounds where there is one, from the first round on.
    ByStrategies,
    /// In rounds alone, each of which is planned again, with look-ups of ranges wherever there are any.
    Replanned,
}

/// One and two threads with every rewrite, as they are, and by strategies with nothing kept; two with rounds that are planned
/// again; then one thread without each rewrite in turn.
pub fn modes() -> Vec<Mode> {
    let with = |recursions| {
        let keeps_views = recursions == Recursions::AsUsual;
        [1, 2].map(|threads| Mode { threads, without: &[], recursions, keeps_views })
    };
    let replanned = Mode { threads: 2, without: &[], recursions: Recursions::Replanned, keeps_views: false };
    let without = rewrite_names().chunks(1);
    let usual = |without| Mode { threads: 1, without, recursions: Recursions::AsUsual, keeps_views: true };
    let all = [Recursions::AsUsual, Recursions::ByStrategies].into_iter().flat_map(with);
    all.chain([replanned]).chain(without.map(usual)).collect()
}

/// One or two threads with any neighbours among the rewrites switched off, and algorithms for any size.
pub fn any_mode() -> impl Strategy<Value = Mode> {
    let count = rewrite_names().len();
    let recursions =
        prop_oneof![Just(Recursions::AsUsual), Just(Recursions::ByStrategies), Just(Recursions::Replanned)];
    (1_usize..=2, 0..=count, 0..=count, recursions, any::<bool>()).prop_map(
        |(threads, a, b, recursions, keeps_views)| Mode {
            threads,
            without: &rewrite_names()[a.min(b)..a.max(b)],
            recursions,
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
            thresholds: match self.recursions {
                Recursions::AsUsual => Thresholds::default(),
                Recursions::ByStrategies => Thresholds::lowest(),
                Recursions::Replanned => Thresholds::rounds_alone(),
            },
            cluster: CLUSTER.get().cloned(),
            places: places(),
            view_memory: if self.keeps_views { EngineOptions::default().view_memory } else { 0 },
            advance: Advance::Always,
            ..EngineOptions::default()
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "threads {}", self.threads)?;
        match self.recursions {
            Recursions::AsUsual => {}
            Recursions::ByStrategies => write!(f, ", by strategies")?,
            Recursions::Replanned => write!(f, ", replanned")?,
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
