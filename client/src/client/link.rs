//! The connection of a client: opened again when it was lost, to the same session if that is still there.

use super::Client;
use crate::address::Address;
use crate::connection::{self, Connection};
use crate::credentials::Credentials;
use crate::errors::ClientError;
use crate::retry::Retry;
use std::sync::{Arc, PoisonError};
use stratalog_protocol::Authenticated;

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
                Err(error) if error.is_disconnect() => retry.wait(error).await?,
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
    let (socket, session) = connection::enter(address, credentials).await?;
    Ok(Link { connection: Connection::start(socket), session: Arc::new(session) })
}
