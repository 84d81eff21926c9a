//! `Answer`: what running a program gives.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Schema, SchemaRef};

use crate::data::arrow_columns::{declared_any as marked_any, decode, field, is_declared_any, type_of_codes};
use crate::data::{self, Code, Codec, DataType, Dictionary, DictionaryFull, Run, Value};
use crate::diagnostic::Diagnostic;
use crate::provenance::Proof;

/// The answer to a program.
#[derive(Debug)]
pub struct Answer {
    /// The last query's rows, or else what each statement did.
    pub content: Content,
    /// The version of the graph that this is the answer at, or at which what was written is.
    pub version: u64,
    /// The graph that the session is bound to from now on, if that changed.
    pub switched_graph: Option<String>,
    /// The answer to a query of a session that has facts or rules of its own.
    pub ephemeral: Option<Ephemeral>,
    /// What deserves a second look.
    pub warnings: Vec<Diagnostic>,
}

/// What a session had laid over its graph when it asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ephemeral {
    /// The relations with facts of the session, sorted.
    pub sources: Vec<String>,
}

/// Where a row of an answer comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provenance {
    /// It is also in the answer without the session's facts and rules.
    Persistent,
    /// It needs something of the session.
    Ephemeral,
}

impl Provenance {
    /// The word that travels.
    pub fn as_str(self) -> &'static str {
        match self {
            Provenance::Persistent => "persistent",
            Provenance::Ephemeral => "ephemeral",
        }
    }
}

/// Rows or messages.
#[derive(Debug)]
pub enum Content {
    /// One sentence a statement.
    Messages(Vec<String>),
    /// The answer to a query, or a listing.
    Rows(Rows),
}

/// A result: columns of codes, decoded batch by batch as they are read.
#[derive(Debug, Clone)]
pub struct Rows {
    columns: Vec<ResultColumn>,
    schema: SchemaRef,
    rows: Run,
    /// So many of them can be read.
    row_count: usize,
    total_count: usize,
    codec: Codec,
    provenance: Option<Vec<Provenance>>,
    proofs: Option<Vec<Proof>>,
}

/// A column of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultColumn {
    /// What stands in it; columns may have the same.
    pub name: String,
    /// A name that no other column has: that of its Arrow field.
    pub unique_name: String,
    /// The type of all its values.
    pub data_type: DataType,
}

impl Rows {
    /// A result of these rows, none of which is deleted. Types are read off the values; `known` ones serve where there are none.
    pub(crate) fn new(
        names: Vec<String>,
        known: &[DataType],
        rows: Run,
        total_count: usize,
        codec: Codec,
    ) -> Rows {
        let columns: Vec<ResultColumn> = names
            .into_iter()
            .enumerate()
            .map(|(i, name)| {
                let data_type = match type_of_codes(rows.column(i), &codec) {
                    DataType::Unknown => known.get(i).copied().unwrap_or(DataType::Unknown),
                    found => found,
                };
                ResultColumn { unique_name: name.clone(), name, data_type }
            })
            .collect();
        let fields: Vec<_> = columns.iter().map(|column| field(&column.name, column.data_type)).collect();
        let schema = Arc::new(Schema::new(fields));
        Rows {
            columns,
            schema,
            row_count: rows.len(),
            rows,
            total_count,
            codec,
            provenance: None,
            proofs: None,
        }
    }

    /// Gives each column a name that no other has.
    pub(crate) fn with_names(mut self, names: Vec<String>) -> Rows {
        for (column, name) in self.columns.iter_mut().zip(names) {
            column.unique_name = name;
        }
        let fields = self.columns.iter().map(|column| field(&column.unique_name, column.data_type));
        self.schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        self
    }

    /// Marks the columns that are declared to hold anything: formats of text tell their values apart by it.
    pub(crate) fn with_declared_any(mut self, declared_any: &[bool]) -> Rows {
        if declared_any.contains(&true) {
            let fields = self.schema.fields().iter().enumerate();
            let fields = fields.map(|(i, field)| match declared_any.get(i) {
                Some(true) => Arc::new(marked_any(field)),
                Some(false) | None => Arc::clone(field),
            });
            self.schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        }
        self
    }

    /// A listing of values.
    pub(crate) fn listing(names: &[&str], tuples: Vec<Vec<Value>>) -> Result<Rows, DictionaryFull> {
        let codec = Codec::over(Arc::new(Dictionary::shared()));
        let mut rows = data::Rows::empty(names.len());
        rows.len = tuples.len();
        for tuple in tuples {
            for (column, value) in rows.columns.iter_mut().zip(tuple) {
                column.push(codec.encode(value.as_ref())?);
            }
        }
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        let total = rows.len;
        Ok(Rows::new(names, &[], Run::new(rows.columns, total), total, codec))
    }

    /// The rows as they are kept, and what gives their codes a meaning.
    pub(crate) fn coded(&self) -> (&Run, &Codec) {
        (&self.rows, &self.codec)
    }

