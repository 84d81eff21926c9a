//! The numbers of notifications, which never repeat, also after a crash.
//!
//! They are reserved in blocks: a record beside the graphs names a number that none has passed yet, and a new start goes
//! on behind it. A server that stops in good order leaves the last number instead, so that no client finds a gap.

use std::sync::Arc;
use std::time::Duration;

use stratalog_engine::{Engine, Error};

use super::log::{BLOCK, EventLog};

/// The record of the last number that may have been given.
const RECORD: &str = "notifications";

/// How long after a failure the next attempt is made.
const RETRY: Duration = Duration::from_secs(1);

/// Starts a log of so many notifications and bytes, that hears of every commit of this engine.
pub(crate) fn open(engine: &Engine, capacity: usize, bytes: usize) -> Result<Arc<EventLog>, Error> {
    let last = match engine.records().get(RECORD) {
        None => 0,
        Some(content) => {
            let number = std::str::from_utf8(content).ok().and_then(|text| text.parse().ok());
            number.ok_or_else(|| Error::internal("notifications", "their last number cannot be read"))?
        }
    };
    reserve(engine, last + BLOCK)?;
    let log = Arc::new(EventLog::new(last, last + BLOCK, capacity, bytes));
    engine.listen(log.clone());
    Ok(log)
}

/// Reserves numbers whenever they are about to run out; never ends.
pub(crate) async fn keep(log: &EventLog, engine: &Engine) {
    loop {
        log.low.notified().await;
        let (engine, reserved) = (engine.clone(), log.last() + BLOCK);
        match tokio::task::spawn_blocking(move || reserve(&engine, reserved)).await {
            Ok(Ok(())) => log.extend(reserved),
            Ok(Err(error)) => {
                tracing::error!("cannot reserve numbers for notifications: {error}");
                tokio::time::sleep(RETRY).await;
                log.low.notify_one();
            }
            Err(error) => tracing::error!(%error, "reserving numbers for notifications panicked"),
        }
    }
}

/// Leaves the last number for the next start. Nothing may be committed any more.
pub(crate) fn settle(log: &EventLog, engine: &Engine) {
    if let Err(error) = reserve(engine, log.last()) {
        tracing::warn!("the last number of notifications is not kept, clients will find a gap: {error}");
    }
}

fn reserve(engine: &Engine, number: u64) -> Result<(), Error> {
    engine.set_records(&[(RECORD.to_owned(), Some(number.to_string().into_bytes()))])
}

#[cfg(test)]
mod tests {
    use stratalog_engine::{Budget, Engine, EngineOptions, Parameters, RunOptions, StorageOptions};
    use stratalog_protocol::Gap;
    use tempfile::TempDir;

    use super::{BLOCK, EventLog, open, settle};
    use crate::events::Read;

    fn engine(folder: &TempDir) -> Engine {
        Engine::open(EngineOptions::default(), StorageOptions::new(folder.path())).unwrap()
    }

    fn insert(engine: &Engine, number: u64) {
        let mut session = engine.open_session("default").unwrap();
        let prepared = session.prepare(&format!("+n({number})"), &Parameters::default()).unwrap();
        session.run(prepared, &RunOptions::default(), &Budget::unlimited()).unwrap();
    }

    /// What a session on `default` reads.
    fn read(engine: &Engine, log: &EventLog, after: u64) -> Read {
        log.read(after, engine.graph_id("default").unwrap())
    }

