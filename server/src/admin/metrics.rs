//! `.metrics`: what the server counts, for administrators who have no key for `/metrics`.

use stratalog_engine::{
    CommandEntry, CommandFamily, Context, Error, Name, Need, Outcome, SessionState, Value,
};

use super::operator;
use crate::metrics::samples;

pub(super) const COMMANDS: CommandFamily = CommandFamily {
    title: "Metrics",
    entries: &[CommandEntry {
        words: &["metrics"],
        usage: "",
        doc: "Lists what `/metrics/prometheus` tells: name, labels, value.",
        example: ".metrics",
        need: Need::Administer,
        arguments: 0,
        run: list,
    }],
};

fn list(_: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let app = operator(context)?.app()?;
    let exposition = app.metrics.exposition(&app.reading());
    let rows = samples(&exposition)
        .map(|sample| vec![Value::text(sample.name), Value::text(sample.labels), Value::Float(sample.value)]);
    Outcome::listing(&["name", "labels", "value"], rows.collect())
}
