//! One seed from its beginning to its end, and many of them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use stratalog_engine::storage::{Medium, Moment};
use stratalog_engine::{BackupPlace, BackupSummary, DEFAULT_GRAPH, Until, restore_on, restore_to};
use stratalog_tests::power_loss::{PowerLoss, Unsynced};

use super::actions::{self, Action};
use super::model::{Change, State};
use super::numbers::Numbers;
use super::server::{DATA, Server};

/// So many things happen in one seed.
const ACTIONS: usize = 60;
/// So many changes may be in doubt before the process has to say what became of them.
const DOUBTS: usize = 5;
/// Seeds that run with the other tests.
const SHARE: u64 = if cfg!(debug_assertions) { 10 } else { 200 };

/// A run of one seed.
struct Run {
    numbers: Numbers,
    medium: PowerLoss,
    /// `None` only while it is started.
    server: Option<Server>,
    /// What is served.
    known: State,
    /// What is on disk for certain. It differs from what is served where a change in doubt was found at a start, and the
    /// file could not be written anew since.
    stored: State,
    /// What may or may not have happened.
    unknown: Vec<Change>,
    /// Where everything is archived, in every other seed.
    archive: Option<&'static str>,
    /// What there was at some moments, as the archive has it.
    archived: Vec<(Moment, State)>,
    trace: Trace,
}

/// What happened, told when a check fails.
struct Trace {
    seed: u64,
    lines: Vec<String>,
}

impl Drop for Trace {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("SIMULATE_SEED={} failed after\n{}", self.seed, self.lines.join("\n"));
        }
    }
}

/// Runs a seed; answers what happened, which is the same each time.
fn simulate(seed: u64) -> Vec<String> {
    let medium = PowerLoss::default();
    let archive = (seed % 2 == 1).then_some("/archive");
    let server = Server::start(&medium, DATA, archive).expect("a disk without faults");
    let mut run = Run {
        numbers: Numbers::of_seed(seed),
        medium,
        server: Some(server),
        known: State::new(),
        stored: State::new(),
        unknown: Vec::new(),
        archive,
        archived: Vec::new(),
        trace: Trace { seed, lines: Vec::new() },
    };
    for _ in 0..ACTIONS {
        let action = actions::next(&mut run.numbers, &run.known);
        run.trace.lines.push(format!("{action:?}"));
        run.act(action);
        if run.medium.is_dark() {
            run.power_returns();
        }
        if run.unknown.len() > DOUBTS {
            run.restart("too much in doubt", PowerLoss::kill);
        }
    }
    run.medium.make_sick(false);
    run.medium.fill(false);
    run.restart("the end", |medium| medium.restart(Unsynced::Lost));
    std::mem::take(&mut run.trace.lines)
}

impl Run {
    fn server(&self) -> &Server {
        self.server.as_ref().expect("it runs")
    }

    fn act(&mut self, action: Action) {
        match action {
            Action::Change(change, by) => self.change(change, &by),
            Action::Compact(graph) => {
                let done = self.server().run("admin", graph, ".compact").map(drop);
                self.note(&done.map_err(|error| error.code().as_str()));
            }
            Action::Checkpoint => {
                let done = self.server().engine.checkpoint();
                self.note(&done.map_err(|error| error.code().as_str()));
            }
            Action::BackUp => self.back_up(),
            Action::Archive { whole } => self.archive(whole),
            Action::FailCall(calls) => self.medium.fail_once_after(calls),
            Action::FailSync(syncs) => self.medium.fail_sync_after(syncs),
            Action::Sick(is_sick) => self.medium.make_sick(is_sick),
            Action::Full(is_full) => self.medium.fill(is_full),
            Action::PowerGoes(calls) => self.medium.fail_at(self.medium.steps() + calls),
            Action::Rot => self.rot(),
            Action::Restart => self.stop_and_start(),
            Action::Kill => self.restart("killed", PowerLoss::kill),
        }
        self.check("reads go on");
    }

    fn note(&mut self, outcome: &Result<(), &str>) {
        self.trace.lines.push(format!("    {outcome:?}"));
    }