    fn numbers(engine: &Engine, log: &EventLog, after: u64) -> Vec<u64> {
        match read(engine, log, after) {
            Read::Notices { notices, to } => {
                assert_eq!(to, log.last());
                notices.iter().map(|notice| notice.seq).collect()
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn numbers_go_on_after_a_stop_and_jump_after_a_crash() {
        let folder = TempDir::new().unwrap();
        {
            let engine = engine(&folder);
            let log = open(&engine, 10, 1 << 20).unwrap();
            insert(&engine, 1);
            insert(&engine, 2);
            assert_eq!(numbers(&engine, &log, 0), [1, 2]);
            settle(&log, &engine);
        }
        {
            let engine = engine(&folder);
            let log = open(&engine, 10, 1 << 20).unwrap();
            assert!(matches!(read(&engine, &log, 2), Read::Nothing));
            assert!(matches!(read(&engine, &log, 1), Read::Gap(Gap { from: 2, to: 2 })));
            insert(&engine, 3);
            assert_eq!(numbers(&engine, &log, 2), [3]);
        }
        let engine = engine(&folder);
        let log = open(&engine, 10, 1 << 20).unwrap();
        assert!(matches!(read(&engine, &log, 3), Read::Gap(Gap { from: 4, to }) if to == 2 + BLOCK));
        insert(&engine, 4);
        assert_eq!(numbers(&engine, &log, 2 + BLOCK), [3 + BLOCK]);
    }

    #[test]
    fn what_happens_while_no_number_is_left_is_a_gap_for_everybody() {
        let folder = TempDir::new().unwrap();
        let engine = engine(&folder);
        let log = std::sync::Arc::new(EventLog::new(0, 1, 10, 1 << 20));
        engine.listen(log.clone());
        insert(&engine, 1);
        insert(&engine, 2);
        log.extend(5);
        assert!(matches!(read(&engine, &log, 1), Read::Gap(Gap { from: 2, to: 2 })));
        insert(&engine, 3);
        assert_eq!(numbers(&engine, &log, 2), [3]);
    }

    #[test]
    fn what_takes_too_many_bytes_is_forgotten_but_for_the_last() {
        let engine = Engine::in_memory(EngineOptions::default()).unwrap();
        let log = open(&engine, 1_000, 2_000).unwrap();
        (1..=100).for_each(|number| insert(&engine, number));
        let Read::Gap(Gap { from: 1, to }) = read(&engine, &log, 0) else { panic!("all are kept") };
        assert!((90..99).contains(&to), "{to}");
        let log = open(&engine, 1_000, 1).unwrap();
        insert(&engine, 101);
        insert(&engine, 102);
        assert_eq!(numbers(&engine, &log, log.last() - 1).len(), 1);
    }

    #[test]
    fn what_goes_on_elsewhere_is_passed_over() {
        let engine = Engine::in_memory(EngineOptions::default()).unwrap();
        let log = open(&engine, 10, 1 << 20).unwrap();
        insert(&engine, 1);
        let mut session = engine.open_session("default").unwrap();
        let mut run = |program: &str| {
            let prepared = session.prepare(program, &Parameters::default()).unwrap();
            session.run(prepared, &RunOptions::default(), &Budget::unlimited()).unwrap();
        };
        // Everybody may hear of a graph; of its facts those who are there.
        run(".kg create lab");
        run("+n(2)");
        run("+n(3)");
        insert(&engine, 4);
        let last = log.last();
        assert_eq!(numbers(&engine, &log, 0), [1, 2, last]);
        let lab = engine.graph_id("lab").unwrap();
        assert!(
            matches!(log.read(last - 1, lab), Read::Notices { notices, to } if notices.is_empty() && to == last)
        );
        assert!(matches!(log.read(0, lab), Read::Notices { notices, .. } if notices.len() == 3));
    }

    #[test]
    fn the_oldest_are_forgotten() {
        let engine = Engine::in_memory(EngineOptions::default()).unwrap();
        let log = open(&engine, 3, 1 << 20).unwrap();
        (1..=5).for_each(|number| insert(&engine, number));
        assert!(matches!(read(&engine, &log, 0), Read::Gap(Gap { from: 1, to: 2 })));
        assert_eq!(numbers(&engine, &log, 2), [3, 4, 5]);
        assert_eq!(numbers(&engine, &log, 4), [5]);
    }
}