    /// Other rows of the same columns, none of which is deleted, with values of these types.
    pub(crate) fn with_rows(&self, types: &[DataType], rows: Run, codec: Codec) -> Rows {
        let mut columns = self.columns.clone();
        columns.iter_mut().zip(types).for_each(|(column, data_type)| column.data_type = *data_type);
        let fields = columns.iter().zip(self.schema.fields()).map(|(column, before)| {
            let field = field(&column.unique_name, column.data_type);
            if is_declared_any(before) { marked_any(&field) } else { field }
        });
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let row_count = rows.len();
        Rows {
            columns,
            schema,
            rows,
            row_count,
            total_count: row_count,
            codec,
            provenance: None,
            proofs: None,
        }
    }

    /// Other rows of the same columns, in the same codes and with values of the same types.
    pub(crate) fn with_same_types(&self, rows: Run) -> Rows {
        let types: Vec<DataType> = self.columns.iter().map(|column| column.data_type).collect();
        self.with_rows(&types, rows, self.codec.clone())
    }

    /// The same; if there are no rows, the columns have the types of another answer to the same question.
    pub(crate) fn with_types_if_empty(self, other: &Rows) -> Rows {
        if self.row_count > 0 || self.columns.len() != other.columns.len() {
            return self;
        }
        let types: Vec<DataType> = other.columns.iter().map(|column| column.data_type).collect();
        self.with_rows(&types, self.rows.clone(), self.codec.clone())
    }

    /// The same with the codec of another answer, if no code is one of its own: whoever keeps many answers keeps one codec.
    pub(crate) fn sharing_codec_of(self, other: &Rows) -> Rows {
        let is_same = self.codec.shared().number() == other.codec.shared().number();
        let has_own = || self.rows.columns().into_iter().flatten().any(|code| Codec::is_own(*code));
        if !is_same || other.codec.has_own() || has_own() {
            return self;
        }
        Rows { codec: other.codec.clone(), ..self }
    }

    /// The rows in the codes that another codec has for their values.
    pub(crate) fn in_codes_of(&self, to: &Codec) -> Result<Run, DictionaryFull> {
        let (rows, from) = self.coded();
        let is_same = from.shared().number() == to.shared().number();
        let stays = |code: Code| from.entry(code).is_none() || is_same && !Codec::is_own(code);
        if rows.columns().into_iter().flatten().all(|code| stays(*code)) {
            return Ok(rows.clone());
        }
        let mut known: HashMap<Code, Code> = HashMap::new();
        let mut recode = |code: Code| match known.get(&code) {
            _ if stays(code) => Ok(code),
            Some(known) => Ok(*known),
            None => {
                let found = to.encode(from.value(code))?;
                known.insert(code, found);
                Ok(found)
            }
        };
        let mut column = |codes: &[Code]| codes.iter().map(|code| recode(*code)).collect::<Result<_, _>>();
        let columns = rows.columns().into_iter().map(&mut column).collect::<Result<_, _>>()?;
        Ok(Run::new(columns, rows.len()))
    }

    /// The same columns without any row.
    pub fn none(&self) -> Rows {
        self.with_same_types(Run::new(vec![Vec::new(); self.columns.len()], 0))
    }

    /// The columns.
    pub fn columns(&self) -> &[ResultColumn] {
        &self.columns
    }

    /// Number of rows that can be read.
    pub fn row_count(&self) -> usize {
        self.row_count
    }

    /// Number of rows before limit and offset.
    pub fn total_count(&self) -> usize {
        self.total_count
    }

    /// Whether a limit left rows out.
    pub fn truncated(&self) -> bool {
        self.row_count() < self.total_count
    }

    /// The Arrow schema of every batch.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// The rows from `offset`, at most `length` of them.
    pub fn batch(&self, offset: usize, length: usize) -> RecordBatch {
        let start = offset.min(self.row_count);
        let end = start.saturating_add(length).min(self.row_count);
        let arrays = self
            .rows
            .columns()
            .into_iter()
            .zip(&self.columns)
            .map(|(codes, column)| decode(&codes[start..end], &self.codec, column.data_type))
            .collect();
        let options = RecordBatchOptions::new().with_row_count(Some(end - start));
        RecordBatch::try_new_with_options(self.schema(), arrays, &options)
            .expect("decoded arrays have the types of their fields and one length")
    }

    /// Where each row comes from, if the session has facts or rules of its own.
    pub fn provenance(&self) -> Option<&[Provenance]> {
        self.provenance.as_deref()
    }

    /// Says where each row comes from.
    pub(crate) fn with_provenance(self, provenance: Vec<Provenance>) -> Rows {
        Rows { provenance: Some(provenance), ..self }
    }

    /// Why each row is one, if that was asked.
    pub fn proofs(&self) -> Option<&[Proof]> {
        self.proofs.as_deref()
    }

    /// Takes the proofs of the rows.
    pub fn take_proofs(&mut self) -> Option<Vec<Proof>> {
        self.proofs.take()
    }

    /// Says why each row is one.
    pub(crate) fn with_proofs(self, proofs: Vec<Proof>) -> Rows {
        Rows { proofs: Some(proofs), ..self }
    }

    /// Keeps at most so many rows.
    pub(crate) fn truncate(&mut self, rows: usize) {
        if rows < self.row_count {
            if let Some(provenance) = &mut self.provenance {
                provenance.truncate(rows);
            }
            if let Some(proofs) = &mut self.proofs {
                proofs.truncate(rows);
            }
            self.row_count = rows;
        }
    }
}
