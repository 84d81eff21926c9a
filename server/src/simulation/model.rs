//! What a server must hold: graphs with their facts and rules, users, and who may do what.

use std::collections::{BTreeMap, BTreeSet};

use stratalog_engine::{DEFAULT_GRAPH, Need};

use crate::auth::{Level, Role};

/// Everything that is stored.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct State {
    pub(super) graphs: BTreeMap<String, Contents>,
    pub(super) users: BTreeMap<String, Role>,
    /// Levels by graph and user, also of graphs that are not there.
    pub(super) entries: BTreeMap<(String, String), Level>,
}

/// What a graph holds: facts by relation, and the numbers of its rules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Contents {
    pub(super) facts: BTreeSet<(&'static str, i64)>,
    pub(super) rules: BTreeSet<u64>,
}

/// The relations that there may be.
pub(super) const RELATIONS: [&str; 2] = ["f", "g"];
/// The graphs that there may be.
pub(super) const GRAPHS: [&str; 4] = [DEFAULT_GRAPH, "lab", "atlas", "sea"];
/// The users that there may be.
pub(super) const USERS: [&str; 4] = ["admin", "ada", "bob", "eve"];
/// The numbers that rules may have.
pub(super) const RULES: u64 = 3;

/// One change, which happens as a whole.
#[derive(Debug, Clone)]
pub(super) enum Change {
    CreateGraph { graph: &'static str, owner: String },
    DropGraph { graph: &'static str },
    Grant { graph: &'static str, user: String, level: Level },
    Revoke { graph: &'static str, user: String },
    CreateUser { user: &'static str, role: Role },
    DropUser { user: String },
    SetRole { user: String, role: Role },
    Facts { graph: &'static str, insert: bool, facts: Vec<(&'static str, i64)> },
    Rule { graph: &'static str, number: u64, is_there: bool },
}

impl State {
    /// A server at its first start.
    pub(super) fn new() -> State {
        let mut state = State::default();
        state.graphs.insert(DEFAULT_GRAPH.to_owned(), Contents::default());
        state.users.insert("admin".to_owned(), Role::Admin);
        state
    }

    pub(super) fn apply(&mut self, change: &Change) {
        match change {
            Change::CreateGraph { graph, owner } => {
                self.graphs.insert((*graph).to_owned(), Contents::default());
                self.entries.retain(|(of, _), _| of != graph);
                self.entries.insert(((*graph).to_owned(), owner.clone()), Level::Owner);
            }
            Change::DropGraph { graph } => {
                self.graphs.remove(*graph);
                self.entries.retain(|(of, _), _| of != graph);
            }
            Change::Grant { graph, user, level } => {
                self.entries.insert(((*graph).to_owned(), user.clone()), *level);
            }
            Change::Revoke { graph, user } => {
                self.entries.remove(&((*graph).to_owned(), user.clone()));
            }
            Change::CreateUser { user, role } => {
                self.users.insert((*user).to_owned(), *role);
            }
            Change::DropUser { user } => {
                self.users.remove(user);
                self.entries.retain(|(_, of), _| of != user);
            }
            Change::SetRole { user, role } => {
                self.users.insert(user.clone(), *role);
            }
            Change::Facts { graph, insert, facts } => {
                let Some(contents) = self.graphs.get_mut(*graph) else { return };
                for fact in facts {
                    match insert {
                        true => contents.facts.insert(*fact),
                        false => contents.facts.remove(fact),
                    };
                }
            }
            Change::Rule { graph, number, is_there } => {
                let Some(contents) = self.graphs.get_mut(*graph) else { return };
                match is_there {
                    true => contents.rules.insert(*number),
                    false => contents.rules.remove(number),
                };
            }
        }
    }

    /// What may be there after changes of which nobody knows whether they happened: each whole or not at all.
    pub(super) fn with_any_of(&self, unknown: &[Change]) -> Vec<State> {
        let mut states = vec![self.clone()];
        for change in unknown {
            let mut with = states.clone();
            with.iter_mut().for_each(|state| state.apply(change));
            states.extend(with);
        }
        states
    }

    /// Whether a user may do something on a graph.
    pub(super) fn may(&self, user: &str, need: Need, graph: &str) -> bool {
        let Some(role) = self.users.get(user) else { return false };
        let entry = self.entries.get(&(graph.to_owned(), user.to_owned())).copied();
        let by_role = (graph == DEFAULT_GRAPH).then_some(match role {
            Role::Viewer => Level::Viewer,
            Role::Editor => Level::Editor,
            Role::Admin => Level::Owner,
        });
        let level = if *role == Role::Admin { Some(Level::Owner) } else { entry.or(by_role) };
        match need {
            Need::Nothing => true,
            Need::CreateGraph => matches!(role, Role::Editor | Role::Admin),
            Need::Administer => *role == Role::Admin,
            Need::Enter => level.is_some() || graph == DEFAULT_GRAPH,
            Need::Read => level.is_some(),
            Need::Write => matches!(level, Some(Level::Editor | Level::Owner)),
            Need::Manage => level == Some(Level::Owner),
        }
    }
}

impl Change {
    /// The graph that it is written to; `None` for the file beside the graphs.
    pub(super) fn graph(&self) -> Option<&'static str> {
        match self {
            Change::Facts { graph, .. } | Change::Rule { graph, .. } => Some(graph),
            Change::CreateGraph { .. }
            | Change::DropGraph { .. }
            | Change::Grant { .. }
            | Change::Revoke { .. }
            | Change::CreateUser { .. }
            | Change::DropUser { .. }
            | Change::SetRole { .. } => None,
        }
    }
}
