//! Live queries under load: commits as fast as they come, without and with those who are told of them. Each copy is compared
//! in the end with what a query answers.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use stratalog_tests::load::{LINKED, SEEN, per_mille, subscribe_aside};
use stratalog_tests::server::{Connection, Server};
use stratalog_tests::subscriber::{Subscriber, set};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::settings::{Settings, Subscribed};

/// Facts of a writer that are there at a time.
const KEPT: usize = 20;

/// How long nothing comes where nothing may come.
const SILENCE: Duration = Duration::from_millis(500);

/// By version: the number in the fact of that commit, and when its writer knew that it is durable.
type Commits = BTreeMap<u64, (u64, Instant)>;

/// So many writers, alone and with the subscriptions of the settings.
pub(crate) async fn run(server: &Server, key: &str, settings: &Settings, connections: usize) {
    let latest = Arc::new(AtomicU64::new(0));
    let mut writers = Vec::new();
    for number in 0..connections {
        let connection = connect(server, key).await;
        writers.push(Writer {
            connection,
            number,
            facts: settings.facts,
            steps: 0,
            present: VecDeque::new(),
        });
    }
    writers = commit(writers, Duration::from_secs(1), &latest).await.0;
    let (writers, alone) = commit(writers, settings.time, &latest).await;
    let before = server.resident();
    let (ended, end) = watch::channel(0);
    let (mut readers, mut stalled) = (JoinSet::new(), Vec::new());
    for question in questions(&mut connect(server, key).await, settings).await {
        let subscriber = subscribe(server, key, &question).await;
        match question.kind {
            Subscribed::Stalled => stalled.push((subscriber, question)),
            Subscribed::Idle => drop(readers.spawn(hear_nothing(subscriber, question, end.clone()))),
            Subscribed::Same | Subscribed::Params | Subscribed::Texts | Subscribed::Slow => {
                readers.spawn(follow(subscriber, question, Arc::clone(&latest), end.clone()));
            }
        }
    }
    let subscribed = server.resident();
    // In two halves: what memory does in the second one is what it does for ever.
    let (writers, mut commits) = commit(writers, settings.time / 2, &latest).await;
    let half = server.resident();
    let (_writers, more) = commit(writers, settings.time / 2, &latest).await;
    commits.extend(more);
    let with = commits.len();
    // The last commit changes every answer, so that all know when they have all.
    let mut admin = connect(server, key).await;
    let reply = admin.execute(&format!("+seen({connections}, {})", settings.facts - 1)).await;
    let last = reply["version"].as_u64().expect("a version");
    ended.send(last).expect("somebody waits for the end");
    let mut followed = readers.join_all().await;
    let after = server.resident();
    for (mut subscriber, question) in stalled {
        while subscriber.version < last {
            subscriber.next().await.expect("what was not read");
        }
        followed.push((subscriber, question, Vec::new()));
    }
    compare(&mut admin, &followed).await;
    let a_second = |count: usize| count as f64 / settings.time.as_secs_f64();
    eprintln!(
        "{connections:>5}  {:.0} commits a second alone, {:.0} with {} subscriptions: {:.0} %; memory {} MiB, with all \
         subscriptions {} MiB, then {} MiB, then {} MiB",
        a_second(alone.len()),
        a_second(with),
        followed.len(),
        100.0 * with as f64 / alone.len() as f64,
        before >> 20,
        subscribed >> 20,
        half >> 20,
        after >> 20
    );
    for (kind, name) in Subscribed::ALL {
        print(connections, name, followed.iter().filter(|(_, question, _)| question.kind == *kind), &commits);
    }
    drop(followed);
    admin.rows("-seen(W, N) <- seen(W, N)").await;
}

async fn connect(server: &Server, key: &str) -> Connection {
    let mut connection = server.connect().await;
    assert_eq!(connection.authenticate(key).await["type"], "authenticated");
    connection
}

