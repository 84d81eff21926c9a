//! `stratalog events`: what changes, a line each, until a person or a closed pipe ends it.

use crate::diagnostics::Source;
use crate::exit::Exit;
use crate::notices::Notices;
use std::io::{self, Write};
use stratalog_client::{Address, ClientError, Credentials, Events, Told};

/// Writes events as they come.
pub(crate) async fn run(
    address: &Address,
    credentials: Credentials,
    since: Option<u64>,
    notices: Notices,
) -> Exit {
    let ended = tokio::select! {
        ended = write(address, credentials, since) => ended,
        Ok(()) = tokio::signal::ctrl_c() => return Exit::Interrupted,
    };
    match ended {
        Ok(()) => Exit::Done,
        Err(error) => {
            notices.refusal(&error, Source::NONE);
            Exit::from(&error)
        }
    }
}

/// Ends where nobody reads any more.
async fn write(address: &Address, credentials: Credentials, since: Option<u64>) -> Result<(), ClientError> {
    let mut events = Events::connect(address, credentials, since).await?;
    loop {
        let line = match events.next().await? {
            Told::Notification(notification) => serde_json::json!(notification),
            Told::Gap(gap) => serde_json::json!({ "type": "gap", "gap": gap }),
        };
        let mut out = io::stdout().lock();
        if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
            return Ok(());
        }
    }
}
