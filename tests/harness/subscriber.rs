//! One who has subscribed to a live query, and applies what is told. Whatever cannot be right is a panic: a delta about other
//! rows than those that are there, a row that comes twice, one that goes and was not there.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::server::{Connection, Frame, Server};

/// Rows as text, so that they can be sorted.
pub type RowSet = BTreeSet<String>;

/// The rows of a message.
pub fn set(rows: &Json) -> RowSet {
    rows.as_array().map(|rows| rows.iter().map(Json::to_string).collect()).unwrap_or_default()
}

/// One connection with one subscription.
#[derive(Debug)]
pub struct Subscriber {
    /// Nobody else reads it.
    pub connection: Connection,
    /// The `subscribe` that was sent.
    pub request: Json,
    /// The number of the subscription.
    pub number: Json,
    /// What to go on with.
    pub token: Json,
    /// The version of the rows.
    pub version: u64,
    /// The rows.
    pub copy: RowSet,
    /// The rows of a reset that is not complete.
    coming: RowSet,
}

impl Subscriber {
    /// Subscribes to a question.
    pub async fn new(server: &Server, question: &str) -> Subscriber {
        Subscriber::with(server.log_in().await, json!({"query": question})).await.expect("it is subscribed")
    }

    /// Sends a `subscribe` with these fields and reads its answer.
    pub async fn with(connection: Connection, request: Json) -> Result<Subscriber, Json> {
        let mut subscriber = Subscriber::unread(connection, request).await;
        subscriber.begin().await?;
        Ok(subscriber)
    }

    /// Sends it, and reads nothing.
    pub async fn unread(connection: Connection, mut request: Json) -> Subscriber {
        request["type"] = json!("subscribe");
        let mut subscriber = Subscriber {
            connection,
            request,
            number: Json::Null,
            token: Json::Null,
            version: 0,
            copy: RowSet::new(),
            coming: RowSet::new(),
        };
        subscriber.connection.send_json(subscriber.request.clone()).await;
        subscriber
    }

    /// Reads the answer; whether the rows of before stay.
    pub async fn begin(&mut self) -> Result<bool, Json> {
        let reply = self.connection.receive_json().await;
        if reply["type"] != "subscribed" {
            return Err(reply);
        }
        (self.number, self.token) = (reply["subscription"].clone(), reply["token"].clone());
        let resumed = reply["resumed"] == true;
        if resumed {
            assert_eq!(reply["version"], self.version, "{reply}");
        }
        self.coming.clear();
        Ok(resumed)
    }

    /// Comes back on another connection with what it knows.
    pub async fn resume(&mut self, connection: Connection) -> Result<bool, Json> {
        self.connection = connection;
        self.request["resume"] = json!({"token": self.token, "version": self.version});
        self.connection.send_json(self.request.clone()).await;
        self.begin().await
    }

    /// Sends another message, and applies what is told before its answer.
    pub async fn ask(&mut self, message: Json) -> Result<Json, Json> {
        self.connection.send_json(message).await;
        loop {
            let reply = self.connection.receive_json().await;
            if reply["type"] != "delta" {
                return Ok(reply);
            }
            self.apply(&reply)?;
        }
    }

    /// Applies a message; whether the copy is complete at a version since. An error is the end of the subscription.
    fn apply(&mut self, message: &Json) -> Result<bool, Json> {
        if message["type"] == "unsubscribed" {
            return Err(message.clone());
        }
        assert_eq!(
            (&message["type"], &message["subscription"]),
            (&json!("delta"), &self.number),
            "{message}"
        );
        let version = message["version"].as_u64().expect("a version");
        let last = message["last"] == true;
        if message["reset"] == true {
            self.coming.extend(set(&message["added"]));
            if last {
                (self.copy, self.version) = (std::mem::take(&mut self.coming), version);
            }
            return Ok(last);
        }
        assert_eq!(message["from"], self.version, "{message}");
        assert!(version > self.version, "{message}");
        for row in set(&message["removed"]) {
            assert!(self.copy.remove(&row), "{row} was not there: {message}");
        }
        for row in set(&message["added"]) {
            assert!(self.copy.insert(row.clone()), "{row} was there: {message}");
        }
        if last {
            self.version = version;
        }
        Ok(last)
    }

    /// Reads until the rows are complete at a later version.
    pub async fn next(&mut self) -> Result<(), Json> {
        loop {
            let message = self.connection.receive_json().await;
            if self.apply(&message)? {
                return Ok(());
            }
        }
    }

    /// Reads until nothing comes for a while; all copies with their versions.
    pub async fn all(&mut self, pause: Duration) -> Result<Vec<(u64, RowSet)>, Json> {
        let mut told = Vec::new();
        loop {
            match self.connection.receive_within(pause).await {
                Some(Frame::Text(message)) => {
                    if self.apply(&message)? {
                        told.push((self.version, self.copy.clone()));
                    }
                }
                Some(Frame::Closed(_)) | None => return Ok(told),
                Some(Frame::Binary(_)) => panic!("a binary frame"),
            }
        }
    }
}
