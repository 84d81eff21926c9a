//! What a reader of `stratalog watch` has seen, so that no row comes twice, and none goes that never came.
//!
//! Rows are kept as text. The same value may be written in two ways, as columns are typed by the values of a change: a time is text
//! where there are only times, and a number beside other values. So rows are known by the second, and go as they came.

use std::collections::BTreeMap;
use std::sync::Arc;
use stratalog_client::Value;
use stratalog_client::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use stratalog_client::arrow::compute::cast;
use stratalog_client::arrow::datatypes::{DataType, Field, Schema};
use stratalog_client::arrow::error::ArrowError;
use stratalog_client::files::rows_with_times;

/// A row as it is written: the JSON of each value.
type Text = Vec<String>;

/// A row of an answer.
#[derive(Debug, PartialEq)]
pub(super) struct Row {
    text: Text,
    /// What it is known by, where that is not its text.
    key: Option<Text>,
}

/// What an answer says.
#[derive(Debug)]
pub(super) enum News {
    /// All rows, whatever there was before.
    All(Vec<Row>),
    /// Those that came, and those that went.
    Some { added: Vec<Row>, removed: Vec<Row> },
}

/// What a reader has to be told.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Changes {
    pub left: Vec<Text>,
    pub came: Vec<Text>,
}

/// What a reader has seen.
#[derive(Debug, Default)]
pub(super) struct Seen {
    rows: BTreeMap<Text, Shown>,
}

#[derive(Debug)]
struct Shown {
    /// What was written, where that is not what it is known by.
    text: Option<Text>,
    /// How many rows look like this: an integer and a time may.
    count: usize,
}

impl Seen {
    /// What came and went, where nothing is known of what there was before.
    pub(super) fn unknown(added: Vec<Row>, removed: Vec<Row>) -> Changes {
        let texts = |rows: Vec<Row>| {
            let mut texts: Vec<Text> = rows.into_iter().map(|row| row.text).collect();
            texts.sort_unstable();
            texts
        };
        Changes { left: texts(removed), came: texts(added) }
    }

    /// What is new in that.
    pub(super) fn take(&mut self, news: News) -> Changes {
        let mut changes = match news {
            News::All(rows) => self.replace(rows),
            News::Some { added, removed } => self.change(added, removed),
        };
        changes.left.sort_unstable();
        changes.came.sort_unstable();
        changes
    }

    fn replace(&mut self, rows: Vec<Row>) -> Changes {
        let mut before = std::mem::take(&mut self.rows);
        let mut changes = Changes::default();
        for row in rows {
            let (key, shown) = row.shown();
            if let Some(known) = self.rows.get_mut(&key) {
                known.count += 1;
                continue;
            }
            let known = before.remove(&key).map(|known| Shown { count: 1, ..known });
            if known.is_none() {
                changes.came.push(shown.text.as_ref().unwrap_or(&key).clone());
            }
            self.rows.insert(key, known.unwrap_or(shown));
        }
        changes.left.extend(before.into_iter().map(|(key, shown)| shown.text.unwrap_or(key)));
        changes
    }

    /// Those that came are taken first, or a row would go and come again that looks as one that went.
    fn change(&mut self, added: Vec<Row>, removed: Vec<Row>) -> Changes {
        let mut changes = Changes::default();
        for row in added {
            let (key, shown) = row.shown();
            match self.rows.get_mut(&key) {
                Some(known) => known.count += 1,
                None => {
                    changes.came.push(shown.text.as_ref().unwrap_or(&key).clone());
                    self.rows.insert(key, shown);
                }
            }
        }
        for row in removed {
            let (key, _) = row.shown();
            let Some(known) = self.rows.get_mut(&key) else { continue };
            known.count -= 1;
            if known.count == 0
                && let Some(shown) = self.rows.remove(&key)
            {
                changes.left.push(shown.text.unwrap_or(key));
            }
        }
        changes
    }
}

impl Row {
    /// What it is known by, and how it is to be written.
    fn shown(self) -> (Text, Shown) {
        match self.key {
            Some(key) => (key, Shown { text: Some(self.text), count: 1 }),
            None => (self.text, Shown { text: None, count: 1 }),
        }
    }

    /// The rows of batches.
    pub(super) fn of<'b>(batches: impl IntoIterator<Item = &'b RecordBatch>) -> Result<Vec<Row>, ArrowError> {
        let mut rows = Vec::new();
        for batch in batches {
            let texts = texts(batch)?;
            match with_times_as_numbers(batch)? {
                None => rows.extend(texts.into_iter().map(|text| Row { text, key: None })),
                Some(numbers) => {
                    let keys = self::texts(&numbers)?.into_iter().map(Some);
                    rows.extend(texts.into_iter().zip(keys).map(|(text, key)| Row { text, key }));
                }
            }
        }
        Ok(rows)
    }
}

fn texts(batch: &RecordBatch) -> Result<Vec<Text>, ArrowError> {
    let rows = rows_with_times(batch)?;
    Ok(rows.iter().map(|row| row.iter().map(Value::to_string).collect()).collect())
}

