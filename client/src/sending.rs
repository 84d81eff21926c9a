//! The rows of a file on their way to the server, in one commit or in parts.

use crate::client::Client;
use crate::errors::ClientError;
use crate::files::{Column, FileError, FileReader, ReadOptions, Skipped};
use crate::imported::{Imported, Progress};
use crate::inserted::Inserted;
use crate::upload::Upload;
use arrow::array::RecordBatch;
use std::path::PathBuf;
use stratalog_protocol::Scope;
use tokio::sync::mpsc;

impl Client {
    /// One commit.
    pub(crate) async fn send_whole(
        &self,
        relation: &str,
        batches: &mut Batches,
        told: &mut impl FnMut(Progress),
    ) -> Result<Imported, ClientError> {
        let mut upload: Option<Upload> = None;
        loop {
            match next(batches).await? {
                Part::Batch(batch, progress) => {
                    let upload = match &mut upload {
                        Some(upload) => upload,
                        none => none.insert(self.upload(relation, &batch.schema(), Scope::Persistent).await?),
                    };
                    upload.write(&batch).await?;
                    told(progress);
                }
                Part::End(skipped, warnings) => {
                    let mut imported = Imported { skipped, warnings, ..Imported::default() };
                    if let Some(upload) = upload {
                        imported.add(&upload.finish().await?);
                    }
                    return Ok(imported);
                }
            }
        }
    }

    /// A commit for so many rows.
    pub(crate) async fn send_parts(
        &self,
        relation: &str,
        batches: &mut Batches,
        every: u64,
        told: &mut impl FnMut(Progress),
    ) -> Result<Imported, ClientError> {
        let mut imported = Imported::default();
        let mut committed = 0;
        let sent = async {
            // What is to be committed next, and how many rows it has.
            let mut open: Option<(Upload, u64)> = None;
            loop {
                let (batch, progress) = match next(batches).await? {
                    Part::Batch(batch, progress) => (batch, progress),
                    Part::End(skipped, warnings) => {
                        if let Some((upload, rows)) = open {
                            imported.add(&upload.finish().await?);
                            committed += rows;
                        }
                        (imported.skipped, imported.warnings) = (skipped, warnings);
                        return Ok(());
                    }
                };
                let mut at = 0;
                while at < batch.num_rows() {
                    let (mut upload, rows) = match open.take() {
                        Some(open) => open,
                        None => (self.upload(relation, &batch.schema(), Scope::Persistent).await?, 0),
                    };
                    let room = usize::try_from(every - rows).unwrap_or(usize::MAX);
                    let part = batch.slice(at, room.min(batch.num_rows() - at));
                    upload.write(&part).await?;
                    at += part.num_rows();
                    let rows = rows + part.num_rows() as u64;
                    if rows < every {
                        open = Some((upload, rows));
                        continue;
                    }
                    imported.add(&upload.finish().await?);
                    committed += rows;
                    told(Progress { committed, ..progress });
                }
                told(Progress { committed, ..progress });
            }
        };
        let outcome: Result<(), ClientError> = sent.await;
        match outcome {
            Ok(()) => Ok(imported),
            Err(cause) => Err(partly(committed, &imported, cause)),
        }
    }
}

/// The error, with what was committed before.
pub(crate) fn partly(rows: u64, before: &Imported, cause: ClientError) -> ClientError {
    let committed =
        Inserted { inserted: before.inserted, duplicates: before.duplicates, ..Inserted::default() };
    match rows {
        0 => cause,
        _ => ClientError::PartlyInserted { rows, committed, cause: Box::new(cause) },
    }
}

/// What a thread has read.
async fn next(batches: &mut Batches) -> Result<Part, ClientError> {
    let part =
        batches.recv().await.ok_or_else(|| ClientError::protocol("the file was not read to its end"))?;
    Ok(part?)
}

/// What a thread reads from a file.
pub(crate) enum Part {
    Batch(RecordBatch, Progress),
    End(Skipped, Vec<String>),
}

pub(crate) type Batches = mpsc::Receiver<Result<Part, FileError>>;

/// Opens a file and reads it on a thread of its own, a little ahead.
pub(crate) async fn read(path: PathBuf, options: ReadOptions) -> Result<(Vec<Column>, Batches), ClientError> {
    let (parts, batches) = mpsc::channel(2);
    let (opened, columns) = tokio::sync::oneshot::channel();
    tokio::task::spawn_blocking(move || {
        let mut reader = match FileReader::open(&path, &options) {
            Ok(reader) => reader,
            Err(error) => {
                let _ = opened.send(Err(error)); // nobody waits where the import was given up
                return;
            }
        };
        let _ = opened.send(Ok(reader.columns()));
        let mut rows = 0;
        while let Some(batch) = reader.next() {
            let part = batch.map(|batch| {
                rows += batch.num_rows() as u64;
                let (done, total) = reader.progress();
                Part::Batch(
                    batch,
                    Progress { rows, committed: 0, done, total, in_rows: reader.counts_rows() },
                )
            });
            if parts.blocking_send(part).is_err() {
                return;
            }
        }
        let _ = parts.blocking_send(Ok(Part::End(reader.skipped().clone(), reader.warnings())));
    });
    match columns.await {
        Ok(columns) => Ok((columns?, batches)),
        Err(_) => Err(ClientError::protocol("the file was not opened")),
    }
}
