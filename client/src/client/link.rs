//! The connection of a client: opened again when it was lost, to the same session if that is still there.

use super::Client;
use crate::address::Address;
use crate::connection::{self, Connection};
use crate::credentials::Credentials;
use crate::errors::ClientError;
use crate::retry::Retry;
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use stratalog_protocol::{Authenticated, Code};

/// A connection, and the session that it opened.
pub(super) struct Link {
    pub(super) connection: Connection,
    pub(super) session: Arc<Authenticated>,
}

impl Client {
    /// The connection; opened again if it was lost.
    pub(super) async fn link(&self, retry: &mut Retry) -> Result<Arc<Link>, ClientError> {
        let link = self.last_link();
        if link.connection.is_open() {
            return Ok(link);
        }
        let _opening = self.opening.lock().await;
        loop {
            let link = self.last_link();
            if link.connection.is_open() {
                return Ok(link);
            }
            if self.reconnect.is_zero() || link.connection.is_dismissed() {
                return Err(link.connection.ending().await);
            }
            match self.open_again(&link.session).await {
                Ok((opened, same)) => {
                    let session = Arc::clone(&opened.session);
                    *self.link.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(opened);
                    self.place().come_back(session, same)?;
                }
                Err(error) if error.is_disconnect() => wait_before_repeating(error, retry).await?,
                Err(error) => return Err(error),
            }
        }
    }

    /// Another connection, to the same session if it is still there; whether it is.
    async fn open_again(&self, session: &Authenticated) -> Result<(Link, bool), ClientError> {
        let address = self.address.clone().session(&session.session_id);
        match open(&address, &self.credentials).await {
            Ok(link) => Ok((link, true)),
            Err(ClientError::Refused(_) | ClientError::Connect { missing: true, .. }) => {
                let address = self.address.clone().graph(&self.graph());
                Ok((open(&address, &self.credentials).await?, false))
            }
            Err(error) => Err(error),
        }
    }
}

pub(super) async fn open(address: &Address, credentials: &Credentials) -> Result<Link, ClientError> {
    let mut socket = connection::open(address).await?;
    let session = connection::log_in(&mut socket, credentials.clone().into_request()).await?;
    Ok(Link { connection: Connection::start(socket), session: Arc::new(session) })
}

/// Waits before another attempt at what only reads, where there is to be one.
pub(super) async fn wait_before_repeating(error: ClientError, retry: &mut Retry) -> Result<(), ClientError> {
    let at_least = match &error {
        error if error.is_disconnect() => Duration::ZERO,
        ClientError::Refused(failure) => match (failure.code, failure.retry_after_ms) {
            (Code::Overloaded | Code::LimitExceeded, Some(wait)) => Duration::from_millis(wait),
            _ => return Err(error),
        },
        _ => return Err(error),
    };
    match retry.pause(at_least) {
        Some(pause) => tokio::time::sleep(pause).await,
        None => return Err(error),
    }
    Ok(())
}
