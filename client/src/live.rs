//! `Live`: the answer to a query, as it changes.
//!
//! It has a connection of its own, which is opened again when it is lost. The server tells which rows came and went since the
//! version that is known here, so nothing is missed or told twice. What is told while nobody asks waits, and when that
//! is much, the server is not listened to: it then tells the rest as one change, or all that was missed once the connection is
//! opened again.

mod change;

pub use change::LiveChange;

use crate::address::Address;
use crate::connection::{self, Connection};
use crate::credentials::Credentials;
use crate::errors::ClientError;
use crate::numbers;
use crate::options::LiveOptions;
use crate::retry::Retry;
use crate::stream::out_of_turn;
use crate::waiting::{Kind, Piece, Replies};
use std::collections::VecDeque;
use stratalog_protocol::{Delta, Format, Request, Response, Resume, Subscribe, Subscribed, Unsubscribed};

/// The answer to a query, told as it changes: all rows, and from then on those that come and those that go.
///
/// ```no_run
/// # async fn example(client: stratalog_client::Client) -> Result<(), stratalog_client::ClientError> {
/// use stratalog_client::LiveOptions;
/// use stratalog_client::files::rows;
///
/// let mut live = client.live("?reach($from, Y)", LiveOptions::default().param("from", 7)).await?;
/// while let Some(change) = live.next().await? {
///     if change.reset {
///         eprintln!("these are all rows:");
///     }
///     for batch in &change.removed {
///         eprintln!("- {} rows", batch.num_rows());
///     }
///     for batch in &change.added {
///         eprintln!("+ {:?}", rows(batch));
///     }
/// }
/// # Ok(())
/// # }
/// ```
///
/// A connection that is lost is opened again, as often as it takes, and the query goes on where it was. What is wrong with
/// the query, and why there is no answer any more, are errors. Futures of its methods may be let go; nothing is lost by that.
pub struct Live {
    address: Address,
    credentials: Credentials,
    /// What is asked, with what is known here to go on with.
    request: Subscribe,
    link: Option<Link>,
    columns: Vec<String>,
    warnings: Vec<String>,
    /// The version up to and with which everything has come.
    told: u64,
    /// Changes that have come, each with what to go on with after it.
    ahead: VecDeque<(LiveChange, Resume)>,
    /// What to go on with after the last change that was taken from here.
    given: Option<Resume>,
    retry: Retry,
    is_over: bool,
}

/// A connection on which the query is subscribed to.
struct Link {
    connection: Connection,
    replies: Replies,
    subscription: u64,
    token: String,
    /// The part whose rows come next.
    announced: Option<Delta>,
    /// The parts that have come.
    change: LiveChange,
}

/// The id of the one request on a connection.
const ID: i64 = 1;

impl Live {
    /// Connects, logs in and subscribes. What is wrong with the query is told at once.
    pub async fn connect(
        address: &Address,
        credentials: Credentials,
        query: &str,
        options: LiveOptions,
    ) -> Result<Live, ClientError> {
        for (name, value) in &options.params {
            numbers::check([value], || format!("the parameter `${name}`"))?;
        }
        let given = options.resume.as_deref().map(resume).transpose()?;
        let request = Subscribe {
            query: query.to_owned(),
            params: options.params,
            format: Format::Arrow,
            every_version: options.every_version,
            progress: options.progress,
            resume: given.clone(),
        };
        let mut live = Live {
            address: address.clone(),
            credentials,
            request,
            link: None,
            columns: Vec::new(),
            warnings: Vec::new(),
            told: 0,
            ahead: VecDeque::new(),
            given,
            retry: Retry::forever(),
            is_over: false,
        };
        live.open().await?;
        Ok(live)
    }

    /// Waits for the next change, the first of which has all rows, unless the query goes on from a token that is still good.
    /// An error says why there will be none; after it there is `None`.
    pub async fn next(&mut self) -> Result<Option<LiveChange>, ClientError> {
        while self.ahead.is_empty() && !self.is_over {
            self.advance().await?;
        }
        Ok(self.ahead.pop_front().map(|(change, known)| {
            self.given = Some(known);
            change
        }))
    }

    /// Waits until the answer at this version or a later one is known, and gives the changes up to it. It takes
    /// [`LiveOptions::progress`], as a version that changes nothing is not told. That of one's own write is
    /// [`Answer::version`](crate::Answer::version) or [`Inserted::version`](crate::Inserted::version).
    pub async fn wait(&mut self, version: u64) -> Result<Vec<LiveChange>, ClientError> {
        if !self.request.progress {
            let problem = "a live query without progress cannot wait for a version";
            return Err(ClientError::invalid(problem, "ask for it: `LiveOptions::default().progress()`"));
        }
        while self.told < version && !self.is_over {
            self.advance().await?;
        }
        if let Some((_, known)) = self.ahead.back() {
            self.given = Some(known.clone());
        }
        Ok(self.ahead.drain(..).map(|(change, _)| change).collect())
    }

    /// The names of the columns, of which no two have the same.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// What is good to know about the query.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The version of the last change that was taken; 0 before the first.
    pub fn version(&self) -> u64 {
        self.given.as_ref().map_or(0, |known| known.version)
    }

    /// What [`LiveOptions::resume`] goes on with, after the last change that was taken; nothing before the first.
    pub fn token(&self) -> Option<String> {
        self.given.as_ref().map(|known| format!("{}@{}", known.token, known.version))
    }

