//! The real server executable on a free port, with a folder of its own; and the plainest client for it.
//!
//! The executable is `target/release/stratalog-server`, or what `STRATALOG_SERVER` names.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value as Json, json};
use tempfile::TempDir;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{self, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, client_async, connect_async_with_config};

use crate::times::PATIENCE;

/// The password of `admin` on every test server.
pub const PASSWORD: &str = "lovelace-1843";

/// Messages that the server sends unasked.
const NOTIFICATIONS: [&str; 4] = ["persistent_update", "rule_change", "kg_change", "schema_change"];

/// A running server. It ends with this value.
#[derive(Debug)]
pub struct Server {
    process: Child,
    address: String,
    log: Arc<Mutex<String>>,
    /// Its folder, if it is its own.
    _folder: Option<TempDir>,
}

/// A server that did not start.
#[derive(Debug)]
pub struct Refusal {
    /// Its exit code.
    pub code: Option<i32>,
    /// What it wrote to standard error.
    pub log: String,
}

impl Server {
    /// Starts a server and waits until it listens.
    pub fn start() -> Server {
        Server::start_with(&[])
    }

    /// The same, with settings by the names of their environment variables.
    pub fn start_with(settings: &[(&str, &str)]) -> Server {
        let folder = TempDir::new().expect("a temporary folder");
        let mut server = Server::start_in(folder.path(), settings);
        server._folder = Some(folder);
        server
    }

    /// The same in this folder, which it does not remove.
    pub fn start_in(folder: &Path, settings: &[(&str, &str)]) -> Server {
        Server::launch(&mut Server::command(folder, settings))
            .unwrap_or_else(|refusal| panic!("the server ended before it listened:\n{}", refusal.log))
    }

    /// The command that starts a server in a folder, on a free port unless the settings name one.
    pub fn command(folder: &Path, settings: &[(&str, &str)]) -> Command {
        let executable = executable();
        assert!(
            executable.exists(),
            "{} is missing: run `cargo build --release -p stratalog-server`, or set STRATALOG_SERVER",
            executable.display()
        );
        let mut command = Command::new(executable);
        command
            .current_dir(folder)
            .env("SERVICE_HTTP__PORT", "0")
            .env("SERVICE_ADMIN_PASSWORD", PASSWORD)
            .envs(settings.iter().copied());
        command
    }

    /// Starts a server and waits until it listens, or has ended before.
    pub fn launch(command: &mut Command) -> Result<Server, Refusal> {
        let mut process = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let mut lines = BufReader::new(process.stderr.take().expect("standard error is piped"));
        let mut log = String::new();
        let address = loop {
            let mut line = String::new();
            if lines.read_line(&mut line).unwrap_or(0) == 0 {
                // It has closed its standard error, and ends.
                let status = process.wait().expect("the server is a child of this process");
                return Err(Refusal { code: status.code(), log });
            }
            log.push_str(&line);
            if let Some((_, url)) = line.split_once("listening on ")
                && let Some((_, address)) = url.split_once("://")
            {
                break address.trim().to_owned();
            }
        };
        let log = Arc::new(Mutex::new(log));
        let rest = Arc::clone(&log);
        // Reads until the server ends, so that a full pipe never stops it.
        std::thread::spawn(move || {
            for line in lines.lines().map_while(Result::ok) {
                let mut log = rest.lock().expect("no panic while logging");
                log.push_str(&line);
                log.push('\n');
            }
        });
        Ok(Server { process, address, log, _folder: None })
    }