    fn change(&mut self, change: Change, by: &str) {
        let outcome = self.server().change(&change, by);
        let code = outcome.as_ref().map_err(|error| error.code().as_str()).copied();
        self.note(&code);
        match code {
            Ok(()) => {
                // Whatever was in doubt in this file, and in that beside the graphs, has been settled before.
                let mut doubtful: Vec<&str> = self.unknown.iter().filter_map(Change::graph).collect();
                doubtful.retain(|graph| Some(*graph) != change.graph());
                self.settle(&doubtful);
                self.known.apply(&change);
                self.stored.apply(&change);
            }
            Err("storage_unavailable") => {}
            Err("outcome_unknown") => self.unknown.push(change),
            Err(_) => panic!("{change:?} of {by} was refused: {outcome:?}"),
        }
    }

    /// What is served is what was acknowledged.
    fn check(&self, when: &str) {
        let found = self.server().state().unwrap_or_else(|error| panic!("{when}: {error}"));
        assert_eq!(found, self.known, "{when}");
        self.server().check_rights(&self.known, when);
    }

    fn power_returns(&mut self) {
        let unsynced = *self.numbers.one_of(&[Unsynced::Lost, Unsynced::Kept, Unsynced::Mixed]);
        self.restart(&format!("{unsynced:?}"), |medium| medium.restart(unsynced));
    }

    fn stop_and_start(&mut self) {
        self.server = None;
        self.restart("stopped", |_| {});
    }

    /// The process ends, and starts again: what it serves then is what was acknowledged, and all or nothing of each
    /// change in doubt.
    fn restart(&mut self, how: &str, end: impl Fn(&PowerLoss)) {
        self.trace.lines.push(format!("    restart: {how}"));
        end(&self.medium);
        self.server = None;
        // The power may go while it starts, more than once.
        if self.numbers.below(4) == 0 {
            self.medium.fail_at(self.medium.steps() + self.numbers.below(20));
        }
        let server = loop {
            match Server::start(&self.medium, DATA, self.archive) {
                Ok(server) if !self.medium.is_dark() => break server,
                Ok(_) | Err(_) if self.medium.is_dark() => self.medium.restart(Unsynced::Mixed),
                Ok(server) => break server,
                Err(error) => {
                    // Whoever runs it looks at the disk.
                    self.medium.kill();
                    self.medium.make_sick(false);
                    self.medium.fill(false);
                    self.trace.lines.push(format!("    mended: {error}"));
                    let started = Server::start(&self.medium, DATA, self.archive);
                    break started.unwrap_or_else(|error| panic!("{how}: {error}"));
                }
            }
        };
        let found = server.state().unwrap_or_else(|error| panic!("{how}: {error}"));
        let possible = self.stored.with_any_of(&self.unknown);
        assert!(
            possible.contains(&found),
            "{how}: {:?} in doubt\n   found {found:?}\nexpected {:?}",
            self.unknown,
            self.stored
        );
        server.check_rights(&found, how);
        self.known = found;
        let doubtful = server.engine.unwritable();
        self.server = Some(server);
        if !doubtful.iter().any(|graph| graph == "*") {
            self.settle(&doubtful.iter().map(String::as_str).collect::<Vec<_>>());
        }
    }

    /// What is served is on disk, but for these graphs.
    fn settle(&mut self, doubtful: &[&str]) {
        let before = std::mem::replace(&mut self.stored, self.known.clone());
        for (graph, contents) in before.graphs {
            if let Some(stored) = self.stored.graphs.get_mut(&graph)
                && doubtful.contains(&graph.as_str())
            {
                *stored = contents;
            }
        }
        self.unknown.retain(|change| change.graph().is_some_and(|graph| doubtful.contains(&graph)));
    }

    fn back_up(&mut self) {
        let (backup, restored) = (Path::new("/backup"), "/restored");
        let made = self.server().engine.back_up(backup);
        self.note(&made.as_ref().map(drop).map_err(|error| error.code().as_str()));
        if made.is_ok() {
            let elsewhere = self.medium.copy();
            restore_on(&elsewhere, backup, Path::new(restored)).expect("what was acknowledged as a backup");
            let server = Server::start(&elsewhere, restored, None).expect("it starts");
            assert_eq!(server.state().expect("it serves"), self.known, "what a backup holds");
        }
        self.medium.remove_under(backup);
    }

