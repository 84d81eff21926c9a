//! `Table`: the rows of a relation, in memory or in files.

use stratalog_engine::data::{Code, Run};

use crate::batches;

/// A file of rows that agree in the hash of their key.
#[derive(Debug, Clone)]
pub(crate) struct File {
    pub(crate) object: String,
    pub(crate) rows: usize,
    pub(crate) bytes: u64,
}

/// Rows that came about together: a file a part that has any, beside the part's number.
#[derive(Debug, Clone, Default)]
pub(crate) struct Layer {
    pub(crate) files: Vec<(usize, File)>,
}

impl Layer {
    pub(crate) fn rows(&self) -> usize {
        self.files.iter().map(|(_, file)| file.rows).sum()
    }
}

/// The rows of a relation: those in memory and those in files have none in common.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    pub(crate) arity: usize,
    /// In memory.
    pub(crate) runs: Vec<Run>,
    /// In files.
    pub(crate) layers: Vec<Layer>,
    /// By which columns the rows of files are cut into parts; no two parts have a row in common.
    pub(crate) key: Vec<usize>,
}

impl Table {
    /// Rows in memory.
    pub(crate) fn of_runs(arity: usize, runs: Vec<Run>) -> Table {
        Table { arity, runs, ..Table::default() }
    }

    /// Rows in files.
    pub(crate) fn of_layers(arity: usize, key: Vec<usize>, layers: Vec<Layer>) -> Table {
        Table {
            arity,
            key,
            layers: layers.into_iter().filter(|layer| layer.rows() > 0).collect(),
            ..Table::default()
        }
    }

    pub(crate) fn rows(&self) -> usize {
        self.runs.iter().map(Run::len).sum::<usize>() + self.layers.iter().map(Layer::rows).sum::<usize>()
    }

    /// Bytes that its rows have in memory.
    pub(crate) fn bytes(&self) -> usize {
        self.rows() * self.arity * size_of::<Code>()
    }

    /// The rows in memory, in so many heaps of batches of about the same size.
    pub(crate) fn heaps(&self, heaps: usize) -> Vec<Vec<arrow::array::RecordBatch>> {
        let mut all = vec![Vec::new(); heaps];
        let batches = self.runs.iter().filter(|run| !run.is_empty()).map(batches::of_run);
        let mut next = 0;
        for batch in batches {
            let slice = batch.num_rows().div_ceil(heaps).max(SMALLEST_SLICE);
            for start in (0..batch.num_rows()).step_by(slice) {
                all[next % heaps].push(batch.slice(start, slice.min(batch.num_rows() - start)));
                next += 1;
            }
        }
        all
    }
}

/// Fewer rows are not worth a part of their own.
pub(crate) const SMALLEST_SLICE: usize = 1 << 10;
