//! A question to the database that the command line names, if it names one, from commands that can do without.

use crate::arguments::{ConnectionArguments, MEMORY};
use crate::exit::Exit;
use crate::opened::Opened;
use crate::settings::{self, Settings, System};
use std::fmt;
use stratalog_client::{Client, ClientError};
use stratalog_server::EmbeddedError;
use tokio::runtime::Builder;

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum Unanswered {
    /// The command line makes no sense.
    Usage(String),
    /// The folder cannot be opened.
    Closed(EmbeddedError),
    /// The server is not there, or does not answer.
    Refused(ClientError),
}

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unanswered::Usage(problem) => f.write_str(problem),
            Unanswered::Closed(problem) => problem.fmt(f),
            Unanswered::Refused(problem) => problem.fmt(f),
        }
    }
}

impl From<&Unanswered> for Exit {
    fn from(why: &Unanswered) -> Exit {
        match why {
            Unanswered::Usage(_) => Exit::Usage,
            Unanswered::Closed(_) => Exit::Connection,
            Unanswered::Refused(error) => Exit::from(error),
        }
    }
}

/// Asks the graph of a server or folder. A folder is open no longer than that takes. None where the command line names neither.
pub(crate) fn ask<T>(
    connection: &ConnectionArguments,
    question: impl AsyncFnOnce(&Client) -> Result<T, ClientError>,
) -> Result<Option<T>, Unanswered> {
    if connection.url.is_none() && connection.open.is_none() && connection.profile.is_none() {
        return match meant_for_a_database(connection) {
            Some(option) => {
                let message =
                    format!("{option} is about a database: name it with --url, --open or --profile");
                Err(Unanswered::Usage(message))
            }
            None => Ok(None),
        };
    }
    if let Some(folder) = &connection.open
        && folder.as_os_str() != MEMORY
        && !folder.is_dir()
    {
        return Err(Unanswered::Usage(format!("{}: there is no such folder", folder.display())));
    }
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Unanswered::Usage(format!("cannot start: {error}")))?;
    let mut settings = settings::find(connection, &System).map_err(Unanswered::Usage)?;
    let opened = match &connection.open {
        Some(folder) => {
            let opened = Opened::open(folder).map_err(Unanswered::Closed)?;
            settings.address = opened.reached(settings.address, folder);
            Some(opened)
        }
        None => None,
    };
    let told = runtime.block_on(asked(&settings, question)).map_err(Unanswered::Refused);
    if let Some(opened) = opened {
        opened.close().map_err(Unanswered::Closed)?;
    }
    told.map(Some)
}

/// An option that means nothing where no database is named.
fn meant_for_a_database(connection: &ConnectionArguments) -> Option<&'static str> {
    let given = [
        (connection.kg.is_some(), "--kg"),
        (connection.user.is_some(), "--user"),
        (connection.password_file.is_some(), "--password-file"),
        (connection.api_key.is_some(), "--api-key"),
        (connection.ca_file.is_some(), "--ca-file"),
    ];
    given.into_iter().find_map(|(is_given, option)| is_given.then_some(option))
}

async fn asked<T>(
    settings: &Settings,
    question: impl AsyncFnOnce(&Client) -> Result<T, ClientError>,
) -> Result<T, ClientError> {
    let client = Client::connect_to(&settings.address, settings.credentials.clone()).await?;
    let told = question(&client).await;
    client.close().await;
    told
}
