//! Somebody who follows a question.

use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use stratalog_engine::{Budget, Next, Parameters, Rows, RunOptions, Session, Subscription, Waker};

/// Somebody who is told what changes of an answer.
#[derive(Debug)]
pub struct Follower {
    subscription: Subscription,
    woken: Receiver<()>,
    version: u64,
}

impl Follower {
    /// Subscribes.
    pub fn of(session: &Session, question: &str) -> Follower {
        let (wake, woken) = channel();
        let waker = Waker::new(move || {
            // Whoever is gone needs not be woken.
            let _ = wake.send(());
        });
        let prepared = session.prepare(question, &Parameters::new()).expect("a question");
        let subscription = session.subscribe(prepared, waker, &Budget::unlimited()).expect("an answer");
        let version = subscription.begun().version;
        Follower { subscription, woken, version }
    }

    /// The answer to begin with.
    pub fn begun(&self) -> &Rows {
        &self.subscription.begun().rows
    }

    /// Waits until it is known what has changed up to a version.
    pub fn catch_up(&mut self, version: u64) -> Vec<Next> {
        while self.subscription.version() < version {
            // Where the answer stays as it is, nobody is woken.
            let _ = self.woken.recv_timeout(Duration::from_micros(20));
        }
        let mut told = Vec::new();
        while self.version < version {
            let next = self.subscription.next(self.version, false).expect("an answer");
            self.version = match &next {
                Next::Delta { version, .. } | Next::Nothing { version } | Next::Reset { version, .. } => {
                    *version
                }
                Next::Ended { error, .. } => panic!("{error}"),
            };
            told.push(next);
        }
        told
    }
}

/// Runs a program as one commit; answers its version.
pub fn commit(session: &mut Session, program: &str) -> u64 {
    let prepared = session.prepare(program, &Parameters::new()).expect("a program");
    let options = RunOptions { atomic: true, ..RunOptions::default() };
    session.run(prepared, &options, &Budget::unlimited()).expect("it is done").version
}
