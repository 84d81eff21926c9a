//! `kill -9` at random moments under writers of every kind: nothing acknowledged is lost, nothing is half done, nothing
//! is invented. Rounds: `STRATALOG_CRASH_ROUNDS`, 6 by default; `make crash` runs 200.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::Value as Json;
use stratalog_tests::server::{Connection, Server};
use tempfile::TempDir;

const WRITERS: usize = 8;
/// Rows of a bulk insert: all there, or none.
const BULK: usize = 40;

/// So many rounds go to one folder: small enough that answers come in one message.
const ROUNDS_A_FOLDER: usize = 20;

/// What one writer knows of its own relations.
#[derive(Debug, Default, Clone)]
struct Known {
    /// The next number to write.
    next: i64,
    /// Acknowledged single facts.
    singles: BTreeSet<i64>,
    /// Acknowledged bulks.
    bulks: BTreeSet<i64>,
    /// The acknowledged value of the counter that updates replace.
    counter: i64,
    /// Acknowledged clauses.
    clauses: usize,
    /// Acknowledged schemas.
    schemas: i64,
    /// What was sent and not answered when the server died.
    pending: Option<Change>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Change {
    Single(i64),
    Bulk(i64),
    Delete(i64),
    Count,
    Rule,
    Schema,
}

impl Known {
    /// The next change, in turn of all kinds.
    fn choose(&self) -> Change {
        match self.next % 7 {
            0 | 3 => Change::Single(self.next),
            1 => Change::Bulk(self.next),
            2 => self.singles.first().map_or(Change::Single(self.next), |n| Change::Delete(*n)),
            4 => Change::Count,
            5 => Change::Rule,
            _ => Change::Schema,
        }
    }

    fn program(&self, change: Change, writer: usize) -> String {
        match change {
            Change::Single(n) => format!("+single_{writer}({n}, \"text of {n}\")"),
            Change::Delete(n) => format!("-single_{writer}({n}, \"text of {n}\")"),
            Change::Bulk(n) => {
                let rows: Vec<String> = (0..BULK).map(|i| format!("({n}, {i}, {n}.5)")).collect();
                format!("+bulk_{writer}[{}]", rows.join(", "))
            }
            Change::Count => {
                format!("-counter_{writer}(N), +counter_{writer}(M) <- counter_{writer}(N), M = N + 1")
            }
            Change::Rule => format!("+rule_{writer}(X) <- bulk_{writer}(X, {}, _)", self.clauses),
            Change::Schema => format!("+schema_{writer}_{}(name: string, age: int)", self.schemas),
        }
    }