    /// What is archived is there, now and as it was at an earlier moment.
    fn archive(&mut self, whole: bool) {
        let Some(archive) = self.archive else { return };
        let done = match whole {
            true => self.server().run("admin", DEFAULT_GRAPH, ".backup").map(drop),
            false => self.server().engine.tend_archive(),
        };
        self.note(&done.as_ref().map(drop).map_err(|error| error.code().as_str()));
        if done.is_err() {
            return;
        }
        let (end, found) = self.restored(archive, &Until::End).expect("an archive to its end");
        assert_eq!(found, self.known, "the end of the archive");
        if !self.archived.is_empty() {
            let (moment, state) = self.numbers.one_of(&self.archived).clone();
            match self.restored(archive, &Until::Moment(moment)) {
                Ok((_, found)) => assert_eq!(found, state, "the archive at {moment}"),
                // The backups before it are gone, or another archive has begun after a failure.
                Err(_) => self.trace.lines.push("    that moment is not there any more".to_owned()),
            }
        }
        self.archived.extend(end.moment.map(|moment| (moment, self.known.clone())));
    }

    /// What the archive holds, restored elsewhere.
    fn restored(&self, archive: &str, until: &Until) -> Result<(BackupSummary, State), String> {
        let elsewhere = self.medium.copy();
        let medium: Arc<dyn Medium> = Arc::new(elsewhere.clone());
        let place = BackupPlace { files: Arc::clone(&medium) as _, folder: archive.into() };
        let summary = restore_to(&place, &medium, Path::new("/restored"), until);
        let summary = summary.map_err(|error| error.to_string())?;
        let server = Server::start(&elsewhere, "/restored", None)?;
        Ok((summary, server.state()?))
    }

    /// A bit of a file changes while the server is stopped: either nobody can tell, or the file is named.
    fn rot(&mut self) {
        if !self.unknown.is_empty() {
            return;
        }
        self.stop_and_start();
        // Of a file that could not be written at the end, the last commit is hardly to be told from a torn one.
        if !self.server().engine.unwritable().is_empty() {
            return;
        }
        self.server = None;
        let rotten = self.medium.copy();
        let files: Vec<PathBuf> = rotten.files();
        let file = self.numbers.one_of(&files).clone();
        let length = rotten.read_len(&file) as u64;
        if length > 0 {
            let (at, bit) = (self.numbers.below(length), self.numbers.below(8));
            rotten.damage(&file, |bytes| bytes[usize::try_from(at).expect("a small file")] ^= 1 << bit);
            let what = format!("bit {bit} of byte {at} of {} changed", file.display());
            self.trace.lines.push(format!("    {what}"));
            match Server::start(&rotten, DATA, self.archive).and_then(|server| server.state()) {
                Ok(found) => assert_eq!(found, self.known, "{what}"),
                Err(error) => assert!(error.contains("/data/"), "{what}: {error}"),
            }
        }
        self.restart("after a look at a rotten copy", |_| {});
    }
}

#[test]
fn a_seed_does_the_same_each_time() {
    for seed in 0..4 {
        assert_eq!(simulate(seed), simulate(seed), "seed {seed}");
    }
}

/// `SIMULATE_SEED` runs one seed; `SIMULATE_SEEDS` so many, from `SIMULATE_FIRST` on.
#[test]
fn nothing_acknowledged_is_lost_and_nothing_refused_is_there() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seeds = match number("SIMULATE_SEED") {
        Some(seed) => seed..seed + 1,
        None => {
            let first = number("SIMULATE_FIRST").unwrap_or(0);
            first..first + number("SIMULATE_SEEDS").unwrap_or(SHARE)
        }
    };
    let next = AtomicU64::new(seeds.start);
    let archived = AtomicU64::new(0);
    let is_archived = |two: &[String]| two[0].starts_with("Archive") && two[1].trim() == "Ok(())";
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds.end {
                        break;
                    }
                    let lines = simulate(seed);
                    let count = lines.windows(2).filter(|two| is_archived(two)).count() as u64;
                    archived.fetch_add(count, Ordering::Relaxed);
                    if (seed + 1).is_multiple_of(1000) {
                        eprintln!("{} seeds", seed + 1);
                    }
                }
            });
        }
    });
    let (seeds, archived) = (seeds.end - seeds.start, archived.into_inner());
    assert!(seeds < 10 || archived > 0, "nothing was archived with {seeds} seeds");
}
