//! `Client`: one session on a server.

use crate::address::Address;
use crate::answers::{Answer, Assembly, Inserted, type_name};
use crate::connection::{self, Connection, Replies, SideDoor};
use crate::credentials::Credentials;
use crate::errors::ClientError;
use crate::options::ExecuteOptions;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};
use stratalog_protocol::{
    Authenticated, Cancel, Execute, Insert, Request, RequestId, Response, Scope, Value,
};

/// What the network may add to the time a request was given.
const GRACE: Duration = Duration::from_secs(5);

/// A session on a server. Any number of tasks may use it at once.
///
/// ```no_run
/// # async fn example() -> Result<(), stratalog_client::ClientError> {
/// use stratalog_client::{Address, Client, Credentials, ExecuteOptions};
///
/// let address = "localhost:8080".parse::<Address>()?.graph("family");
/// let client = Client::connect_to(&address, Credentials::api_key("6f1e...")).await?;
/// let answer = client.execute("?parent(X, Y)", ExecuteOptions::default().limit(10)).await?;
/// assert_eq!(answer.columns, ["X", "Y"]);
/// # Ok(())
/// # }
/// ```
pub struct Client {
    connection: Connection,
    session: Authenticated,
    next_id: AtomicI64,
}

impl Client {
    /// Connects to the server at `url` and logs in.
    pub async fn connect(url: &str, credentials: Credentials) -> Result<Client, ClientError> {
        Client::connect_to(&url.parse()?, credentials).await
    }

    /// As [`Client::connect`], with an address that was read before.
    pub async fn connect_to(address: &Address, credentials: Credentials) -> Result<Client, ClientError> {
        let mut socket = connection::open(address).await?;
        let session = connection::log_in(&mut socket, credentials.into_request()).await?;
        Ok(Client { connection: Connection::start(socket), session, next_id: AtomicI64::new(1) })
    }

    /// The session as the server described it at login.
    pub fn session(&self) -> &Authenticated {
        &self.session
    }

    /// Runs a program and waits for its answer. Dropping the future stops the program.
    pub async fn execute(&self, program: &str, options: ExecuteOptions) -> Result<Answer, ClientError> {
        self.start(program, options).await?.answer().await
    }

    /// Sends a program without waiting for its answer, so that it can be stopped by its id.
    pub async fn start(&self, program: &str, options: ExecuteOptions) -> Result<Running, ClientError> {
        let time = options.timeout;
        let execute = Execute {
            program: program.to_owned(),
            params: options.params,
            timeout_ms: time.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX).max(1)),
            limit: options.limit,
            atomic: options.atomic,
            ..Execute::default()
        };
        self.request(Request::Execute(execute), time).await
    }

    /// Inserts facts that stay: all of them, or none when any is refused. One message carries them, so their JSON has
    /// to fit the server's `http.max_message_bytes` (64 MiB unless configured).
    pub async fn insert_rows(&self, relation: &str, rows: Vec<Vec<Value>>) -> Result<Inserted, ClientError> {
        self.insert(relation, rows, Scope::Persistent).await
    }

    /// As [`Client::insert_rows`], for facts of this session or of the graph.
    pub async fn insert(
        &self,
        relation: &str,
        rows: Vec<Vec<Value>>,
        scope: Scope,
    ) -> Result<Inserted, ClientError> {
        let insert = Insert { relation: relation.to_owned(), scope, rows: Some(rows), ..Insert::default() };
        let answer = self.request(Request::Insert(insert), None).await?.answer().await?;
        Inserted::try_from(&answer)
    }

    /// Stops a program that runs or waits; false when there was none of this id any more.
    pub async fn cancel(&self, target: RequestId) -> Result<bool, ClientError> {
        let answer = self.request(Request::Cancel(Cancel { target }), None).await?.answer().await?;
        Ok(answer.rows.first().and_then(|row| row.first()) == Some(&Value::Bool(true)))
    }

    /// Asks for a sign of life; tells how long it took.
    pub async fn ping(&self) -> Result<Duration, ClientError> {
        let mut running = self.request(Request::Ping, None).await?;
        match running.next().await? {
            Response::Pong => Ok(running.sent.elapsed()),
            other => Err(ClientError::protocol(format!("`{}` came for a pong", type_name(&other)))),
        }
    }

    /// Ends the session. Dropping the client does the same without waiting.
    pub async fn close(self) {
        self.connection.close().await;
    }

    async fn request(&self, request: Request, time: Option<Duration>) -> Result<Running, ClientError> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let replies = self.connection.send(request, id).await?;
        let side_door = self.connection.side_door();
        Ok(Running { id, replies, side_door, sent: Instant::now(), time, settled: false })
    }
}

/// A request that was sent. Dropping it before its answer came stops it.
pub struct Running {
    id: i64,
    replies: Replies,
    side_door: SideDoor,
    sent: Instant,
    time: Option<Duration>,
    /// Nothing is left that could be stopped.
    settled: bool,
}

impl Running {
    /// The id to give to [`Client::cancel`].
    pub fn id(&self) -> RequestId {
        RequestId::Number(self.id)
    }

    /// Waits for the answer.
    pub async fn answer(mut self) -> Result<Answer, ClientError> {
        let Some(time) = self.time else { return self.assemble().await };
        match tokio::time::timeout(time.saturating_add(GRACE), self.assemble()).await {
            Ok(answer) => answer,
            Err(_) => Err(ClientError::TimedOut(time)),
        }
    }

    async fn assemble(&mut self) -> Result<Answer, ClientError> {
        let mut assembly = Assembly::default();
        loop {
            let response = self.next().await?;
            if let Some(mut answer) = assembly.take(response)? {
                answer.round_trip = self.sent.elapsed();
                return Ok(answer);
            }
        }
    }

