//! What a database defines: what programs may read without defining it.

use crate::arguments::ConnectionArguments;
use crate::names;
use crate::opened::Opened;
use crate::settings::{self, Settings, System};
use stratalog_client::{Client, ClientError};
use tokio::runtime::Builder;

/// The declarations and rules of the graph of a server or folder. A folder is open no longer than it takes to read them. Empty
/// where the command line names neither.
pub(super) fn definitions(connection: &ConnectionArguments) -> Result<String, String> {
    if connection.url.is_none() && connection.open.is_none() && connection.profile.is_none() {
        return Ok(String::new());
    }
    let runtime = Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string())?;
    let mut settings = settings::find(connection, &System)?;
    let Some(folder) = connection.open.clone() else {
        return runtime.block_on(asked(&settings)).map_err(|error| error.to_string());
    };
    let opened = Opened::open(&folder).map_err(|error| error.to_string())?;
    settings.address = opened.reached(settings.address, &folder);
    let told = runtime.block_on(asked(&settings)).map_err(|error| error.to_string());
    opened.close().map_err(|error| error.to_string())?;
    told
}

async fn asked(settings: &Settings) -> Result<String, ClientError> {
    let client = Client::connect_to(&settings.address, settings.credentials.clone()).await?;
    let told = names::definitions(&client).await;
    client.close().await;
    told
}
