//! The server of the simulation: engine, accounts and commands in this process, without sockets.

use std::path::Path;
use std::sync::{Arc, Weak};
use std::time::Duration;

use stratalog_engine::storage::Files;
use stratalog_engine::{
    ArchiveOptions, BackupPlace, Budget, Engine, EngineOptions, Error, Need, Parameters, RunOptions,
    StorageOptions,
};
use stratalog_protocol::Secret;
use stratalog_tests::power_loss::PowerLoss;
use stratalog_tests::stored::table;

use super::model::{Change, Contents, GRAPHS, RELATIONS, RULES, State, USERS};
use crate::admin::{ADMIN_COMMANDS, Operator};
use crate::audit::{Audit, AuditTo};
use crate::auth::{AccountChange, Accounts, Hash, Journal};
use crate::config::{DefaultGraph, Limits, Throttling};
use crate::queries::Running;
use crate::sessions::Sessions;

/// Where the data is.
pub(super) const DATA: &str = "/data";

/// A server that runs.
pub(super) struct Server {
    pub(super) engine: Engine,
    pub(super) accounts: Arc<Accounts>,
    running: Arc<Running>,
    sessions: Arc<Sessions>,
}

impl Server {
    /// Starts on a folder of a disk, perhaps with an archive. Nothing happens but what it is asked to do.
    pub(super) fn start(medium: &PowerLoss, folder: &str, archive: Option<&str>) -> Result<Server, String> {
        // Whether a backup is due must not depend on the time.
        let interval = Duration::from_secs(1 << 40);
        let files: Arc<dyn Files> = Arc::new(medium.clone());
        let place = |folder: &str| BackupPlace { files: Arc::clone(&files), folder: folder.into() };
        let archive = archive.map(|folder| ArchiveOptions { place: place(folder), interval, keep: 2 });
        let storage = StorageOptions {
            medium: Arc::new(medium.clone()),
            archive,
            checkpoint_bytes: u64::MAX,
            background: false,
            ..StorageOptions::new(Path::new(folder))
        };
        let options =
            EngineOptions { threads: Some(1), commands: ADMIN_COMMANDS, ..EngineOptions::default() };
        let engine = Engine::open(options, storage).map_err(|error| error.to_string())?;
        let password = Secret::new("lace");
        let journal = Journal::new(engine.clone());
        let audit = Arc::new(Audit::open(&AuditTo::Log).map_err(|error| error.to_string())?);
        let (accounts, _) =
            Accounts::open(journal, Some(&password), DefaultGraph::Role, Throttling::default(), audit)
                .map_err(|error| error.to_string())?;
        let sessions = Arc::new(Sessions::new(&Limits::default()));
        Ok(Server { engine, accounts, running: Arc::default(), sessions })
    }

    /// Runs a program of somebody on a graph.
    pub(super) fn run(&self, user: &str, graph: &str, program: &str) -> Result<Vec<String>, Error> {
        let identity = self.accounts.identity(user).expect("the user is there");
        let (running, sessions) = (self.running.clone(), Arc::downgrade(&self.sessions));
        let engine = self.engine.clone();
        let operator = Operator { identity, running, graphs: 0, engine, sessions, app: Weak::new() };
        let mut session = self.engine.open_session_for(Arc::new(operator), graph)?;
        let prepared = session.prepare(program, &Parameters::default())?;
        Ok(table(&session.run(prepared, &RunOptions::default(), &Budget::unlimited())?))
    }

    /// Makes a change in the name of somebody.
    pub(super) fn change(&self, change: &Change, by: &str) -> Result<(), Error> {
        let command = |graph: &str, program: String| self.run(by, graph, &program).map(drop);
        match change {
            Change::CreateGraph { graph, .. } => command("default", format!(".kg create {graph}")),
            Change::DropGraph { graph } => command("default", format!(".kg drop {graph}")),
            Change::Grant { graph, user, level } => {
                command("default", format!(".kg acl grant {graph} {user} {}", level.as_str()))
            }
            Change::Revoke { graph, user } => command("default", format!(".kg acl revoke {graph} {user}")),
            // Not as a command, which would hash a password.
            Change::CreateUser { user, role } => {
                let (name, role, password) = ((*user).to_owned(), *role, Hash::unusable());
                let identity = self.accounts.identity(by).expect("the user is there");
                identity.change(&AccountChange::CreateUser { name, role, password })
            }
            Change::DropUser { user } => command("default", format!(".user drop {user}")),
            Change::SetRole { user, role } => {
                command("default", format!(".user role {user} {}", role.as_str()))
            }
            Change::Facts { graph, insert, facts } => {
                let sign = if *insert { '+' } else { '-' };
                let relation = facts.first().map_or(RELATIONS[0], |(relation, _)| relation);
                let rows: Vec<String> = facts.iter().map(|(_, value)| format!("({value})")).collect();
                command(graph, format!("{sign}{relation}[{}]", rows.join(", ")))
            }
            Change::Rule { graph, number, is_there: true } => {
                command(graph, format!("+r{number}(X) <- f(X), X > {number}"))
            }
            Change::Rule { graph, number, is_there: false } => {
                command(graph, format!(".rule drop r{number}"))
            }
        }
    }

    /// Everything that it holds, or which graph it cannot serve and why.
    pub(super) fn state(&self) -> Result<State, String> {
        let mut state = State::default();
        for graph in self.engine.graphs() {
            let contents = self.contents(&graph)?;
            state.graphs.insert(graph, contents);
        }
        state.users = self.accounts.users().into_iter().collect();
        for graph in GRAPHS {
            let entries = self.accounts.entries(graph).into_iter();
            state.entries.extend(entries.map(|(user, level)| ((graph.to_owned(), user), level)));
        }
        Ok(state)
    }

    fn contents(&self, graph: &str) -> Result<Contents, String> {
        let mut session = self.engine.open_session(graph).map_err(|error| error.to_string())?;
        let mut ask = |program: &str| {
            let prepared = session.prepare(program, &Parameters::default())?;
            session.run(prepared, &RunOptions::default(), &Budget::unlimited())
        };
        let mut contents = Contents::default();
        for relation in RELATIONS {
            // A relation that was never written to is not known.
            let Ok(answer) = ask(&format!("?{relation}(X)")) else { continue };
            for line in table(&answer) {
                let value = line.strip_prefix("Int(").and_then(|rest| rest.strip_suffix(')'));
                let value = value.and_then(|digits| digits.parse().ok());
                contents.facts.insert((relation, value.ok_or(format!("{line} is no integer"))?));
            }
        }
        contents.rules = (0..RULES).filter(|number| ask(&format!(".rule def r{number}")).is_ok()).collect();
        Ok(contents)
    }

    /// Compares what everybody may do with the model.
    pub(super) fn check_rights(&self, expected: &State, what: &str) {
        let needs = [Need::CreateGraph, Need::Administer, Need::Read, Need::Write, Need::Manage];
        for (user, graph) in USERS.iter().flat_map(|user| GRAPHS.map(|graph| (user, graph))) {
            for need in needs {
                let (found, right) = (self.accounts.may(user, need, graph), expected.may(user, need, graph));
                assert_eq!(found, right, "{what}: whether {user} has {need:?} on {graph}");
            }
        }
    }
}