    async fn next(&mut self) -> Result<Response, ClientError> {
        let part = self.replies.recv().await;
        self.settled = !matches!(part, Some(Ok(Response::ResultStart(_) | Response::ResultChunk(_))));
        part.unwrap_or_else(|| Err(self.side_door.ending()))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.settled {
            self.side_door.try_send(Request::Cancel(Cancel { target: self.id() }));
        }
    }
}
#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::{SinkExt, StreamExt};
    use stratalog_protocol::{Code, Message};
    use tokio::net::TcpListener;
    use tokio_tungstenite::tungstenite::Message as Frame;
    use tokio_tungstenite::tungstenite::protocol::{CloseFrame, frame::coding::CloseCode};

    const WELCOME: &str = concat!(
        r#"{"type":"authenticated","session_id":"s","knowledge_graph":"default","version":"0.1.0","#,
        r#""role":"admin"}"#
    );

    /// A server for one connection that gives these frames for each message, and closes when it finds none.
    async fn server(answer: fn(&Request, i64) -> Vec<String>) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        tokio::spawn(async move {
            let (stream, _) = listener.accept().await.unwrap();
            let mut socket = tokio_tungstenite::accept_async(stream).await.unwrap();
            while let Some(Ok(frame)) = socket.next().await {
                let Frame::Text(text) = frame else { continue };
                let message = Message::parse(&text).unwrap();
                let id = match message.id {
                    Some(RequestId::Number(id)) => id,
                    Some(RequestId::Text(_)) | None => 0,
                };
                let frames = answer(&message.request, id);
                if frames.is_empty() {
                    let bye = CloseFrame { code: CloseCode::Away, reason: "shutting down".into() };
                    let _ = socket.close(Some(bye)).await;
                }
                for frame in frames {
                    socket.send(Frame::text(frame)).await.unwrap();
                }
            }
        });
        address
    }

    fn admin() -> Credentials {
        Credentials::password("admin", "secret")
    }

    #[tokio::test]
    async fn a_program_is_run_and_its_chunks_are_joined() {
        let address = server(|request, id| match request {
            Request::Login(login) if login.password.expose() == "secret" => vec![WELCOME.to_owned()],
            Request::Execute(execute) if execute.params.contains_key("n") && execute.limit == Some(5) => vec![
                r#"{"type":"rule_change","seq":1}"#.to_owned(),
                format!(
                    r#"{{"type":"result_start","id":{id},"columns":["X"],"total_count":2,"truncated":false,"execution_time_ms":1}}"#
                ),
                format!(r#"{{"type":"result_chunk","id":{id},"rows":[[1]],"chunk_index":0}}"#),
                format!(r#"{{"type":"result_chunk","id":{id},"rows":[[2.0]],"chunk_index":1}}"#),
                format!(r#"{{"type":"result_end","id":{id},"row_count":2,"chunk_count":2}}"#),
            ],
            Request::Ping => vec![format!(r#"{{"type":"pong","id":{id}}}"#)],
            _ => vec![],
        })
        .await;
        let client = Client::connect(&address, admin()).await.unwrap();
        assert_eq!(client.session().knowledge_graph, "default");
        let options = ExecuteOptions::default().param("n", 7_i64).limit(5);
        let answer = client.execute("?a(X)", options).await.unwrap();
        assert_eq!(answer.rows, [[Value::Int(1)], [Value::Float(2.0)]]);
        client.ping().await.unwrap();
        client.close().await;
    }

    #[tokio::test]
    async fn a_refused_login_is_told_from_a_missing_server() {
        let address =
            server(|_, _| vec![r#"{"type":"auth_error","message":"wrong name or password"}"#.to_owned()])
                .await;
        let refused = Client::connect(&address, admin()).await.err().unwrap();
        assert!(matches!(refused, ClientError::Authentication { message } if message.contains("wrong")));

        let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
        let missing = Client::connect(&free.to_string(), admin()).await.err().unwrap();
        assert!(matches!(missing, ClientError::Connect { .. }), "{missing}");
    }

    #[tokio::test]
    async fn a_lost_connection_ends_what_runs_and_what_follows() {
        let address = server(|request, _| match request {
            Request::Login(_) => vec![WELCOME.to_owned()],
            _ => vec![],
        })
        .await;
        let client = Client::connect(&address, admin()).await.unwrap();
        for _ in 0..2 {
            let error = client.execute("?a(X)", ExecuteOptions::default()).await.unwrap_err();
            assert!(
                matches!(&error, ClientError::Closed { code: Some(1001), reason } if reason == "shutting down")
            );
        }
    }

    #[tokio::test]
    async fn a_running_program_can_be_stopped() {
        let address = server(|request, id| match request {
            Request::Login(_) => vec![WELCOME.to_owned()],
            Request::Execute(_) => vec![r#"{"type":"kg_change","seq":1}"#.to_owned()],
            Request::Cancel(Cancel { target: RequestId::Number(target) }) => vec![
                format!(r#"{{"type":"error","id":{target},"code":"cancelled","message":"stopped"}}"#),
                format!(
                    r#"{{"type":"result","id":{id},"columns":["cancelled"],"rows":[[true]],"row_count":1,"total_count":1,"truncated":false,"execution_time_ms":0}}"#
                ),
            ],
            _ => vec![],
        })
        .await;
        let client = Client::connect(&address, admin()).await.unwrap();
        let running = client.start("?a(X)", ExecuteOptions::default()).await.unwrap();
        assert!(client.cancel(running.id()).await.unwrap());
        assert_eq!(running.answer().await.unwrap_err().code(), Some(Code::Cancelled));
    }
}
