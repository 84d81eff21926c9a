//! `stratalog watch`: an answer, and then the rows that come and go.
//!
//! The query is asked again when something changes that it depends on, and compared with what it answered before; the rows
//! are kept for that.

use super::dependencies::{Dependencies, Touch};
use super::reading::only_asks;
use crate::diagnostics::Source;
use crate::exit::Exit;
use crate::output::{Format, Opened, RowWriter};
use crate::script::{Ended, Runner, apart};
use crate::settings::Settings;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use stratalog_client::arrow::array::{ArrayRef, RecordBatch, StringArray};
use stratalog_client::arrow::datatypes::{DataType, Field, Schema};
use stratalog_client::arrow::error::ArrowError;
use stratalog_client::files::rows_with_times;
use stratalog_client::{Answer, Client, ClientError, Code, Events, Failure, Value};
use tokio::time::{Instant, timeout_at};

/// Changes that come so soon after each other are looked at together.
const TOGETHER: Duration = Duration::from_millis(50);

/// What to watch, and how to tell of it.
pub(crate) struct Watch<'a> {
    pub program: &'a str,
    pub runner: &'a Runner,
}

impl Watch<'_> {
    /// Watches until a person ends it, or nobody reads any more.
    pub(crate) async fn run(&self, settings: &Settings) -> Exit {
        let ended = tokio::select! {
            biased; // what ends by the same Ctrl-C has nothing to say
            () = self.runner.interrupts.requested() => {
                self.runner.notices.end_line();
                return Exit::Interrupted;
            }
            ended = self.follow(settings) => ended,
        };
        match ended {
            Ok(()) => Exit::Done,
            Err(ended) if ended.is_enough() => Exit::Done,
            Err(ended) => {
                ended.tell(self.runner.notices, Source { program: self.program, origin: None });
                Exit::from(&ended)
            }
        }
    }

    async fn follow(&self, settings: &Settings) -> Result<(), Ended> {
        let format = self.runner.style.format;
        if format.is_whole() || format == Format::Nt {
            return Err(refused(
                "changes cannot be written in this format",
                "choose jsonl, csv, tsv, line or box",
            ));
        }
        only_asks(
            self.program,
            "what is watched is run again and again, and this may change something",
            "watch a query: `?edge(X, Y)`",
        )?;
        let client = Client::connect_to(&settings.address, settings.credentials.clone()).await?;
        // Events first: what changes while the first answer is made is looked at once more.
        let mut events = Events::connect(&settings.address, settings.credentials.clone(), None).await?;
        let mut seen = Rows::new();
        let mut first = true;
        let mut dependencies = Dependencies::find(&client, self.program).await?;
        loop {
            let (header, now) = self.ask(&client).await?;
            if first || seen != now {
                self.write(&header, changes(&seen, &now, &header.columns)?, first).await?;
            }
            (seen, first) = (now, false);
            if next_touch(&mut events, &dependencies, &client.graph()).await? == Touch::Rules {
                dependencies = Dependencies::find(&client, self.program).await?;
            }
        }
    }

    async fn ask(&self, client: &Client) -> Result<(Answer, Rows), Ended> {
        let mut batches = client.stream(self.program, self.runner.options.clone()).await?;
        let header = batches.header().clone();
        let mut found = Rows::new();
        while let Some(batch) = batches.next().await? {
            for row in rows_with_times(&batch)? {
                found.insert(row.iter().map(Value::to_string).collect());
            }
        }
        Ok((header, found))
    }

    async fn write(&self, header: &Answer, changes: RecordBatch, first: bool) -> Result<(), Ended> {
        let Runner { destination, interrupts, .. } = self.runner;
        let mut style = self.runner.style.clone();
        let Opened { out, goes_on, .. } = destination.open(style.format, interrupts, None)?;
        style.header &= first && !goes_on || style.format.is_drawn();
        let mut header = header.clone();
        header.columns.insert(0, "change".to_owned());
        apart(move || {
            let mut writer = RowWriter::begin(out, &header, &changes.schema(), style)?;
            writer.write(&changes)?;
            writer.finish()
        })
        .await?;
        Ok(())
    }
}

/// Waits for a change that touches the answer, and for those that come soon after it.
async fn next_touch(
    events: &mut Events,
    dependencies: &Dependencies,
    graph: &str,
) -> Result<Touch, ClientError> {
    let mut touch = Touch::Nothing;
    while touch == Touch::Nothing {
        touch = dependencies.touch(&events.next().await?, graph);
    }
    // No longer than that, or steady changes would keep the rows back for ever.
    let until = Instant::now() + TOGETHER;
    while let Ok(event) = timeout_at(until, events.next()).await {
        touch = touch.max(dependencies.touch(&event?, graph));
    }
    Ok(touch)
}

fn refused(message: &str, help: &str) -> Ended {
    ClientError::Refused(Box::new(Failure::new(Code::InvalidParameter, message).help(help))).into()
}

/// The rows of an answer: the JSON of each value.
type Rows = BTreeSet<Vec<String>>;

/// The rows that left and those that came, with a column before them that says which.
fn changes(before: &Rows, now: &Rows, columns: &[String]) -> Result<RecordBatch, ArrowError> {
    let left = before.difference(now).map(|row| ("-", row));
    let came = now.difference(before).map(|row| ("+", row));
    let (signs, rows): (Vec<&str>, Vec<&Vec<String>>) = left.chain(came).unzip();
    let any = |name: &String| {
        let marked = [("stratalog.type".to_owned(), "any".to_owned())].into();
        Field::new(name, DataType::Utf8, true).with_metadata(marked)
    };
    let sign = Field::new("change", DataType::Utf8, false);
    let fields: Vec<Field> = std::iter::once(sign).chain(columns.iter().map(any)).collect();
    let column =
        |at: usize| -> ArrayRef { Arc::new(StringArray::from_iter(rows.iter().map(|row| row.get(at)))) };
    let signs: ArrayRef = Arc::new(StringArray::from(signs));
    let arrays = std::iter::once(signs).chain((0..columns.len()).map(column)).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_and_go() {
        let rows = |names: &[&str]| names.iter().map(|name| vec![format!("\"{name}\"")]).collect::<Rows>();
        let changes = changes(&rows(&["ada", "bob"]), &rows(&["bob", "eve"]), &["who".into()]).unwrap();
        let text = |text: &str| Value::Text(text.to_owned());
        assert_eq!(rows_with_times(&changes).unwrap(), [[text("-"), text("ada")], [text("+"), text("eve")]]);
    }
}
