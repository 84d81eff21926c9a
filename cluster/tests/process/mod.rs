//! `stratalog-cluster` as processes, asked over a socket.

#![allow(dead_code, unreachable_pub, reason = "not all of what suites share is used in each")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::stream::MaybeTlsStream;
use tokio_tungstenite::tungstenite::{Message, WebSocket, connect};

const PASSWORD: &str = "a password of this test";

/// A recursion that does not fall apart: it takes rounds.
pub const SAME: &str =
    "same(X, Y) <- edge(X, Y)\nsame(X, Z) <- same(X, Y), same(Y, Z)\n?count<X>, count<Y> <- same(X, Y)";
/// One that does: parts are worked on by themselves.
pub const PATH: &str =
    "path(X, Y) <- edge(X, Y)\npath(X, Z) <- path(X, Y), edge(Y, Z)\n?count<X>, count<Y> <- path(X, Y)";
/// Joins and a negation.
pub const APART: &str =
    "two(X, Z) <- edge(X, Y), edge(Y, Z)\napart(X, Z) <- two(X, Z), !edge(X, Z)\n?count<X> <- apart(X, _)";

/// A server that is killed when it is dropped, if not before.
pub struct Server {
    process: Child,
    url: String,
}

impl Server {
    pub fn start(data: &Path) -> Server {
        Server::start_with(data, &[])
    }

    /// With these variables of its environment.
    pub fn start_with(data: &Path, variables: &[(&str, String)]) -> Server {
        let mut process = Command::new(env!("CARGO_BIN_EXE_stratalog-cluster"))
            .args(["server", "--port", "0", "--data-dir"])
            .arg(data)
            .env("SERVICE_ADMIN_PASSWORD", PASSWORD)
            .envs(variables.iter().map(|(name, value)| (name, value)))
            .stderr(Stdio::piped())
            .spawn()
            .expect("a server");
        let told = BufReader::new(process.stderr.take().expect("what it says"));
        let mut lines = told.lines().map(|line| line.expect("a line"));
        let address = lines.find_map(|line| Some(line.split_once("listening on http://")?.1.to_owned()));
        std::thread::spawn(move || lines.for_each(drop));
        Server { process, url: format!("ws://{}/ws", address.expect("where it listens").trim()) }
    }

    pub fn connect(&self) -> Connection {
        let (socket, _) = connect(&self.url).expect("a socket");
        let mut connection = Connection(socket);
        let greeting = connection.ask(&json!({ "type": "login", "username": "admin", "password": PASSWORD }));
        assert_eq!(greeting["type"], "authenticated", "{greeting}");
        connection
    }

    pub fn kill(&mut self) {
        self.process.kill().expect("it runs");
        self.process.wait().expect("it has ended");
    }

    /// Tells it to end; answers whether it did so well.
    pub fn end(&mut self) -> bool {
        let told = Command::new("kill").arg(self.process.id().to_string()).status();
        assert!(told.expect("a command").success());
        self.process.wait().expect("it has ended").success()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub struct Connection(WebSocket<MaybeTlsStream<TcpStream>>);

impl Connection {
    pub fn send(&mut self, request: &Value) {
        self.0.send(Message::text(request.to_string())).expect("it is sent");
    }

    pub fn ask(&mut self, request: &Value) -> Value {
        self.send(request);
        self.answer()
    }

    pub fn answer(&mut self) -> Value {
        loop {
            let message = self.0.read().expect("an answer");
            let Message::Text(text) = message else { continue };
            let answer: Value = serde_json::from_str(&text).expect("JSON");
            // What has changed is told in between.
            if answer["type"] != "persistent_update" {
                return answer;
            }
        }
    }

    pub fn run(&mut self, program: &str, place: &str) -> Value {
        self.ask(&json!({ "type": "execute", "program": program, "place": place }))
    }
}

/// An executor that is killed when it is dropped, if not before.
pub struct Executor(Child);

impl Executor {
    pub fn start(server: SocketAddr, store: &Path, folder: &Path) -> Executor {
        Executor::of(Executor::command(server, &store.display().to_string(), folder))
    }

    /// What starts one, to be added to.
    pub fn command(server: SocketAddr, store: &str, folder: &Path) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stratalog-cluster"));
        command.args(["executor", "--threads", "1", "--server", &server.to_string(), "--store", store]);
        command.arg("--folder").arg(folder);
        command
    }

    pub fn of(mut command: Command) -> Executor {
        Executor(command.spawn().expect("an executor"))
    }

    pub fn kill(&mut self) {
        self.0.kill().expect("it runs");
        self.0.wait().expect("it has ended");
    }
}

impl Drop for Executor {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// An address of this machine that nobody has.
pub fn free_address() -> SocketAddr {
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    free.local_addr().expect("its address")
}

/// Whether an executor has worked: what is on its way between stages is in its folder for a while.
pub fn has_worked(folder: &Path) -> bool {
    fs::read_dir(folder.join("under_way")).into_iter().flatten().next().is_some()
}

/// Chains of three edges, more than what is tried in memory first.
pub fn insert_chains(connection: &mut Connection) {
    const CHAINS: u32 = 360_000;
    const AT_ONCE: u32 = 20_000;
    for first in (0..CHAINS).step_by(AT_ONCE as usize) {
        let edges = (first..first + AT_ONCE).flat_map(|chain| (0..3).map(move |edge| 4 * chain + edge));
        let all: Vec<String> = edges.map(|n| format!("({n}, {})", n + 1)).collect();
        let inserted = connection.run(&format!("+edge[{}]", all.join(", ")), "auto");
        assert_eq!(inserted["type"], "result", "{inserted}");
    }
    connection.run(".kg cluster on", "auto");
}
