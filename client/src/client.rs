//! `Client`: one session on a server, on whatever connection carries it at the moment.

mod link;
mod writes;

use crate::address::Address;
use crate::answers::Answer;
use crate::credentials::Credentials;
use crate::effects::{self, Effects};
use crate::errors::ClientError;
use crate::live::Live;
use crate::numbers;
use crate::options::{ExecuteOptions, LiveOptions};
use crate::retry::Retry;
use crate::running::{Place, Running};
use crate::stream::Batches;
use crate::waiting::{Kind, Piece};
use link::{Link, open};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use stratalog_protocol::{
    Annotation, Authenticated, Cancel, Check, Execute, Format, Request, RequestId, Response, Value,
};

/// How long a client tries to connect again, unless told otherwise.
const RECONNECT: Duration = Duration::from_secs(10);

/// A session on a server. Any number of tasks may use it at once; the server runs their requests in order.
///
/// A connection that was lost is opened again with the next request, for up to ten seconds
/// ([`Client::reconnecting`]). The client comes back to its session, with the facts and rules of that, for a minute;
/// afterwards, or when the server was restarted, to a new session on the same graph. Requests that only read are
/// repeated. Everything else is sent once, and [`ClientError::is_uncertain`] says whether it may have taken effect.
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
    address: Address,
    credentials: Credentials,
    reconnect: Duration,
    /// The connection that was opened last.
    link: Mutex<Arc<Link>>,
    /// Held while another one is opened.
    opening: tokio::sync::Mutex<()>,
    next_id: AtomicI64,
    place: Arc<Mutex<Place>>,
}

impl Client {
    /// Connects to the server at `url` and logs in.
    pub async fn connect(url: &str, credentials: Credentials) -> Result<Client, ClientError> {
        Client::connect_to(&url.parse()?, credentials).await
    }

    /// As [`Client::connect`], with an address that was read before.
    pub async fn connect_to(address: &Address, credentials: Credentials) -> Result<Client, ClientError> {
        let link = open(address, &credentials).await?;
        let place = Place::new(Arc::clone(&link.session));
        Ok(Client {
            address: address.clone(),
            credentials,
            reconnect: RECONNECT,
            link: Mutex::new(Arc::new(link)),
            opening: tokio::sync::Mutex::default(),
            next_id: AtomicI64::new(1),
            place: Arc::new(Mutex::new(place)),
        })
    }

    /// Tries to connect again for so long after a connection was lost; zero turns that off, and reads are not repeated
    /// either.
    #[must_use]
    pub fn reconnecting(mut self, time: Duration) -> Client {
        self.reconnect = time;
        self
    }

    /// The session as the server described it at login.
    pub fn session(&self) -> Arc<Authenticated> {
        Arc::clone(&self.place().session)
    }

    /// The knowledge graph that the session is bound to.
    pub fn graph(&self) -> String {
        self.place().graph.clone()
    }

    /// Runs a program and waits for its answer. Dropping the future stops the program.
    pub async fn execute(&self, program: &str, options: ExecuteOptions) -> Result<Answer, ClientError> {
        self.answer(program, effects::of(program), &options).await
    }

    /// What is wrong with a program, and what deserves a second look, on the graph and session that this client is bound to.
    /// Nothing of it runs, and its parameters may have any value.
    pub async fn check(&self, program: &str) -> Result<Vec<Annotation>, ClientError> {
        let mut retry = Retry::within(self.reconnect);
        loop {
            match self.checked(program, &mut retry).await {
                Ok(Piece::Message(Response::Checked(checked))) => return Ok(checked.diagnostics),
                Ok(Piece::Message(Response::Error(failure))) => {
                    return Err(ClientError::Refused(Box::new(failure)));
                }
                Ok(_) => return Err(ClientError::protocol("something else came for what was checked")),
                Err(error) => retry.wait(error).await?,
            }
        }
    }

    async fn checked(&self, program: &str, retry: &mut Retry) -> Result<Piece, ClientError> {
        let link = self.link(retry).await?;
        let check = Request::Check(Check { program: program.to_owned() });
        self.request(&link, check, None, Kind::Reads).await?.next().await
    }

