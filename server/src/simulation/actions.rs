//! What happens next: chosen by the seed, among what the model says may be done.

use super::model::{Change, GRAPHS, RELATIONS, RULES, State, USERS};
use super::numbers::Numbers;
use crate::auth::{Level, Role};
use stratalog_engine::{DEFAULT_GRAPH, Need};

/// What happens next.
#[derive(Debug, Clone)]
pub(super) enum Action {
    /// Somebody changes something.
    Change(Change, String),
    /// A graph is compacted.
    Compact(&'static str),
    /// All journals are shortened.
    Checkpoint,
    /// A backup is made, and restored elsewhere.
    BackUp,
    /// What is new is archived, or a whole backup is added to the archive; and both are restored elsewhere.
    Archive {
        /// Whether it is a whole backup.
        whole: bool,
    },
    /// The call after so many fails.
    FailCall(u64),
    /// The sync after so many fails.
    FailSync(u64),
    /// Syncs fail from now on, or no more.
    Sick(bool),
    /// The disk is full, or not any more.
    Full(bool),
    /// The power goes after so many calls.
    PowerGoes(u64),
    /// The process ends in good order, a bit of some file changes, and it starts again.
    Rot,
    /// The process ends in good order and starts again.
    Restart,
    /// The process is killed and starts again.
    Kill,
}

/// The next action.
pub(super) fn next(numbers: &mut Numbers, state: &State) -> Action {
    match numbers.below(100) {
        0..66 => match change(numbers, state) {
            Some((change, by)) => Action::Change(change, by),
            None => Action::Checkpoint,
        },
        66..69 => Action::Compact(graph(numbers, state)),
        69..71 => Action::Checkpoint,
        71..72 => Action::BackUp,
        72..74 => Action::Archive { whole: numbers.below(4) == 0 },
        74..78 => Action::FailCall(numbers.below(16)),
        78..82 => Action::FailSync(numbers.below(4)),
        82..84 => Action::Sick(true),
        84..88 => Action::Sick(false),
        88..89 => Action::Full(true),
        89..93 => Action::Full(false),
        93..95 => Action::PowerGoes(numbers.below(40)),
        95..96 => Action::Rot,
        96..97 => Action::Restart,
        _ => Action::Kill,
    }
}

/// A graph that is there.
fn graph(numbers: &mut Numbers, state: &State) -> &'static str {
    let there: Vec<&str> = GRAPHS.into_iter().filter(|graph| state.graphs.contains_key(*graph)).collect();
    numbers.pick(&there)
}

/// Somebody who may do this.
fn user(numbers: &mut Numbers, state: &State, need: Need, graph: &str) -> String {
    let may: Vec<&String> = state.users.keys().filter(|user| state.may(user, need, graph)).collect();
    (*numbers.one_of(&may)).clone()
}

/// Anybody but the administrator, whose role stays.
fn other(numbers: &mut Numbers, state: &State) -> Option<String> {
    let others: Vec<&String> = state.users.keys().filter(|user| *user != "admin").collect();
    (!others.is_empty()).then(|| (*numbers.one_of(&others)).clone())
}

fn change(numbers: &mut Numbers, state: &State) -> Option<(Change, String)> {
    let kind = numbers.below(20);
    let role = *numbers.one_of(&[Role::Viewer, Role::Editor, Role::Admin]);
    let level = *numbers.one_of(&[Level::Viewer, Level::Editor, Level::Owner]);
    let graph = graph(numbers, state);
    Some(match kind {
        0..9 => {
            let by = user(numbers, state, Need::Write, graph);
            let relation = *numbers.one_of(&RELATIONS);
            let first = i64::try_from(numbers.below(40)).unwrap_or_default();
            let count = 1 + i64::try_from(numbers.below(4)).unwrap_or_default();
            let facts = (first..first + count).map(|value| (relation, value)).collect();
            let known = state.graphs[graph].facts.iter().any(|(of, _)| *of == relation);
            let insert = !known || numbers.below(3) > 0;
            (Change::Facts { graph, insert, facts }, by)
        }
        9..11 => {
            // A rule reads `f`, which is defined by its first fact.
            let contents = &state.graphs[graph];
            let number = numbers.below(RULES);
            let is_there = !contents.rules.contains(&number);
            if is_there && !contents.facts.iter().any(|(relation, _)| *relation == "f") {
                return None;
            }
            let by = user(numbers, state, Need::Write, graph);
            (Change::Rule { graph, number, is_there }, by)
        }
        11..13 => {
            let free: Vec<_> =
                GRAPHS.into_iter().filter(|graph| !state.graphs.contains_key(*graph)).collect();
            if free.is_empty() {
                return None;
            }
            let owner = user(numbers, state, Need::CreateGraph, DEFAULT_GRAPH);
            (Change::CreateGraph { graph: numbers.pick(&free), owner: owner.clone() }, owner)
        }
        13 | 14 => {
            if graph == DEFAULT_GRAPH {
                return None;
            }
            (Change::DropGraph { graph }, user(numbers, state, Need::Manage, graph))
        }
        15 => {
            let by = user(numbers, state, Need::Manage, graph);
            (Change::Grant { graph, user: other(numbers, state)?, level }, by)
        }
        16 => {
            let entries = state.entries.keys().filter(|(of, _)| of == graph);
            let users: Vec<&String> = entries.map(|(_, user)| user).collect();
            if users.is_empty() {
                return None;
            }
            let of = (*numbers.one_of(&users)).clone();
            (Change::Revoke { graph, user: of }, user(numbers, state, Need::Manage, graph))
        }
        17 => {
            let free: Vec<_> = USERS.into_iter().filter(|user| !state.users.contains_key(*user)).collect();
            if free.is_empty() {
                return None;
            }
            (Change::CreateUser { user: numbers.pick(&free), role }, "admin".to_owned())
        }
        18 => (Change::DropUser { user: other(numbers, state)? }, "admin".to_owned()),
        _ => (Change::SetRole { user: other(numbers, state)?, role }, "admin".to_owned()),
    })
}
