//! `stratalog import`: files into a relation, one commit each.

use crate::arguments::{self, ImportArguments, RowArguments};
use crate::interrupts::Interrupts;
use crate::notices::{Notices, counted};
use crate::output::printable;
use crate::progress::Bar;
use crate::script::{Ended, interruptible};
use std::cell::Cell;
use std::path::{Path, PathBuf};
use stratalog_client::files::{OnError, ReadOptions};
use stratalog_client::{Client, Imported, Progress};

/// Files that are to be imported.
#[derive(Debug, Clone)]
pub(crate) struct Import {
    relation: String,
    pub files: Vec<PathBuf>,
    options: ReadOptions,
}

impl Import {
    /// As the command line and the prompt want it.
    pub(crate) fn new(import: ImportArguments, rows: &RowArguments) -> Result<Import, String> {
        let ImportArguments {
            relation,
            files,
            columns,
            types,
            epoch,
            exact,
            encoding,
            delimiter,
            on_error,
            commit_every,
        } = import;
        let format = match rows.format() {
            None => None,
            Some(format) => Some(format.of_file().ok_or("files are not read in this format")?),
        };
        let on_error = match on_error {
            arguments::OnError::Abort => OnError::Abort,
            arguments::OnError::Skip => OnError::Skip,
        };
        let (no_header, null) = (rows.no_header, rows.null.clone());
        let options = ReadOptions {
            format,
            columns,
            types,
            epoch,
            exact,
            encoding,
            no_header,
            delimiter,
            null,
            on_error,
            commit_every,
        };
        Ok(Import { relation, files, options })
    }

    /// Inserts the rows of a file.
    pub(crate) async fn run(
        &self,
        client: &Client,
        file: &Path,
        notices: Notices,
        interrupts: &Interrupts,
    ) -> Result<(), Ended> {
        let Import { relation, options, .. } = self;
        let bar = Bar::begin(file, notices);
        let committed = Cell::new(0);
        let told = |progress: Progress| {
            committed.set(progress.committed);
            bar.tell(progress);
        };
        let import = async {
            if relation.contains('*') {
                return Ok(client.insert_predicates(relation, file, options, told).await?);
            }
            Ok(vec![(relation.clone(), client.insert_file(relation, file, options, told).await?)])
        };
        let imported = interruptible(client, interrupts, import).await;
        drop(bar);
        if let Err(Ended::Interrupted { .. }) = &imported
            && committed.get() > 0
        {
            let rows = counted(committed.get(), "row");
            notices.say(&format!("{}: {rows} committed before", file.display()));
        }
        for (relation, imported) in imported? {
            tell(&relation, file, &imported, notices);
        }
        Ok(())
    }
}

fn tell(relation: &str, file: &Path, imported: &Imported, notices: Notices) {
    let file = file.display();
    if let Some(columns) = &imported.declared {
        let columns: Vec<String> =
            columns.iter().map(|column| format!("{}: {}", column.name, column.column_type)).collect();
        notices.note(&format!("declared {relation}({})", columns.join(", ")));
    }
    for warning in &imported.warnings {
        notices.say(&format!("warning: {file}: {}", printable(warning)));
    }
    for problem in &imported.skipped.first {
        notices.say(&format!("warning: {problem}"));
    }
    let skipped = imported.skipped.count;
    if skipped > imported.skipped.first.len() as u64 {
        notices.say(&format!("warning: and {} more", skipped - imported.skipped.first.len() as u64));
    }
    let mut told = format!("{file}: inserted {} into {relation}", counted(imported.inserted, "fact"));
    if imported.duplicates > 0 {
        told += &format!(", {} known before", imported.duplicates);
    }
    if skipped > 0 {
        told += &format!(", {} skipped", counted(skipped, "record"));
    }
    notices.note(&told);
}