/// Lets all writers commit for a while.
async fn commit(writers: Vec<Writer>, time: Duration, latest: &Arc<AtomicU64>) -> (Vec<Writer>, Commits) {
    let until = Instant::now() + time;
    let mut running = JoinSet::new();
    for mut writer in writers {
        let latest = Arc::clone(latest);
        running.spawn(async move {
            let commits = writer.commit_until(until, &latest).await;
            (writer, commits)
        });
    }
    let (mut writers, mut all) = (Vec::new(), Commits::new());
    for (writer, commits) in running.join_all().await {
        writers.push(writer);
        all.extend(commits);
    }
    (writers, all)
}

/// What is asked, and the rules that it needs.
async fn questions(admin: &mut Connection, settings: &Settings) -> Vec<Question> {
    let of = |(kind, count): &(Subscribed, usize)| {
        let (kind, count) = (*kind, *count);
        (0..count).map(move |number| Question::new(kind, number, count, settings.facts))
    };
    let questions: Vec<Question> = settings.subscriptions.iter().flat_map(of).collect();
    for question in &questions {
        if let Some(rule) = question.rule() {
            admin.rows(&rule).await;
        }
    }
    questions
}

async fn subscribe(server: &Server, key: &str, question: &Question) -> Subscriber {
    let mut connection = match question.kind {
        // Little fits between the server and who does not read.
        Subscribed::Stalled => server.connect_narrow("/ws").await,
        Subscribed::Same | Subscribed::Params | Subscribed::Texts | Subscribed::Idle | Subscribed::Slow => {
            server.connect().await
        }
    };
    assert_eq!(connection.authenticate(key).await["type"], "authenticated");
    subscribe_aside(connection, question.request()).await
}

/// Applies what is told, to the end.
async fn follow(
    mut subscriber: Subscriber,
    question: Question,
    latest: Arc<AtomicU64>,
    mut end: watch::Receiver<u64>,
) -> (Subscriber, Question, Vec<Told>) {
    let mut told = Vec::new();
    loop {
        let (from, last) = (subscriber.version, *end.borrow_and_update());
        if last > 0 && from >= last {
            return (subscriber, question, told);
        }
        tokio::select! {
            next = subscriber.next() => {
                next.unwrap_or_else(|ended| panic!("{}: {ended}", question.query));
                let latest = latest.load(Ordering::Relaxed);
                told.push(Told { from, version: subscriber.version, latest, at: Instant::now() });
            }
            changed = end.changed() => changed.expect("the end is told"),
        }
    }
}

/// Waits for the end of one about whose relation nobody says anything.
async fn hear_nothing(
    mut subscriber: Subscriber,
    question: Question,
    mut end: watch::Receiver<u64>,
) -> (Subscriber, Question, Vec<Told>) {
    end.changed().await.expect("the end is told");
    let heard = subscriber.connection.receive_within(SILENCE).await;
    assert!(heard.is_none(), "{}: {heard:?}", question.query);
    (subscriber, question, Vec::new())
}

/// Each copy is what a query answers.
async fn compare(admin: &mut Connection, followed: &[(Subscriber, Question, Vec<Told>)]) {
    let mut answers = BTreeMap::new();
    for (subscriber, question, _) in followed {
        let program = question.program();
        if !answers.contains_key(&program) {
            answers.insert(program.clone(), set(&Json::Array(admin.all_rows(&program).await)));
        }
        assert_eq!(subscriber.copy, answers[&program], "{program}");
    }
}