/// The same rows as they look in columns of several types, where they look otherwise there.
fn with_times_as_numbers(batch: &RecordBatch) -> Result<Option<RecordBatch>, ArrowError> {
    let schema = batch.schema();
    let is_time = |field: &Arc<Field>| matches!(field.data_type(), DataType::Timestamp(..));
    if !schema.fields().iter().any(is_time) {
        return Ok(None);
    }
    let (mut fields, mut columns) = (Vec::new(), Vec::new());
    for (field, column) in schema.fields().iter().zip(batch.columns()) {
        let (field, column) = match is_time(field) {
            true => (Field::new(field.name(), DataType::Int64, true), cast(column, &DataType::Int64)?),
            false => (field.as_ref().clone(), Arc::clone(column)),
        };
        fields.push(field);
        columns.push(column);
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).map(Some)
}

/// What stands before the columns of the query.
pub(super) const CHANGE: &str = "change";
pub(super) const VERSION: &str = "version";

impl Changes {
    pub(super) fn is_empty(&self) -> bool {
        self.left.is_empty() && self.came.is_empty()
    }

    /// One batch, with a column before the others that says which, and perhaps one with the version at which that is so.
    pub(super) fn batch(
        &self,
        columns: &[String],
        version: Option<Option<u64>>,
    ) -> Result<RecordBatch, ArrowError> {
        let left = self.left.iter().map(|row| ("-", row));
        let came = self.came.iter().map(|row| ("+", row));
        let (signs, rows): (Vec<&str>, Vec<&Text>) = left.chain(came).unzip();
        let mut fields = vec![Field::new(CHANGE, DataType::Utf8, false)];
        let mut arrays: Vec<ArrayRef> = vec![Arc::new(StringArray::from(signs))];
        if let Some(version) = version {
            let version = version.and_then(|version| i64::try_from(version).ok());
            fields.push(Field::new(VERSION, DataType::Int64, true));
            arrays.push(Arc::new(Int64Array::from(vec![version; rows.len()])));
        }
        let marked = [("stratalog.type".to_owned(), "any".to_owned())];
        for (at, name) in columns.iter().enumerate() {
            fields.push(Field::new(name, DataType::Utf8, true).with_metadata(marked.clone().into()));
            arrays.push(Arc::new(StringArray::from_iter(rows.iter().map(|row| row.get(at)))));
        }
        RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stratalog_client::arrow::array::TimestampMillisecondArray;

    fn rows(names: &[&str]) -> Vec<Row> {
        names.iter().map(|name| Row { text: vec![format!("\"{name}\"")], key: None }).collect()
    }

    fn changes(left: &[&str], came: &[&str]) -> Changes {
        let texts = |names: &[&str]| rows(names).into_iter().map(|row| row.text).collect();
        Changes { left: texts(left), came: texts(came) }
    }

    #[test]
    fn rows_come_and_go_once() {
        let mut seen = Seen::default();
        assert_eq!(seen.take(News::All(rows(&["bob", "ada"]))), changes(&[], &["ada", "bob"]));
        assert_eq!(seen.take(News::All(rows(&["bob", "eve"]))), changes(&["ada"], &["eve"]));
        let some =
            |added: &[&str], removed: &[&str]| News::Some { added: rows(added), removed: rows(removed) };
        assert_eq!(seen.take(some(&["ada"], &["bob", "eve"])), changes(&["bob", "eve"], &["ada"]));
        assert_eq!(seen.take(some(&[], &["bob"])), changes(&[], &[]));
        assert_eq!(seen.take(News::All(rows(&[]))), changes(&["ada"], &[]));
    }

    #[test]
    fn of_two_rows_that_look_alike_one_may_go() {
        let mut seen = Seen::default();
        seen.take(News::All(rows(&["x", "x"])));
        assert_eq!(
            seen.take(News::Some { added: rows(&["x"]), removed: rows(&["x", "x"]) }),
            changes(&[], &[])
        );
        assert_eq!(seen.take(News::Some { added: vec![], removed: rows(&["x"]) }), changes(&["x"], &[]));
    }

    #[test]
    fn a_time_goes_as_it_came_also_beside_other_values() {
        let times = TimestampMillisecondArray::from(vec![86_400_000]).with_timezone("UTC");
        let times = RecordBatch::try_from_iter([("X", Arc::new(times) as ArrayRef)]).unwrap();
        let any = Field::new("X", DataType::Utf8, true)
            .with_metadata([("stratalog.type".to_owned(), "any".to_owned())].into());
        let mixed = RecordBatch::try_new(
            Arc::new(Schema::new(vec![any])),
            vec![Arc::new(StringArray::from(vec!["86400000", "\"a\""]))],
        )
        .unwrap();
        let mut seen = Seen::default();
        let text = |text: &str| vec![vec![text.to_owned()]];
        let came = seen.take(News::All(Row::of([&times]).unwrap())).came;
        assert_eq!(came, text("\"1970-01-02T00:00:00Z\""));
        assert_eq!(seen.take(News::All(Row::of([&mixed]).unwrap())).came, text("\"a\""));
        let removed = Row::of([&mixed.slice(0, 1)]).unwrap();
        assert_eq!(seen.take(News::Some { added: vec![], removed }).left, came);
    }
}
