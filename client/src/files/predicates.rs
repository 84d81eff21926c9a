//! RDF as one relation a predicate, of subject and object: typed where all objects of a predicate are of one type.
//!
//! The file is read twice: what is wrong with it, which predicates there are and what their objects are is known before the
//! first fact is sent.

use super::cells::{self, Cell};
use super::column_type::{Column, ColumnType};
use super::compression;
use super::epoch::Reading;
use super::error::FileError;
use super::format::FileFormat;
use super::infer::Seen;
use super::rdf::{Triples, scope, time_of};
use super::skipped::{OnError, Skipped};
use super::table::Table;
use arrow::array::RecordBatch;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

/// The predicates of a file, each with its relation.
pub(crate) struct Predicates {
    path: PathBuf,
    format: FileFormat,
    relations: BTreeMap<String, Relation>,
    /// A relation that exists has other types than its objects have by themselves.
    differ: bool,
    /// Triples that were left out.
    pub skipped: Skipped,
}

/// The relation of a predicate.
#[derive(Debug, Clone)]
pub(crate) struct Relation {
    pub name: String,
    pub columns: [Column; 2],
}

impl Predicates {
    /// Reads a file once. In the names of relations, the part of the predicate after its last `/`, `#` or `:` takes the
    /// place of the star in the pattern.
    pub(crate) fn find(
        path: &Path,
        format: FileFormat,
        pattern: &str,
        on_error: OnError,
    ) -> Result<Predicates, FileError> {
        let file = path.display().to_string();
        let is_regular = path != Path::new("-") && path.metadata().is_ok_and(|metadata| metadata.is_file());
        if !is_regular && (path == Path::new("-") || path.exists()) {
            return Err(FileError::new(&file, "it is read more than once, which only a file can be")
                .help("import it into one relation of triples, or write it to a file first"));
        }
        let mut skipped = Skipped::default();
        let mut seen: BTreeMap<String, Seen> = BTreeMap::new();
        for triple in open(path, format)? {
            match triple {
                Ok((predicate, [_, object])) => seen.entry(predicate).or_default().object(&object),
                Err(problem) if on_error == OnError::Abort => return Err(problem),
                Err(problem) => skipped.note(problem),
            }
        }
        let mut relations: BTreeMap<String, Relation> = BTreeMap::new();
        for (predicate, seen) in seen {
            let name = pattern.replacen('*', &local_name(&predicate), 1);
            if let Some((other, _)) = relations.iter().find(|(_, relation)| relation.name == name) {
                let problem = format!("{other} and {predicate} would both be the relation `{name}`");
                let help = "import the file into one relation of triples, and divide it by rules";
                return Err(FileError::new(&file, problem).help(help));
            }
            let column = |name: &str, column_type| Column { name: name.to_owned(), column_type };
            let columns = [column("subject", ColumnType::Text), column("object", seen.column_type())];
            relations.insert(predicate, Relation { name, columns });
        }
        Ok(Predicates { path: path.to_owned(), format, relations, differ: false, skipped })
    }

    /// Takes the types of a relation that exists.
    pub(crate) fn found(&mut self, name: &str, known: &[Column]) -> Result<(), FileError> {
        let file = self.path.display().to_string();
        let Some(relation) = self.relations.values_mut().find(|relation| relation.name == name) else {
            return Ok(());
        };
        let [subject, object] = known else {
            let problem = format!("`{name}` has {} columns, and a predicate has 2", known.len());
            return Err(FileError::new(&file, problem));
        };
        if !matches!(subject.column_type, ColumnType::Text | ColumnType::Any) {
            let problem = format!(
                "subjects are strings, and `{}` of `{name}` is of type {}",
                subject.name, subject.column_type
            );
            return Err(FileError::new(&file, problem));
        }
        self.differ |= relation.columns[1].column_type != object.column_type;
        relation.columns = [subject.clone(), object.clone()];
        Ok(())
    }

    /// Makes sure that the objects fit relations that exist, before anything is sent.
    pub(crate) fn check(&self) -> Result<(), FileError> {
        if self.differ { self.read(|_, _| true) } else { Ok(()) }
    }

    /// The relations.
    pub(crate) fn relations(&self) -> impl Iterator<Item = &Relation> {
        self.relations.values()
    }

