//! `Events`: what changes on a server. They have a connection of their own, which is made again when it is lost.

use crate::address::Address;
use crate::connection::{self, Socket};
use crate::credentials::Credentials;
use crate::errors::ClientError;
use crate::goodbye::{closed, goodbye};
use crate::retry::Retry;
use futures_util::StreamExt;
use stratalog_protocol::{Gap, Notification, Reply, Response};
use tokio_tungstenite::tungstenite::Message as Frame;

/// The notifications of one graph, as they come.
pub struct Events {
    address: Address,
    credentials: Credentials,
    last_seq: Option<u64>,
    socket: Option<Socket>,
}

/// What the server tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    /// Something has changed.
    Notification(Notification),
    /// Notifications were perhaps missed: what they could be about has to be read again. The numbers are not known where
    /// the connection was lost before there was any.
    Gap(Option<Gap>),
}

impl Events {
    /// Connects and logs in. `last_seq` is the number of the last notification that was seen.
    pub async fn connect(
        address: &Address,
        credentials: Credentials,
        last_seq: Option<u64>,
    ) -> Result<Events, ClientError> {
        let mut events = Events { address: address.clone(), credentials, last_seq, socket: None };
        events.socket = Some(events.open().await?);
        Ok(events)
    }

    /// The number of the last notification.
    pub fn last_seq(&self) -> Option<u64> {
        self.last_seq
    }

    /// Waits for the next. An error says why there will be none.
    pub async fn next(&mut self) -> Result<Told, ClientError> {
        let mut retry = Retry::forever();
        loop {
            if let Some(socket) = &mut self.socket {
                match next(socket).await {
                    Ok(told) => return Ok(self.note(told)),
                    Err(error) if error.is_disconnect() => self.socket = None,
                    Err(error) => return Err(error),
                }
            }
            match self.open().await {
                Ok(socket) => {
                    self.socket = Some(socket);
                    if self.last_seq.is_none() {
                        return Ok(Told::Gap(None));
                    }
                }
                Err(error) => retry.wait(error).await?,
            }
        }
    }

    async fn open(&self) -> Result<Socket, ClientError> {
        let address = self.address.clone();
        let address = match self.last_seq {
            Some(seq) => address.since(seq),
            None => address,
        };
        let (socket, _) = connection::enter(&address, &self.credentials).await?;
        Ok(socket)
    }

    fn note(&mut self, told: Told) -> Told {
        match &told {
            Told::Notification(notification) => self.last_seq = Some(notification.seq),
            Told::Gap(Some(gap)) => {
                // Numbers from the future are taken back: the server goes on below them.
                let is_future = self.last_seq.is_some_and(|seq| seq >= gap.to);
                self.last_seq = Some(if is_future { gap.from.saturating_sub(1) } else { gap.to });
            }
            Told::Gap(None) => {}
        }
        told
    }
}

async fn next(socket: &mut Socket) -> Result<Told, ClientError> {
    loop {
        let text = match socket.next().await {
            Some(Ok(Frame::Text(text))) => text,
            Some(Ok(Frame::Close(frame))) => return Err(goodbye(frame)),
            Some(Ok(_)) => continue,
            Some(Err(error)) => return Err(closed(error.to_string())),
            None => return Err(goodbye(None)),
        };
        // What a later version may push beside is let go.
        match Reply::parse(&text).map(|reply| reply.response) {
            Ok(Response::Notification(notification)) => return Ok(Told::Notification(notification)),
            Ok(Response::Error(failure)) if failure.gap.is_some() => return Ok(Told::Gap(failure.gap)),
            Ok(_) | Err(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_may_begin_with_the_first_number() {
        let address = "localhost:1".parse().unwrap();
        let credentials = Credentials::api_key("k");
        let mut events = Events { address, credentials, last_seq: Some(9), socket: None };
        let gap: Gap = serde_json::from_value(serde_json::json!({ "from": 0, "to": 3 })).unwrap();
        events.note(Told::Gap(Some(gap)));
        assert_eq!(events.last_seq(), Some(0));
    }
}
