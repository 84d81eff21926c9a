//! Watching what cannot be a live query: programs of several statements, and servers that know of none.
//!
//! The program is run again when something changes that its answer depends on.

use super::dependencies::{Dependencies, Touch};
use super::watched::Row;
use crate::script::Ended;
use crate::settings::Settings;
use std::time::Duration;
use stratalog_client::{Answer, Client, ClientError, Events, ExecuteOptions};
use tokio::time::{Instant, timeout_at};

/// Changes that come so soon after each other are looked at together.
const TOGETHER: Duration = Duration::from_millis(50);

/// A program that is run again and again.
pub(super) struct Asking {
    program: String,
    options: ExecuteOptions,
    client: Client,
    events: Events,
    dependencies: Dependencies,
    /// Whether it was run.
    begun: bool,
}

impl Asking {
    pub(super) async fn begin(
        program: &str,
        options: ExecuteOptions,
        settings: &Settings,
    ) -> Result<Asking, ClientError> {
        let client = Client::connect_to(&settings.address, settings.credentials.clone()).await?;
        // Events first: what changes while the first answer is made is looked at once more.
        let events = Events::connect(&settings.address, settings.credentials.clone(), None).await?;
        let dependencies = Dependencies::find(&client, program).await?;
        Ok(Asking { program: program.to_owned(), options, client, events, dependencies, begun: false })
    }

    /// The answer, at once and then whenever it may have changed.
    pub(super) async fn next(&mut self) -> Result<(Answer, Vec<Row>), Ended> {
        if self.begun && self.next_touch().await? == Touch::Rules {
            self.dependencies = Dependencies::find(&self.client, &self.program).await?;
        }
        self.begun = true;
        let mut batches = self.client.stream(&self.program, self.options.clone()).await?;
        let header = batches.header().clone();
        let mut rows = Vec::new();
        while let Some(batch) = batches.next().await? {
            rows.extend(Row::of([&batch])?);
        }
        Ok((header, rows))
    }

    /// Waits for a change that touches the answer, and for those that come soon after it.
    async fn next_touch(&mut self) -> Result<Touch, ClientError> {
        let (dependencies, graph) = (&self.dependencies, self.client.graph());
        let mut touch = Touch::Nothing;
        while touch == Touch::Nothing {
            touch = dependencies.touch(&self.events.next().await?, &graph);
        }
        // No longer than that, or steady changes would keep the rows back for ever.
        let until = Instant::now() + TOGETHER;
        while let Ok(event) = timeout_at(until, self.events.next()).await {
            touch = touch.max(dependencies.touch(&event?, &graph));
        }
        Ok(touch)
    }
}
