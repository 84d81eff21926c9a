//! Clients that ask one thing after the other, each on a connection of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use tokio::task::JoinSet;

use super::figures::Figures;
use super::mix::{Kind, Mix};
use crate::server::{Connection, Server};

/// All connections of one run.
#[derive(Debug)]
pub struct Fleet {
    clients: Vec<Client>,
}

#[derive(Debug)]
struct Client {
    connection: Connection,
    number: usize,
    random: u64,
    facts: u64,
    mix: Mix,
    /// The fact that this client has inserted and not deleted yet.
    inserted: Option<u64>,
}

impl Fleet {
    /// So many connections, which ask about what [`prepare`](super::prepare) has made.
    pub async fn connect(server: &Server, key: &str, mix: &Mix, facts: u64, connections: usize) -> Fleet {
        let mut clients = Vec::new();
        for number in 0..connections {
            let mut connection = server.connect().await;
            assert_eq!(connection.authenticate(key).await["type"], "authenticated");
            let random = 0x9e37_79b9_7f4a_7c15 ^ number as u64;
            clients.push(Client { connection, number, random, facts, mix: mix.clone(), inserted: None });
        }
        Fleet { clients }
    }

    /// Lets all of them ask for a while.
    pub async fn run(&mut self, time: Duration) -> Figures {
        let until = Instant::now() + time;
        self.ask_while(move || Instant::now() < until).await
    }

    /// Lets all of them together ask so many times.
    pub async fn ask(&mut self, times: u64) -> Figures {
        let asked = Arc::new(AtomicU64::new(0));
        self.ask_while(move || asked.fetch_add(1, Ordering::Relaxed) < times).await
    }

    async fn ask_while(&mut self, goes_on: impl Fn() -> bool + Clone + Send + 'static) -> Figures {
        let mut running = JoinSet::new();
        for mut client in self.clients.drain(..) {
            let goes_on = goes_on.clone();
            running.spawn(async move {
                let mut figures = Figures::default();
                while goes_on() {
                    client.ask(&mut figures).await;
                }
                (client, figures)
            });
        }
        let mut all = Figures::default();
        while let Some(done) = running.join_next().await {
            let (client, figures) = done.expect("a client does not panic");
            self.clients.push(client);
            all.add(figures);
        }
        all
    }
}

impl Client {
    async fn ask(&mut self, figures: &mut Figures) {
        let random = self.next_random();
        let kind = self.mix.draw(random);
        let node = self.next_random() % self.facts;
        let left = 9 - node % 10;
        let (program, expected) = match kind {
            Kind::Point => ("?edge($n, X)".to_owned(), Expected::Rows(left.min(1))),
            Kind::Join => ("?edge($n, X), label(X, Name)".to_owned(), Expected::Rows(left.min(1))),
            Kind::Reach => ("?reach($n, X)".to_owned(), Expected::Rows(left)),
            // Each fact is deleted again, so that data does not grow, and memory should not either.
            Kind::Insert => match self.inserted.take() {
                None => {
                    self.inserted = Some(node);
                    (format!("+seen({}, $n)", self.number), Expected::Change)
                }
                Some(node) => (format!("-seen({}, {node})", self.number), Expected::Change),
            },
            Kind::Session => (format!("own({}, $n)", self.number), Expected::Change),
        };
        let mut message = json!({"type": "execute", "program": program});
        if program.contains("$n") {
            message["params"] = json!({"n": node});
        }
        let start = Instant::now();
        let reply = self.connection.ask(message).await;
        match expected.check(&reply) {
            true => figures.answered(kind, start.elapsed()),
            false => figures.failed(format!("{program} with {node}: {reply}")),
        }
        if kind == Kind::Session {
            let cleared = self.connection.execute(".session clear").await;
            assert_eq!(cleared["type"], "result", "{cleared}");
        }
    }

    /// The generator xorshift64.
    fn next_random(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random >> 8
    }
}

/// What a right answer has.
enum Expected {
    Rows(u64),
    Change,
}

impl Expected {
    fn check(&self, reply: &Json) -> bool {
        reply["type"] == "result"
            && match self {
                Expected::Rows(count) => reply["row_count"].as_u64() == Some(*count),
                Expected::Change => true,
            }
    }
}
