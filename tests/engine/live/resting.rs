//! Questions that rest, whoever does not want to wait for that, and whoever comes meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use stratalog_engine::{LiveOptions, Next, Session, Waker};

use super::reader::{Reader, Rest, engine, session, set, subscribe, tell, wait_until};

/// Somebody who reads when they are woken, and how often that was.
struct Woken {
    reader: Reader,
    wakes: Arc<AtomicU64>,
}

fn woken(session: &Session, question: &'static str, every_version: bool) -> Woken {
    let wakes = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&wakes);
    let waker = Waker::new(move || {
        count.fetch_add(1, Ordering::SeqCst);
    });
    Woken { reader: Reader::woken_by(waker, session, question, every_version), wakes }
}

#[test]
fn whoever_rests_is_told_several_versions_as_one_and_who_wants_each_is_told_each() {
    const REST: u64 = 50;
    let engine = engine(LiveOptions { pace: Arc::new(Rest(REST)), ..LiveOptions::default() });
    let mut writer = session(&engine);
    tell(&mut writer, "+p(0)");
    let (mut each, mut some) = (woken(&writer, "?p(X)", true), woken(&writer, "?p(X)", false));
    let mut alone = woken(&writer, "?p(X), X >= 0", false);
    let (started, mut told, mut taken) = (Instant::now(), Vec::new(), 0);
    for n in 1..300 {
        let version = tell(&mut writer, &format!("+p({n})"));
        each.reader.catch_up(version).expect("an answer");
        assert_eq!(each.reader.version, version);
        told.push(version);
        let wakes = some.wakes.load(Ordering::SeqCst);
        if wakes > taken {
            taken = wakes;
            some.reader.catch_up(0).expect("an answer");
        }
    }
    let rests = started.elapsed().as_millis() as u64 / REST;
    // Who rests is woken when that is over, without another commit.
    for rested in [&mut some, &mut alone] {
        let before = rested.reader.version;
        wait_until(|| {
            rested.reader.catch_up(0).expect("an answer");
            rested.reader.version == *told.last().expect("a version")
        });
        assert!(rested.reader.version >= before);
        assert_eq!(rested.reader.copy, each.reader.copy);
        // When a rest is over, of what came meanwhile, and with what the next one begins after.
        let wakes = rested.wakes.load(Ordering::SeqCst);
        assert!((1..=2 * rests + 3).contains(&wakes), "{wakes} times in {rests} rests");
    }
    assert!(each.wakes.load(Ordering::SeqCst) >= told.len() as u64);
}

#[test]
fn who_wants_each_version_is_told_each_however_many_wait_when_a_rest_ends() {
    for rest in [1, 5] {
        let engine = engine(LiveOptions { pace: Arc::new(Rest(rest)), ..LiveOptions::default() });
        let mut writer = session(&engine);
        tell(&mut writer, "+p(0)");
        let mut each = Reader::new(&writer, "?p(X)", true);
        let _some = Reader::new(&writer, "?p(X)", false);
        // So many that some wait, and not so many that they are too many to wait.
        let told: Vec<u64> = (1..400).map(|n| tell(&mut writer, &format!("+p({n})"))).collect();
        wait_until(|| each.subscription.version() >= told[told.len() - 1]);
        let mut versions = Vec::new();
        while each.read().expect("an answer") {
            versions.push(each.version);
        }
        assert_eq!(versions, told, "rests of {rest} ms");
    }
}

#[test]
fn whoever_comes_while_others_rest_sees_what_is_there() {
    let engine = engine(LiveOptions { pace: Arc::new(Rest(3_600_000)), ..LiveOptions::default() });
    let mut writer = session(&engine);
    tell(&mut writer, "+p(0)");
    let Woken { reader: mut first, wakes } = woken(&writer, "?p(X)", false);
    let version = tell(&mut writer, "+p(1)");
    first.catch_up(version).expect("an answer");
    // What concerns nobody does not wait for the end of a rest.
    let version = tell(&mut writer, "+q(1)");
    wait_until(|| first.subscription.version() >= version);
    assert!(
        matches!(first.subscription.next(first.version, false), Ok(Next::Nothing { version: v }) if v == version)
    );
    let version = tell(&mut writer, "+p(2)");
    std::thread::sleep(Duration::from_millis(50));
    assert!(first.subscription.version() < version, "they rest for an hour");
    let Woken { reader: mut second, wakes: wakes_of_second } = woken(&writer, "?p(X)", false);
    wait_until(|| second.version == version || wakes_of_second.load(Ordering::SeqCst) > 0);
    for reader in [&mut first, &mut second] {
        reader.catch_up(version).expect("an answer");
        assert_eq!((reader.version, reader.copy.len()), (version, 3));
    }
    assert_eq!(wakes.load(Ordering::SeqCst), 1, "whoever rests goes on resting");
}

#[test]
fn whoever_begins_while_others_are_brought_further_is_brought_there_too() {
    let engine = Arc::new(engine(LiveOptions::default()));
    let mut writer = session(&engine);
    let facts: Vec<String> = (0..2_000).map(|n| format!("({n})")).collect();
    tell(&mut writer, &format!("+p[{}]", facts.join(", ")));
    let _first = subscribe(&writer, "?p(X), X != -1").expect("a subscription");
    for round in 0..300 {
        let committed = {
            let engine = Arc::clone(&engine);
            std::thread::spawn(move || tell(&mut session(&engine), &format!("+p({})", 10_000 + round)))
        };
        let subscription = subscribe(&writer, &format!("?p(X), X != {round}")).expect("a subscription");
        let version = committed.join().expect("it does not panic");
        wait_until(|| subscription.version() >= version);
        let known = set(&subscription.begun().rows).len();
        let told = match subscription.next(subscription.begun().version, false).expect("an answer") {
            Next::Delta { delta, .. } => delta.added.row_count(),
            Next::Nothing { .. } => 0,
            other => panic!("{other:?}"),
        };
        assert_eq!(known + told, 2_000 + round);
    }
}