    /// Ends it. Dropping it does the same without waiting.
    pub async fn close(self) {
        if let Some(link) = self.link {
            link.connection.close().await;
        }
    }

    /// Takes what comes next, on a connection that is opened again if it must.
    async fn advance(&mut self) -> Result<(), ClientError> {
        let advanced = match &mut self.link {
            Some(link) => match link.replies.next().await {
                Ok(piece) => self.take(piece),
                Err(lost) => Err(lost),
            },
            None => self.open().await.map(|()| false),
        };
        match advanced {
            Ok(true) => self.retry = Retry::forever(), // a connection that is worth something
            Ok(false) => {}
            Err(error) => {
                self.link = None;
                if let Err(error) = self.retry.wait(error).await {
                    self.is_over = true;
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    async fn open(&mut self) -> Result<(), ClientError> {
        let (socket, _) = connection::enter(&self.address, &self.credentials).await?;
        let connection = Connection::start(socket);
        let request = Request::Subscribe(self.request.clone());
        let mut replies = connection.send(request, ID, Kind::Reads).await?;
        let subscribed = match replies.next().await? {
            Piece::Message(Response::Subscribed(subscribed)) => subscribed,
            Piece::Message(Response::Error(failure)) => return Err(ClientError::Refused(Box::new(failure))),
            Piece::Message(other) => return Err(out_of_turn(&other)),
            Piece::Frame(_) => return Err(ClientError::protocol("rows came before their columns")),
        };
        let Subscribed { subscription, columns, names, resumed, token, metadata, .. } = subscribed;
        self.columns = names.unwrap_or(columns);
        self.warnings = metadata.map(|metadata| metadata.warnings).unwrap_or_default();
        self.request.resume = match self.request.resume.take() {
            Some(Resume { version, .. }) if resumed => Some(Resume { token: token.clone(), version }),
            _ => None, // all rows come
        };
        self.told = self.known();
        let change = LiveChange::default();
        self.link = Some(Link { connection, replies, subscription, token, announced: None, change });
        Ok(())
    }

    /// The version of the rows that have come; 0 before there are any.
    fn known(&self) -> u64 {
        self.request.resume.as_ref().map_or(0, |known| known.version)
    }

    /// Takes a piece of what is told. True after one that is worth something by itself.
    fn take(&mut self, piece: Piece) -> Result<bool, ClientError> {
        let Some(link) = &mut self.link else { return Ok(false) };
        match piece {
            Piece::Message(Response::Delta(delta)) => {
                if delta.subscription != link.subscription || delta.format != Some(Format::Arrow) {
                    return Err(ClientError::protocol("something else is told than was asked for"));
                }
                link.announced = Some(delta);
                Ok(false)
            }
            Piece::Frame(rows) => {
                let Some(delta) = link.announced.take() else {
                    return Err(ClientError::protocol("a binary frame came that nobody asked for"));
                };
                link.change.take(rows)?;
                if delta.last {
                    self.complete(&delta)?;
                }
                Ok(delta.last)
            }
            Piece::Message(Response::Progress(progress)) => {
                self.told = self.told.max(progress.version);
                Ok(true)
            }
            Piece::Message(Response::Unsubscribed(Unsubscribed { error: Some(failure), .. })) => {
                Err(ClientError::Refused(failure))
            }
            Piece::Message(other) => Err(out_of_turn(&other)),
        }
    }

    /// A change is there when its last part is.
    fn complete(&mut self, delta: &Delta) -> Result<(), ClientError> {
        let Some(link) = &mut self.link else { return Ok(()) };
        let (version, known) = (delta.version, self.request.resume.as_ref().map(|known| known.version));
        if !delta.reset && (delta.from.is_none() || delta.from != known) {
            let version =
                |version: Option<u64>| version.map_or("none".to_owned(), |version| version.to_string());
            return Err(ClientError::protocol(format!(
                "it is told what came after version {}; known is version {}",
                version(delta.from),
                version(known)
            )));
        }
        let mut change = std::mem::take(&mut link.change);
        (change.version, change.reset) = (version, delta.reset);
        change.columns.clone_from(&self.columns);
        let known = Resume { token: link.token.clone(), version };
        self.request.resume = Some(known.clone());
        self.told = if delta.reset { version } else { self.told.max(version) };
        if delta.reset {
            self.ahead.clear(); // nobody needs what it takes the place of
        }
        self.ahead.push_back((change, known));
        Ok(())
    }
}

/// What a [`Live::token`] stands for.
fn resume(token: &str) -> Result<Resume, ClientError> {
    let parts = token.trim().rsplit_once('@');
    let read = parts.and_then(|(token, version)| {
        let version = version.parse().ok()?;
        (!token.is_empty()).then(|| Resume { token: token.to_owned(), version })
    });
    read.ok_or_else(|| {
        let problem = format!("`{token}` is no token of a live query");
        ClientError::invalid(problem, "give one that a live query has told: text, `@` and a version")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_read_as_it_is_written() {
        let read = resume("6f3c-01@412").unwrap();
        assert_eq!((read.token.as_str(), read.version), ("6f3c-01", 412));
        assert_eq!(resume("a@b@7\n").unwrap().token, "a@b");
        for wrong in ["", "@7", "6f3c", "6f3c@", "6f3c@-1", "6f3c@x"] {
            assert!(matches!(resume(wrong), Err(ClientError::Invalid { .. })), "{wrong}");
        }
    }
}
