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
    /// Live queries: then only commits are made beside them.
    pub(crate) subscriptions: Vec<(Subscribed, usize)>,
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
            subscriptions: subscriptions(&text("LOAD_SUBSCRIPTIONS", "")),
            divergence: number("LOAD_DIVERGENCE", "0") != 0,
            attack: number("LOAD_ATTACK", "0") != 0,
        }
    }
}

/// What is subscribed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subscribed {
    /// One question.
    Same,
    /// Questions that differ in a parameter.
    Params,
    /// Questions about different rules.
    Texts,
    /// Questions about what nobody changes.
    Idle,
    /// One question that takes longer than a commit.
    Slow,
    /// One question of those who do not read what they are told.
    Stalled,
}

impl Subscribed {
    /// All kinds, as `LOAD_SUBSCRIPTIONS` names them.
    pub(crate) const ALL: &[(Subscribed, &str)] = &[
        (Subscribed::Same, "same"),
        (Subscribed::Params, "params"),
        (Subscribed::Texts, "texts"),
        (Subscribed::Idle, "idle"),
        (Subscribed::Slow, "slow"),
        (Subscribed::Stalled, "stalled"),
    ];
}

fn subscriptions(text: &str) -> Vec<(Subscribed, usize)> {
    let part = |part: &str| {
        let (name, count) = part.split_once(':')?;
        let (kind, _) = Subscribed::ALL.iter().find(|(_, known)| *known == name.trim())?;
        Some((*kind, count.trim().parse().ok()?))
    };
    let parts = text.split(',').filter(|text| !text.trim().is_empty());
    parts
        .map(|text| {
            let names: Vec<&str> = Subscribed::ALL.iter().map(|(_, name)| *name).collect();
            part(text).unwrap_or_else(|| {
                panic!(
                    "LOAD_SUBSCRIPTIONS: `{text}` is not KIND:NUMBER, where KIND is one of {}",
                    names.join(", ")
                )
            })
        })
        .collect()
}