    /// Runs a command, which is repeated after a lost connection if it only reads.
    pub(crate) async fn command(&self, text: &str, reads: bool) -> Result<Answer, ClientError> {
        let effects = Effects { writes: !reads, touches_session: false, asks: false };
        self.answer(text, effects, &ExecuteOptions::default()).await
    }

    async fn answer(
        &self,
        program: &str,
        effects: Effects,
        options: &ExecuteOptions,
    ) -> Result<Answer, ClientError> {
        let mut retry = Retry::within(self.reconnect);
        loop {
            let running = self.begin(program, effects, options, Format::Json, &mut retry).await?;
            match running.answer().await {
                Err(error) if !effects.writes => retry.wait(error).await?,
                answer => return answer,
            }
        }
    }

    /// Runs a program and reads its rows while they come, as Arrow batches. No more than a few of them are held.
    ///
    /// ```no_run
    /// # async fn example(client: stratalog_client::Client) -> Result<(), stratalog_client::ClientError> {
    /// use stratalog_client::ExecuteOptions;
    ///
    /// let mut batches = client.stream("?number(N)", ExecuteOptions::default()).await?;
    /// while let Some(batch) = batches.next().await? {
    ///     eprintln!("{} rows", batch.num_rows());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// While a stream is open, other requests of the same client wait behind it, and what is left of it has to be kept.
    /// A connection that is lost before the first batch is opened again; one that is lost later is an error, and never
    /// a shorter answer.
    pub async fn stream(&self, program: &str, options: ExecuteOptions) -> Result<Batches, ClientError> {
        let effects = effects::of(program);
        let mut retry = Retry::within(self.reconnect);
        loop {
            let running = self.begin(program, effects, &options, Format::Arrow, &mut retry).await?;
            match running.batches().await {
                Err(error) if !effects.writes => retry.wait(error).await?,
                batches => return batches,
            }
        }
    }

    /// Asks to be told the answer to a query as it changes, on a connection of its own and the graph that the session is bound to
    /// now. The query knows nothing of the session: neither its facts and rules nor where it goes later.
    pub async fn live(&self, query: &str, options: LiveOptions) -> Result<Live, ClientError> {
        let address = self.address.clone().graph(&self.graph());
        Live::connect(&address, self.credentials.clone(), query, options).await
    }

    /// Sends a program without waiting for its answer, so that it can be stopped by its id. It is not repeated when the
    /// connection is lost.
    pub async fn start(&self, program: &str, options: ExecuteOptions) -> Result<Running, ClientError> {
        self.send(program, &options, Format::Json).await
    }

    /// As [`Client::start`], for [`Running::batches`].
    pub async fn start_stream(&self, program: &str, options: ExecuteOptions) -> Result<Running, ClientError> {
        self.send(program, &options, Format::Arrow).await
    }

    /// Stops a program that runs or waits; false when there was none of this id any more.
    pub async fn cancel(&self, target: RequestId) -> Result<bool, ClientError> {
        let cancel = Request::Cancel(Cancel { target });
        let answer = self.request(&self.last_link(), cancel, None, Kind::Aside).await?.answer().await?;
        Ok(answer.rows.first().and_then(|row| row.first()) == Some(&Value::Bool(true)))
    }

    /// Stops whatever this client has running or waiting; each such request ends with the code `cancelled`, unless it was
    /// quicker.
    pub async fn cancel_running(&self) -> Result<(), ClientError> {
        for id in self.last_link().connection.requests() {
            self.cancel(RequestId::Number(id)).await?;
        }
        Ok(())
    }

    /// Whether a request of this client runs or waits.
    pub fn is_waiting(&self) -> bool {
        !self.last_link().connection.requests().is_empty()
    }

    /// Whether one of them changes something, so that leaving now would leave its outcome open.
    pub fn is_writing(&self) -> bool {
        self.last_link().connection.is_writing()
    }