    /// Reads the file again; gives the facts of each relation batch by batch, for as long as they are wanted.
    pub(crate) fn read(&self, mut give: impl FnMut(&str, RecordBatch) -> bool) -> Result<(), FileError> {
        let file = self.path.display().to_string();
        let mut tables: BTreeMap<&str, (&Relation, Table)> = BTreeMap::new();
        for (predicate, relation) in &self.relations {
            tables.insert(predicate, (relation, Table::new(&relation.columns)));
        }
        let mut flush = |relation: &Relation, table: &mut Table| match table.take() {
            Ok(batch) => Ok(batch.is_none_or(|batch| give(&relation.name, batch))),
            Err(error) => Err(FileError::new(&file, error)),
        };
        for triple in open(&self.path, self.format)? {
            let Ok((predicate, [subject, object])) = triple else { continue }; // left out, as the first time
            let Some((relation, table)) = tables.get_mut(predicate.as_str()) else {
                return Err(FileError::new(&file, "the file has changed while it was read"));
            };
            let typed = typed(&object, relation.columns[1].column_type);
            let typed = typed.map_err(|problem| {
                FileError::new(&file, format!("an object of `{}`: {problem}", relation.name))
            });
            let subject = match relation.columns[0].column_type {
                ColumnType::Any => Cell::Json(Json::from(subject).to_string()),
                _ => Cell::Text(subject.into()),
            };
            table.push(&[subject, typed?]);
            if table.is_full() && !flush(relation, table)? {
                return Ok(());
            }
        }
        for (relation, mut table) in tables.into_values() {
            if !flush(relation, &mut table)? {
                return Ok(());
            }
        }
        Ok(())
    }
}

type Found = Result<(String, [String; 2]), FileError>;

/// Predicate, subject and the JSON of the object of each triple.
fn open(path: &Path, format: FileFormat) -> Result<impl Iterator<Item = Found>, FileError> {
    let name = path.display().to_string();
    let file = File::open(path).map_err(|error| FileError::new(&name, error))?;
    let scope = scope(path, &file);
    let (source, _) = compression::plain(Box::new(file)).map_err(|error| FileError::new(&name, error))?;
    let mut triples = Triples::new(&name, source, format, scope)?;
    let text = |cell: &Cell<'_>| match cell {
        Cell::Text(text) => text.to_string(),
        Cell::Json(json) => json.clone(),
        _ => String::new(), // triples have no others
    };
    Ok(std::iter::from_fn(move || triples.next()).map(move |triple| {
        triple.map(|row| {
            let cell = |at: usize| row.get(at).map(text).unwrap_or_default();
            (cell(1), [cell(0), cell(2)])
        })
    }))
}

/// What stands after the last `/`, `#` or `:` of an IRI, as a name.
fn local_name(predicate: &str) -> String {
    let iri = predicate.trim_matches(['<', '>']).trim_end_matches(['/', '#', ':']);
    let local = iri.rsplit(['/', '#', ':']).next().unwrap_or(iri);
    local.chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { '_' }).collect()
}

impl Seen {
    /// The JSON of an object.
    fn object(&mut self, object: &str) {
        match serde_json::from_str(object) {
            Ok(Json::String(text)) if time_of(&text).is_some() => self.found(ColumnType::Timestamp),
            Ok(json) => self.json(&json),
            Err(_) => {}
        }
    }
}

fn typed(object: &str, column_type: ColumnType) -> Result<Cell<'static>, String> {
    let json: Json = serde_json::from_str(object).map_err(|error| error.to_string())?;
    Ok(match (column_type, json) {
        (ColumnType::Timestamp, Json::String(text)) if time_of(&text).is_some() => {
            time_of(&text).map_or(Cell::Null, Cell::Time)
        }
        (ColumnType::Any, json) => Cell::Json(json.to_string()),
        (_, json) => cells::owned(cells::of_json(&json, column_type, Reading::default())?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predicates_have_short_names() {
        assert_eq!(local_name("<http://xmlns.com/foaf/0.1/name>"), "name");
        assert_eq!(local_name("<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"), "type");
        assert_eq!(local_name("<urn:x:date-of-birth>"), "date_of_birth");
        assert_eq!(local_name("<http://e/a/>"), "a");
    }
}
