//! Somebody who has subscribed, and what is needed for that.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use stratalog_engine::{
    Budget, Content, Delta, Engine, EngineOptions, Error, LiveOptions, Next, Pace, Parameters, RunOptions,
    Session, Subscription, Waker, Work,
};
use stratalog_tests::answers::rows_of;
use stratalog_tests::value::Row;

pub(crate) const RULES: &str = "+path(X, Y) <- edge(X, Y)
+path(X, Z) <- path(X, Y), edge(Y, Z)
+apart(X, Y) <- node(X), node(Y), !path(X, Y)
+degree(X, count<Y>, avg<Y>) <- edge(X, Y)
+balance(X, sum<W>) <- edge(X, Y), W = 2000000000 - 3000000000 * Y
+label(X, L) <- degree(X, _, A), L = concat(\"at \", A)
+nearest(X, min<D>) <- edge(0, X), D = 0.5
+nearest(Y, min<D>) <- nearest(X, E), edge(X, Y), D = E + 0.5";

pub(crate) const FACTS: &str =
    "+edge[(0, 1), (1, 2), (2, 0), (3, 4)]\n+node[(0), (1), (2), (3)]\n+said[(1, \"a\"), (2, 5), (3, 2.5)]";

/// So long it may take until something holds, on a machine that does much else.
const PATIENCE: Duration = Duration::from_secs(300);

pub(crate) type Copy = BTreeSet<Row>;

/// One who applies what is told.
pub(crate) struct Reader {
    pub(crate) question: &'static str,
    pub(crate) subscription: Subscription,
    pub(crate) version: u64,
    pub(crate) copy: Copy,
    pub(crate) every_version: bool,
}

impl Reader {
    pub(crate) fn new(session: &Session, question: &'static str, every_version: bool) -> Reader {
        Reader::woken_by(Waker::new(|| {}), session, question, every_version)
    }

    pub(crate) fn woken_by(
        waker: Waker,
        session: &Session,
        question: &'static str,
        every_version: bool,
    ) -> Reader {
        let waker = if every_version { waker.of_each_version() } else { waker };
        let subscription = subscribe_with(session, question, waker).expect("it can be live");
        let begun = subscription.begun();
        let (version, copy) = (begun.version, set(&begun.rows));
        Reader { question, subscription, version, copy, every_version }
    }

    /// Takes what there is to tell; answers whether there was anything. An error is the end.
    pub(crate) fn read(&mut self) -> Result<bool, Error> {
        match self.subscription.next(self.version, self.every_version)? {
            Next::Nothing { .. } => return Ok(false),
            Next::Delta { version, delta } => {
                assert!(version > self.version, "{version} after {}", self.version);
                self.apply(&delta);
                self.version = version;
            }
            Next::Reset { version, rows } => {
                assert!(version >= self.version, "{version} after {}", self.version);
                (self.version, self.copy) = (version, set(&rows));
            }
            Next::Ended { error, .. } => return Err(error),
        }
        Ok(true)
    }

    fn apply(&mut self, delta: &Delta) {
        assert!(!delta.is_empty(), "nothing is told");
        for row in set(&delta.removed) {
            assert!(self.copy.remove(&row), "{}: {row:?} was not there", self.question);
        }
        for row in set(&delta.added) {
            assert!(self.copy.insert(row.clone()), "{}: {row:?} was there", self.question);
        }
    }

    /// Reads until nothing is left, at a version that is this or later.
    pub(crate) fn catch_up(&mut self, version: u64) -> Result<(), Error> {
        wait_until(|| self.subscription.version() >= version || self.ended());
        while self.read()? {}
        Ok(())
    }

    pub(crate) fn ended(&self) -> bool {
        matches!(self.subscription.next(self.version, false), Ok(Next::Ended { .. }))
    }
}

pub(crate) fn set(rows: &stratalog_engine::Rows) -> Copy {
    rows_of(&rows.batch(0, rows.row_count())).into_iter().collect()
}

pub(crate) fn wait_until(mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < until, "it never holds");
        std::thread::sleep(Duration::from_micros(100));
    }
}

pub(crate) fn engine(live: LiveOptions) -> Engine {
    engine_of(EngineOptions { live, ..EngineOptions::default() })
}

/// With a thread, and all the time that a step takes unless somebody is to see one end.
pub(crate) fn engine_of(mut options: EngineOptions) -> Engine {
    if options.live.step_time == LiveOptions::default().step_time {
        options.live.step_time = PATIENCE;
    }
    Engine::in_memory(EngineOptions { threads: Some(1), ..options }).expect("an engine in memory")
}

pub(crate) fn session(engine: &Engine) -> Session {
    engine.open_session("default").expect("the graph `default` exists")
}

pub(crate) fn subscribe(session: &Session, question: &str) -> Result<Subscription, Error> {
    subscribe_with(session, question, Waker::new(|| {}))
}

fn subscribe_with(session: &Session, question: &str, waker: Waker) -> Result<Subscription, Error> {
    let prepared = session.prepare(question, &Parameters::new())?;
    session.subscribe(prepared, waker, &Budget::unlimited())
}

/// The rows of an answer and its version. Some programs without commands make one version, however many statements they have.
pub(crate) fn run(session: &mut Session, program: &str) -> Result<(u64, Copy), Error> {
    let has_commands = program.lines().any(|line| line.starts_with('.'));
    let options =
        RunOptions { atomic: program.len().is_multiple_of(2) && !has_commands, ..RunOptions::default() };
    let prepared = session.prepare(program, &Parameters::new())?;
    let answer = session.run(prepared, &options, &Budget::unlimited())?;
    let rows = match &answer.content {
        Content::Rows(rows) => set(rows),
        Content::Messages(_) => Copy::new(),
    };
    Ok((answer.version, rows))
}

pub(crate) fn tell(session: &mut Session, program: &str) -> u64 {
    run(session, program).expect("it is done").0
}

/// Whatever was done, they rest for so many milliseconds.
#[derive(Debug)]
pub(crate) struct Rest(pub(crate) u64);

impl Pace for Rest {
    fn rest(&self, _: &Work) -> Duration {
        Duration::from_millis(self.0)
    }
}