    /// Asks for a sign of life; tells how long it took.
    pub async fn ping(&self) -> Result<Duration, ClientError> {
        let link = self.link(&mut Retry::within(self.reconnect)).await?;
        let sent = Instant::now();
        match self.request(&link, Request::Ping, None, Kind::Aside).await?.next().await? {
            Piece::Message(Response::Pong) => Ok(sent.elapsed()),
            _ => Err(ClientError::protocol("something else came for a pong")),
        }
    }

    /// Ends the session. Dropping the client does the same without waiting.
    pub async fn close(self) {
        self.last_link().connection.close().await;
    }

    async fn send(
        &self,
        program: &str,
        options: &ExecuteOptions,
        format: Format,
    ) -> Result<Running, ClientError> {
        let mut retry = Retry::within(self.reconnect);
        self.begin(program, effects::of(program), options, format, &mut retry).await
    }

    /// Sends a program, on a connection that is opened again if it must.
    async fn begin(
        &self,
        program: &str,
        effects: Effects,
        options: &ExecuteOptions,
        format: Format,
        retry: &mut Retry,
    ) -> Result<Running, ClientError> {
        for (name, value) in &options.params {
            numbers::check([value], || format!("the parameter `${name}`"))?;
        }
        let time = options.timeout;
        let execute = Execute {
            program: program.to_owned(),
            params: options.params.clone(),
            format,
            timeout_ms: time.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX).max(1)),
            limit: options.limit,
            atomic: options.atomic,
            replace_rules: options.replace_rules,
            place: options.place,
            progress: options.progress.is_some(),
            in_place: false,
        };
        let kind = if effects.writes { Kind::Writes } else { Kind::Reads };
        loop {
            let link = self.link(retry).await?;
            self.will_touch_session(effects.touches_session);
            match self.request(&link, Request::Execute(execute.clone()), time, kind).await {
                Ok(running) => return Ok(running.asking(effects.asks).watched(options.progress.clone())),
                Err(error) => retry.wait(error).await?, // nothing was sent
            }
        }
    }

    /// Sends a request; after an error, nothing was sent.
    async fn request(
        &self,
        link: &Link,
        request: Request,
        time: Option<Duration>,
        kind: Kind,
    ) -> Result<Running, ClientError> {
        let id = self.next_id();
        let replies = link.connection.send(request, id, kind).await?;
        Ok(Running::new(id, replies, &link.connection, time, kind == Kind::Writes, &self.place))
    }

    fn next_id(&self) -> i64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    fn will_touch_session(&self, touches: bool) {
        if touches {
            self.place().own = true;
        }
    }

    fn place(&self) -> MutexGuard<'_, Place> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner) // no code panics while it holds the lock
    }

    fn last_link(&self) -> Arc<Link> {
        Arc::clone(&self.link.lock().unwrap_or_else(PoisonError::into_inner))
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
    async fn a_lost_connection_ends_what_runs_and_says_whether_it_may_have_happened() {
        let address = server(|request, _| match request {
            Request::Login(_) => vec![WELCOME.to_owned()],
            _ => vec![],
        })
        .await;
        let client = Client::connect(&address, admin()).await.unwrap().reconnecting(Duration::ZERO);
        for (program, sent) in [("+a(1)", true), ("+a(1)", false), ("?a(X)", false)] {
            let error = client.execute(program, ExecuteOptions::default()).await.unwrap_err();
            assert!(
                matches!(&error, ClientError::Closed { code: Some(1001), reason, .. } if reason == "shutting down")
            );
            assert_eq!(error.is_uncertain(), sent, "{program}");
        }
    }

    #[tokio::test]
    async fn what_was_never_sent_is_not_uncertain() {
        let address = server(|request, _| match request {
            Request::Login(_) => vec![WELCOME.to_owned()],
            _ => vec![],
        })
        .await;
        let client = Client::connect(&address, admin()).await.unwrap().reconnecting(Duration::ZERO);
        let link = client.link(&mut Retry::within(Duration::ZERO)).await.unwrap();
        client.ping().await.unwrap_err(); // the server hangs up
        let error = client.request(&link, Request::Ping, None, Kind::Writes).await.err().unwrap();
        assert!(error.is_disconnect() && !error.is_uncertain(), "{error}");
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