    /// Where [`Connection::open`] connects to.
    pub fn url(&self) -> String {
        format!("ws://{}/ws", self.address)
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Asks it to stop, as a supervisor would.
    pub fn terminate(&self) {
        let sent = Command::new("kill").arg(self.pid().to_string()).status().expect("kill runs");
        assert!(sent.success(), "the server is there");
    }

    /// Its exit status, once it has ended.
    pub fn wait(&mut self) -> Option<i32> {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.process.try_wait().expect("it is our child") {
                return status.code();
            }
            assert!(Instant::now() < until, "the server does not end:\n{}", self.log());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Asks it to stop, and waits until it has ended in order.
    pub fn stop(mut self) {
        self.terminate();
        assert_eq!(self.wait(), Some(0), "{}", self.log());
    }

    /// Waits until something is so.
    pub async fn until(&self, what: &str, is_so: impl Fn() -> bool) {
        let begun = Instant::now();
        while !is_so() {
            assert!(begun.elapsed() < PATIENCE, "{what}:\n{}", self.log());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Everything that the server wrote so far.
    pub fn log(&self) -> String {
        self.log.lock().expect("no panic while logging").clone()
    }

    /// Whether the process still runs.
    pub fn is_running(&mut self) -> bool {
        matches!(self.process.try_wait(), Ok(None))
    }

    /// Sends one HTTP GET; answers status, headers in lower case, and body.
    pub fn get(&self, path: &str) -> (u16, String, String) {
        self.get_with(path, "")
    }

    /// The same with further header lines, each with its end of line.
    pub fn get_with(&self, path: &str, headers: &str) -> (u16, String, String) {
        self.request("GET", path, headers)
    }

    /// The same with any method.
    pub fn request(&self, method: &str, path: &str, headers: &str) -> (u16, String, String) {
        let mut stream = TcpStream::connect(&self.address).expect("the server accepts connections");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout can be set");
        let host = &self.address;
        let request =
            format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n");
        stream.write_all(request.as_bytes()).expect("the request is sent");
        let mut reply = String::new();
        stream.read_to_string(&mut reply).expect("the server answers and closes");
        let (head, body) = reply.split_once("\r\n\r\n").expect("headers end with an empty line");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status line");
        (status, head.to_ascii_lowercase(), body.to_owned())
    }

    /// A connection that has not said who it is.
    pub async fn connect(&self) -> Connection {
        self.connect_to("/ws").await.expect("the server accepts WebSocket connections")
    }

    /// The same, at some path.
    pub async fn connect_to(&self, path: &str) -> Result<Connection, tungstenite::Error> {
        let (socket, _) =
            connect_async_with_config(format!("ws://{}{path}", self.address), Some(socket_config()), false)
                .await?;
        Ok(Connection::new(socket))
    }

    /// The same, with further header lines in its handshake.
    pub async fn connect_with(
        &self,
        path: &str,
        headers: &[(&'static str, &str)],
    ) -> Result<Connection, tungstenite::Error> {
        let mut request = format!("ws://{}{path}", self.address).into_client_request()?;
        for (name, value) in headers {
            request.headers_mut().append(*name, value.parse().expect("a header"));
        }
        let (socket, _) = connect_async_with_config(request, Some(socket_config()), false).await?;
        Ok(Connection::new(socket))
    }

    /// Memory of the process that is in use, in bytes.
    pub fn resident(&self) -> u64 {
        self.memory("VmRSS:")
    }

    /// The most memory of the process that was ever in use, in bytes.
    pub fn peak(&self) -> u64 {
        self.memory("VmHWM:")
    }

    fn memory(&self, which: &str) -> u64 {
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", self.pid())).expect("the server runs");
        let line = status.lines().find_map(|line| line.strip_prefix(which)).expect("a line of memory");
        let kilobytes = line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number");
        kilobytes << 10
    }

    /// Where it listens.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The same, with a small buffer for what arrives.
    pub async fn connect_narrow(&self, path: &str) -> Connection {
        let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
        socket.set_recv_buffer_size(4096).expect("a buffer size");
        let stream = socket.connect(self.address.parse().expect("an address")).await.expect("a connection");
        let url = format!("ws://{}{path}", self.address);
        let (socket, _) = client_async(url, MaybeTlsStream::Plain(stream)).await.expect("a WebSocket");
        Connection::new(socket)
    }

    /// A connection without any bytes sent, from some address of this machine, such as 127.0.0.2.
    pub async fn tcp_from(&self, address: &str) -> tokio::net::TcpStream {
        let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
        socket.bind(format!("{address}:0").parse().expect("an address")).expect("an address of this machine");
        socket.connect(self.address.parse().expect("an address")).await.expect("a connection")
    }

    /// A WebSocket from some address of this machine.
    pub async fn connect_from(&self, address: &str) -> Result<Connection, tungstenite::Error> {
        let stream = MaybeTlsStream::Plain(self.tcp_from(address).await);
        let (socket, _) = client_async(format!("ws://{}/ws", self.address), stream).await?;
        Ok(Connection::new(socket))
    }

    /// A connection of `admin`.
    pub async fn log_in(&self) -> Connection {
        self.log_in_as("admin", PASSWORD).await
    }

    /// A connection of any user.
    pub async fn log_in_as(&self, username: &str, password: &str) -> Connection {
        let mut connection = self.connect().await;
        let reply = connection.log_in_as(username, password).await;
        assert_eq!(reply["type"], "authenticated", "{reply}");
        connection
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to do.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// With buffers of 128 KiB, as usual, many connections on one machine would measure themselves.
fn socket_config() -> WebSocketConfig {
    WebSocketConfig::default().read_buffer_size(16 << 10)
}

fn executable() -> PathBuf {
    match std::env::var_os("STRATALOG_SERVER") {
        Some(path) => path.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/release/stratalog-server"),
    }
}

/// What arrives on a connection.
#[derive(Debug, Clone, PartialEq)]
pub enum Frame {
    /// A text frame that holds JSON.
    Text(Json),
    /// A binary frame.
    Binary(Vec<u8>),
    /// The end, with its code.
    Closed(Option<u16>),
}

/// A WebSocket connection that sends and receives JSON as it is.
#[derive(Debug)]
pub struct Connection {
    socket: WebSocketStream<MaybeTlsStream<tokio::net::TcpStream>>,
    /// Notifications that came while something else was awaited.
    told: VecDeque<Json>,
}

impl Connection {
    fn new(socket: WebSocketStream<MaybeTlsStream<tokio::net::TcpStream>>) -> Connection {
        Connection { socket, told: VecDeque::new() }
    }

    /// A connection of `admin`, while the server may be dying.
    pub async fn open(url: &str) -> Result<Connection, tungstenite::Error> {
        let (socket, _) = connect_async_with_config(url, Some(socket_config()), false).await?;
        let mut connection = Connection::new(socket);
        let login = json!({"type": "login", "username": "admin", "password": PASSWORD});
        match connection.try_ask(login).await {
            Some(reply) if reply["type"] == "authenticated" => Ok(connection),
            _ => Err(tungstenite::Error::ConnectionClosed),
        }
    }

    /// Runs a program; nothing if the connection ends first.
    pub async fn try_execute(&mut self, program: &str) -> Option<Json> {
        self.try_ask(json!({"type": "execute", "program": program})).await
    }

    async fn try_ask(&mut self, message: Json) -> Option<Json> {
        self.socket.send(Message::text(message.to_string())).await.ok()?;
        match self.receive_within(PATIENCE).await? {
            Frame::Text(json) => Some(json),
            Frame::Binary(_) | Frame::Closed(_) => None,
        }
    }

    /// Sends any frame.
    pub async fn send(&mut self, message: Message) {
        self.socket.send(message).await.expect("the connection is open");
    }

    /// Sends a JSON message.
    pub async fn send_json(&mut self, message: Json) {
        self.send(Message::text(message.to_string())).await;
    }

    /// The next frame that is neither a ping nor a notification.
    pub async fn receive(&mut self) -> Frame {
        self.receive_within(PATIENCE).await.expect("the server answers in time")
    }

    /// The same, or nothing if none comes in time.
    pub async fn receive_within(&mut self, time: Duration) -> Option<Frame> {
        tokio::time::timeout(time, async {
            loop {
                match self.next().await {
                    Frame::Text(json) if NOTIFICATIONS.iter().any(|kind| json["type"] == *kind) => {
                        self.told.push_back(json);
                    }
                    other => return other,
                }
            }
        })
        .await
        .ok()
    }

    /// The next notification, or the error that tells of a gap.
    pub async fn notification(&mut self) -> Json {
        if let Some(told) = self.told.pop_front() {
            return told;
        }
        match tokio::time::timeout(PATIENCE, self.next()).await.expect("the server tells in time") {
            Frame::Text(json) => json,
            other => panic!("expected a notification, received {other:?}"),
        }
    }

    /// Lets go of the notifications that came so far.
    pub fn forget_notifications(&mut self) {
        self.told.clear();
    }

    /// The next message as it is.
    pub async fn next_unread(&mut self) -> Message {
        loop {
            match self.socket.next().await {
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                message => return message.expect("the connection is open").expect("frames are sound"),
            }
        }
    }

    /// The next frame that is no ping.
    pub async fn next(&mut self) -> Frame {
        loop {
            match self.socket.next().await {
                Some(Ok(Message::Text(text))) => {
                    return Frame::Text(serde_json::from_str(&text).expect("text frames hold JSON"));
                }
                Some(Ok(Message::Binary(bytes))) => return Frame::Binary(bytes.to_vec()),
                Some(Ok(Message::Close(close))) => {
                    return Frame::Closed(close.map(|close| close.code.into()));
                }
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {}
                Some(Err(_)) | None => return Frame::Closed(None),
            }
        }
    }

    /// The next message.
    pub async fn receive_json(&mut self) -> Json {
        match self.receive().await {
            Frame::Text(json) => json,
            other => panic!("expected a JSON message, received {other:?}"),
        }
    }

    /// Sends a message and receives one.
    pub async fn ask(&mut self, message: Json) -> Json {
        self.send_json(message).await;
        self.receive_json().await
    }

    /// Logs in as `admin`; answers the reply.
    pub async fn log_in(&mut self, password: &str) -> Json {
        self.log_in_as("admin", password).await
    }

    /// Logs in as any user; answers the reply.
    pub async fn log_in_as(&mut self, username: &str, password: &str) -> Json {
        self.ask(json!({"type": "login", "username": username, "password": password})).await
    }

    /// Logs in with an API key; answers the reply.
    pub async fn authenticate(&mut self, key: &str) -> Json {
        self.ask(json!({"type": "authenticate", "api_key": key})).await
    }

    /// Runs a program.
    pub async fn execute(&mut self, program: &str) -> Json {
        self.ask(json!({"type": "execute", "program": program})).await
    }

    /// Runs a program that must succeed; answers its rows.
    pub async fn rows(&mut self, program: &str) -> Json {
        let reply = self.execute(program).await;
        assert_eq!(reply["type"], "result", "{program}: {reply}");
        reply["rows"].clone()
    }

    /// All rows of a program that must succeed, however they come.
    pub async fn all_rows(&mut self, program: &str) -> Vec<Json> {
        self.send_json(json!({"type": "execute", "program": program})).await;
        let mut rows = Vec::new();
        loop {
            let mut reply = self.receive_json().await;
            if let Some(more) = reply["rows"].as_array_mut() {
                rows.append(more);
            }
            match reply["type"].as_str() {
                Some("result" | "result_end") => return rows,
                Some("result_start" | "result_chunk") => {}
                _ => panic!("{program}: {reply}"),
            }
        }
    }

    /// Creates an API key of this user.
    pub async fn new_key(&mut self, label: &str) -> String {
        let reply = self.execute(&format!(".apikey create {label}")).await;
        assert_eq!(reply["columns"], json!(["api_key", "label"]), "{reply}");
        assert_eq!(reply["rows"][0][1], label);
        reply["rows"][0][0].as_str().expect("a key").to_owned()
    }

    /// It is told with this word that its session has ended, and closed.
    pub async fn assert_ended(&mut self, word: &str) {
        let Frame::Text(reply) = self.receive().await else { panic!("a last word") };
        assert_eq!(reply["code"], "access_denied", "{reply}");
        assert!(reply["message"].as_str().is_some_and(|text| text.contains(word)), "{reply}");
        assert_eq!(self.closed(&[]).await, Some(1008));
    }

    /// Waits for the close; answers its code. Panics if anything but `allowed` messages comes first.
    pub async fn closed(&mut self, allowed: &[&str]) -> Option<u16> {
        loop {
            match self.receive().await {
                Frame::Closed(code) => return code,
                Frame::Text(json) if allowed.iter().any(|kind| json["type"] == *kind) => {}
                other => panic!("expected the end, received {other:?}"),
            }
        }
    }
}