/// A line about the subscriptions of a kind: how long after the answer to a commit its rows are there, and how many versions
/// whoever has a delta is behind then.
fn print<'a>(
    connections: usize,
    name: &str,
    followed: impl Iterator<Item = &'a (Subscriber, Question, Vec<Told>)>,
    commits: &Commits,
) {
    let (mut micros, mut behind, mut count) = (Vec::new(), Vec::new(), 0);
    for (_, question, told) in followed {
        count += 1;
        for delta in told {
            behind.push(u32::try_from(delta.latest.saturating_sub(delta.version)).unwrap_or(u32::MAX));
            for (n, durable) in commits.range(delta.from + 1..=delta.version).map(|(_, commit)| commit) {
                if *n >= question.least {
                    let took = delta.at.saturating_duration_since(*durable);
                    micros.push(u32::try_from(took.as_micros()).unwrap_or(u32::MAX));
                }
            }
        }
    }
    if count == 0 {
        return;
    }
    micros.sort_unstable();
    behind.sort_unstable();
    let ms = |place| f64::from(per_mille(&micros, place)) / 1000.0;
    eprintln!(
        "{connections:>5}  {name:<8} {count:>6} {:>10} {:>10.1} {:>10.2} {:>10.2} {:>10.2} {:>8} {:>8}",
        behind.len(),
        micros.len() as f64 / behind.len().max(1) as f64,
        ms(500),
        ms(990),
        ms(1000),
        per_mille(&behind, 500),
        per_mille(&behind, 990)
    );
}

/// Writes the names of what [`run`] writes.
pub(crate) fn print_head() {
    eprintln!(
        "{:>5}  {:<8} {:>6} {:>10} {:>10} {:>10} {:>10} {:>10} {:>8} {:>8}",
        "conns", "kind", "number", "deltas", "versions", "p50 ms", "p99 ms", "max ms", "behind", "p99"
    );
}

/// What a subscription asks. All but those to idle relations are about facts `seen(W, N)` with `N` from `least` on.
struct Question {
    kind: Subscribed,
    query: String,
    least: u64,
}

impl Question {
    fn new(kind: Subscribed, number: usize, count: usize, facts: u64) -> Question {
        let least = facts * number as u64 / count as u64;
        let (query, least) = match kind {
            Subscribed::Same | Subscribed::Stalled => (SEEN.to_owned(), 0),
            Subscribed::Params => (format!("{SEEN}, N >= $least"), least),
            Subscribed::Texts => (format!("?seen_{number}(W, N), label(N, Name)"), least),
            Subscribed::Idle => ("?quiet(X), X >= $least".to_owned(), number as u64),
            Subscribed::Slow => (LINKED.to_owned(), 0),
        };
        Question { kind, query, least }
    }

    /// The rule that makes this a question of its own.
    fn rule(&self) -> Option<String> {
        let (head, _) = self.query.strip_prefix("?seen_")?.split_once(',')?;
        Some(format!("+seen_{head}, N) <- seen(W, N), N >= {}", self.least))
    }

    fn request(&self) -> Json {
        let params = if self.query.contains("$least") { json!({"least": self.least}) } else { json!({}) };
        json!({"query": self.query, "params": params})
    }

    /// The same as a program of its own.
    fn program(&self) -> String {
        self.query.replace("$least", &self.least.to_string())
    }
}

/// A delta as it came.
struct Told {
    from: u64,
    version: u64,
    /// The latest version that was known to be durable then.
    latest: u64,
    at: Instant,
}

/// One who commits as fast as that is answered.
struct Writer {
    connection: Connection,
    number: usize,
    facts: u64,
    steps: u64,
    present: VecDeque<u64>,
}

impl Writer {
    async fn commit_until(&mut self, until: Instant, latest: &AtomicU64) -> Commits {
        let mut commits = Commits::new();
        while Instant::now() < until {
            let sign = if self.present.len() < KEPT { '+' } else { '-' };
            let n = if sign == '+' { self.new_fact() } else { self.present.pop_front().unwrap_or_default() };
            let reply = self.connection.execute(&format!("{sign}seen({}, {n})", self.number)).await;
            let version = reply["version"].as_u64().unwrap_or_else(|| panic!("{reply}"));
            self.connection.forget_notifications();
            latest.fetch_max(version, Ordering::Relaxed);
            commits.insert(version, (n, Instant::now()));
        }
        commits
    }

    fn new_fact(&mut self) -> u64 {
        self.steps += 1;
        let n = (self.steps * 7_919 + self.number as u64) % self.facts;
        self.present.push_back(n);
        n
    }
}
