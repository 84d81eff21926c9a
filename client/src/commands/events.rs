//! `stratalog events`: what changes, a line each, until a person or a closed pipe ends it.

use crate::diagnostics::Source;
use crate::exit::Exit;
use crate::interrupts::Interrupts;
use crate::notices::Notices;
use crate::script::{Ended, apart};
use std::io::{self, Write};
use stratalog_client::{Address, Credentials, Events, Told};

/// Writes events as they come.
pub(crate) async fn run(
    address: &Address,
    credentials: Credentials,
    since: Option<u64>,
    notices: Notices,
    interrupts: &Interrupts,
) -> Exit {
    let ended = tokio::select! {
        Err(ended) = write(address, credentials, since) => ended,
        () = interrupts.requested() => return Exit::Interrupted,
    };
    if ended.is_enough() {
        return Exit::Done;
    }
    ended.tell(notices, Source::NONE);
    Exit::from(&ended)
}

/// Ends with an error alone: where nobody reads any more, that is one.
async fn write(
    address: &Address,
    credentials: Credentials,
    since: Option<u64>,
) -> Result<std::convert::Infallible, Ended> {
    let mut events = Events::connect(address, credentials, since).await?;
    loop {
        let line = match events.next().await? {
            Told::Notification(notification) => serde_json::json!(notification),
            Told::Gap(gap) => serde_json::json!({ "type": "gap", "gap": gap }),
        };
        apart(move || {
            let mut out = io::stdout().lock();
            writeln!(out, "{line}").and_then(|()| out.flush())
        })
        .await?;
    }
}