    fn acknowledge(&mut self, change: Change) {
        match change {
            Change::Single(n) => drop(self.singles.insert(n)),
            Change::Delete(n) => drop(self.singles.remove(&n)),
            Change::Bulk(n) => drop(self.bulks.insert(n)),
            Change::Count => self.counter += 1,
            Change::Rule => self.clauses += 1,
            Change::Schema => self.schemas += 1,
        }
    }
}

/// Writes until the server dies.
async fn write(server_url: String, writer: usize, mut known: Known) -> Known {
    let Ok(mut connection) = Connection::open(&server_url).await else { return known };
    loop {
        let change = known.choose();
        known.next += 1;
        known.pending = Some(change);
        match connection.try_execute(&known.program(change, writer)).await {
            Some(reply) => {
                assert_eq!(reply["type"], "result", "{change:?}: {reply}");
                known.acknowledge(change);
                known.pending = None;
            }
            None => return known,
        }
    }
}

/// Compares what is there with what was acknowledged; what was under way may be there too. Answers what is known now.
async fn compare(connection: &mut Connection, writer: usize, mut known: Known) -> Known {
    let singles: BTreeSet<i64> = numbers(&connection.rows(&format!("?single_{writer}(N, _)")).await);
    let mut bulks: BTreeMap<i64, usize> = BTreeMap::new();
    for row in rows(&connection.rows(&format!("?bulk_{writer}(N, I, X)")).await) {
        let n = row[0].as_i64().expect("a number");
        assert_eq!(row[2].as_f64(), Some(n as f64 + 0.5));
        *bulks.entry(n).or_default() += 1;
    }
    let counters = numbers(&connection.rows(&format!("?counter_{writer}(N)")).await);
    let clauses = rows(&connection.rows(".rule list").await)
        .iter()
        .find(|row| row[0] == format!("rule_{writer}"))
        .map_or(0, |row| row[1].as_u64().expect("a count") as usize);
    // Schemas are made in order: the latest is there, and the one after it is not.
    let mut schemas = known.schemas.saturating_sub(1).max(0);
    while connection.execute(&format!("?schema_{writer}_{schemas}(N, A)")).await["type"] == "result" {
        schemas += 1;
    }
    assert!(bulks.values().all(|count| *count == BULK), "writer {writer}: half of a bulk insert: {bulks:?}");
    assert_eq!(counters.len(), 1, "writer {writer}: an update is half done: {counters:?}");
    let bulks: BTreeSet<i64> = bulks.into_keys().collect();
    let agrees = |known: &Known| {
        singles == known.singles
            && bulks == known.bulks
            && counters.contains(&known.counter)
            && clauses == known.clauses
            && schemas == known.schemas
    };
    if let Some(change) = known.pending.take()
        && !agrees(&known)
    {
        known.acknowledge(change);
    }
    assert!(
        agrees(&known),
        "writer {writer}: expected {known:?}, found {singles:?} {bulks:?} {counters:?}, {clauses} clauses, {schemas} schemas"
    );
    known
}

fn rows(json: &Json) -> Vec<Vec<Json>> {
    serde_json::from_value(json.clone()).expect("rows are arrays")
}

fn numbers(json: &Json) -> BTreeSet<i64> {
    rows(json).iter().map(|row| row[0].as_i64().expect("a number")).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost_when_the_server_is_killed() {
    let rounds =
        std::env::var("STRATALOG_CRASH_ROUNDS").map_or(6, |n| n.parse().expect("a number of rounds"));
    let mut changes = 0;
    for first in (0..rounds).step_by(ROUNDS_A_FOLDER) {
        changes += crash_often(first..rounds.min(first + ROUNDS_A_FOLDER)).await;
    }
    assert!(changes > 25 * rounds as i64, "only {changes} changes in {rounds} rounds");
    eprintln!("{rounds} rounds, {changes} changes");
}

/// One folder, and a server on it that is killed again and again. Answers how many changes were sent.
async fn crash_often(rounds: std::ops::Range<usize>) -> i64 {
    let folder = TempDir::new().expect("a temporary folder");
    // Small journals, so that checkpoints are under way when the server dies.
    let settings = [("SERVICE_STORAGE__CHECKPOINT_BYTES", "200000")];
    let mut known = vec![Known::default(); WRITERS];
    for round in rounds.clone() {
        let server = Server::start_in(folder.path(), &settings);
        let mut connection = server.log_in().await;
        for (writer, known) in known.iter_mut().enumerate() {
            if round == rounds.start {
                connection.rows(&format!("+counter_{writer}(0)")).await;
                connection.rows(&format!("+single_{writer}(-1, \"\")\n-single_{writer}(-1, \"\")")).await;
                connection.rows(&format!("+bulk_{writer}(0, 0, 0.5)\n-bulk_{writer}(0, 0, 0.5)")).await;
            } else {
                *known = compare(&mut connection, writer, std::mem::take(known)).await;
            }
        }
        let tasks: Vec<_> = std::mem::take(&mut known)
            .into_iter()
            .enumerate()
            .map(|(writer, known)| tokio::spawn(write(server.url(), writer, known)))
            .collect();
        // Different moments, the same in every run.
        tokio::time::sleep(Duration::from_millis(100 + (round as u64 * 7919) % 900)).await;
        drop(connection);
        drop(server);
        for task in tasks {
            known.push(task.await.expect("a writer does not panic"));
        }
    }
    let changes = known.iter().map(|known| known.next).sum();
    let server = Server::start_in(folder.path(), &settings);
    let mut connection = server.log_in().await;
    for (writer, known) in known.into_iter().enumerate() {
        compare(&mut connection, writer, known).await;
    }
    changes
}
