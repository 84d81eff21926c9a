//! Files into a relation, and answers into files, in constant memory.

use crate::client::Client;
use crate::declaration::{can_be_declared, declaration, identifiers, is_name};
use crate::errors::ClientError;
use crate::files::{
    Column, ColumnType, Compression, FileError, FileFormat, FileWriter, NewFile, Predicates, ReadOptions,
    WriteOptions,
};
use crate::imported::{Imported, Progress};
use crate::options::ExecuteOptions;
use crate::sending::{partly, read};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use stratalog_protocol::{Code, Value};
use tokio::sync::mpsc;

impl Client {
    /// Inserts the rows of a file: all of them in one commit, or none. It is read while it is sent, so it may be larger
    /// than memory. [`ReadOptions::commit_every`] gives that up: so many rows are a commit each, and
    /// [`ClientError::PartlyInserted`] says how many are committed when one of them fails.
    ///
    /// A relation that does not exist is declared afterwards with the names and types of the file's columns; one that
    /// exists gives the types of columns of the same names, or else of the same places. `told` is called now and then.
    ///
    /// ```no_run
    /// # async fn example(client: stratalog_client::Client) -> Result<(), stratalog_client::ClientError> {
    /// use stratalog_client::files::ReadOptions;
    ///
    /// let options = ReadOptions::default();
    /// let imported = client.insert_file("city", "cities.csv".as_ref(), &options, |_| {}).await?;
    /// eprintln!("{} new facts", imported.inserted);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn insert_file(
        &self,
        relation: &str,
        path: &Path,
        options: &ReadOptions,
        mut told: impl FnMut(Progress),
    ) -> Result<Imported, ClientError> {
        let file = path.display().to_string();
        let known = self.columns(relation).await.map_err(|error| error.about(&file))?;
        let mut options = options.clone();
        if options.columns.is_none() {
            options.columns.clone_from(&known);
        }
        let (named, every) = (options.columns.is_some(), options.commit_every);
        let (columns, mut batches) = read(path.to_owned(), options).await?;
        let columns = if named { columns } else { identifiers(columns) };
        if known.is_none() {
            can_be_declared(&file, relation, &columns)?;
        }
        let sent = match every {
            None => self.send_whole(relation, &mut batches, &mut told).await,
            Some(rows) => self.send_parts(relation, &mut batches, rows.get(), &mut told).await,
        };
        let mut imported = sent.map_err(|error| error.about(&file))?;
        // Only now, as a file that is refused leaves nothing behind.
        // A file of nothing but names declares them.
        let is_empty = imported.skipped.count == 0 && !columns.is_empty();
        if known.is_none() && (imported.inserted + imported.duplicates > 0 || is_empty) {
            self.declare(relation, &columns).await?;
            imported.declared = Some(columns);
        }
        Ok(imported)
    }

    /// Inserts the triples of an RDF file into one relation a predicate, of subject and object. In the pattern, the star
    /// stands for the last part of the predicate: `foaf_*`. The file is looked at as a whole before the first fact is sent;
    /// then each relation gets its facts in commits of some thousands. Answers each relation with what came of it.
    pub async fn insert_predicates(
        &self,
        pattern: &str,
        path: &Path,
        options: &ReadOptions,
        mut told: impl FnMut(Progress),
    ) -> Result<Vec<(String, Imported)>, ClientError> {
        let format = options.format.or_else(|| FileFormat::of(path));
        let format = format.filter(|format| format.is_triples());
        let format = format.ok_or_else(|| {
            let name = path.display().to_string();
            FileError::new(&name, "only triples of RDF have predicates to name relations after")
                .help("name one relation")
        })?;
        let file = path.display().to_string();
        let (path, pattern, on_error) = (path.to_owned(), pattern.to_owned(), options.on_error);
        let find = move || Predicates::find(&path, format, &pattern, on_error);
        let found = tokio::task::spawn_blocking(find).await;
        let unread = |_| ClientError::protocol("the file was not read");
        let mut predicates = found.map_err(unread)??;
        let mut all: BTreeMap<String, Imported> = BTreeMap::new();
        let relations: Vec<_> = predicates.relations().cloned().collect();
        for relation in relations {
            let known = self.columns(&relation.name).await.map_err(|error| error.about(&file))?;
            if let Some(known) = &known {
                predicates.found(&relation.name, known)?;
            } else {
                can_be_declared(&file, &relation.name, &relation.columns)?;
            }
            let declared = known.is_none().then(|| relation.columns.to_vec());
            all.insert(relation.name, Imported { declared, ..Imported::default() });
        }
        let predicates = Arc::new(predicates);
        let checked = Arc::clone(&predicates);
        tokio::task::spawn_blocking(move || checked.check()).await.map_err(unread)??;
        let (sender, mut batches) = mpsc::channel(2);
        let read = Arc::clone(&predicates);
        let reading = tokio::task::spawn_blocking(move || {
            read.read(|relation, batch| sender.blocking_send((relation.to_owned(), batch)).is_ok())
        });
        let (mut rows, mut total) = (0, Imported::default());
        while let Some((relation, batch)) = batches.recv().await {
            let count = batch.num_rows() as u64;
            let inserted = self.insert_batches(&relation, [batch]).await;
            let inserted = inserted.map_err(|error| partly(rows, &total, error.about(&file)))?;
            rows += count;
            total.add(&inserted);
            all.entry(relation).or_default().add(&inserted);
            told(Progress { rows, committed: rows, done: rows, total: None, in_rows: true });
        }
        reading.await.map_err(unread)??;
        for (relation, imported) in &all {
            if let Some(columns) = &imported.declared {
                self.declare(relation, columns).await?;
            }
        }
        if let Some(first) = all.values_mut().next() {
            first.skipped = predicates.skipped.clone();
        }
        Ok(all.into_iter().collect())
    }

    /// Writes the rows of a program's answer to a file, which is there only when it is complete. Its format is that of
    /// its name, or the one that is given.
    ///
    /// ```no_run
    /// # async fn example(client: stratalog_client::Client) -> Result<(), stratalog_client::ClientError> {
    /// use stratalog_client::ExecuteOptions;
    /// use stratalog_client::files::WriteOptions;
    ///
    /// let (options, how) = (ExecuteOptions::default(), WriteOptions::default());
    /// let rows = client.write_file("?city(Name, People)", options, "cities.parquet".as_ref(), None, &how).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn write_file(
        &self,
        program: &str,
        options: ExecuteOptions,
        path: &Path,
        format: Option<FileFormat>,
        how: &WriteOptions,
    ) -> Result<u64, ClientError> {
        let name = path.display().to_string();
        let format = format.or_else(|| FileFormat::of(path));
        let format =
            format.ok_or_else(|| FileError::new(&name, "what to write is not known by the file's name"))?;
        let mut batches = self.stream(program, options).await?;
        let failed = |error| FileError::new(&name, error);
        let (file, out) = NewFile::create(path)?;
        let out = Compression::out(path, format, out)?;
        let mut writer = FileWriter::new(out, format, batches.schema(), how).map_err(failed)?;
        let mut rows = 0;
        while let Some(batch) = batches.next().await? {
            writer.write(&batch).map_err(failed)?;
            rows += batch.num_rows() as u64;
        }
        writer.finish().map_err(failed)?;
        file.keep()?;
        Ok(rows)
    }

    /// Names and types of a relation's columns; `None` if there is no such relation.
    pub async fn columns(&self, relation: &str) -> Result<Option<Vec<Column>>, ClientError> {
        if !is_name(relation) {
            return Ok(None); // no name of a relation, as the server will say
        }
        let answer = match self.command(&format!(".rel describe {relation}"), true).await {
            Ok(answer) => answer,
            Err(error) if matches!(error.code(), Some(Code::UnknownRelation | Code::NotFound)) => {
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let column = |row: &Vec<Value>| match row.as_slice() {
            [Value::Text(name), Value::Text(column_type), ..] => {
                let column_type = column_type.parse().unwrap_or(ColumnType::Any);
                Ok(Column { name: name.clone(), column_type })
            }
            _ => Err(ClientError::protocol("a column is told by its name and type")),
        };
        answer.rows.iter().map(column).collect::<Result<_, _>>().map(Some)
    }

    /// The facts are there already.
    async fn declare(&self, relation: &str, columns: &[Column]) -> Result<(), ClientError> {
        let declared = self.execute(&declaration(relation, columns), ExecuteOptions::default()).await;
        declared.map(drop).map_err(|cause| ClientError::NotDeclared {
            relation: relation.to_owned(),
            cause: Box::new(cause),
        })
    }
}
