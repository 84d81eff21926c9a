//! `stratalog._native`: a database inside of Python. What is asked of it goes over a socket of its own, as to a server, so
//! everything else is the client's.

#![allow(missing_docs, reason = "the macros make items of their own")]

use std::os::fd::IntoRawFd as _;
use std::path::PathBuf;

use arrow::array::Array as _;
use arrow::record_batch::{RecordBatch, RecordBatchIterator};
use pyo3::exceptions::{PyChildProcessError, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use pyo3_arrow::{PyRecordBatch, PyRecordBatchReader};
use stratalog_server::{Embedded, EmbeddedError, EmbeddedPlace, HandedRows};

/// A database that is open in this process.
#[pyclass(frozen, module = "stratalog._native")]
struct Database {
    embedded: Embedded,
}

#[pymethods]
impl Database {
    /// Opens a folder, or one in memory.
    #[new]
    #[pyo3(signature = (folder=None, threads=None))]
    fn open(py: Python<'_>, folder: Option<PathBuf>, threads: Option<usize>) -> PyResult<Database> {
        let place = folder.map_or(EmbeddedPlace::Memory, EmbeddedPlace::Folder);
        let embedded = py.detach(|| Embedded::open(place, threads)).map_err(|error| refused(&error))?;
        Ok(Database { embedded })
    }

    /// The file descriptor of another connection, which is the caller's to close.
    fn connect(&self, py: Python<'_>) -> PyResult<i32> {
        let socket = py.detach(|| self.embedded.connect()).map_err(|error| refused(&error))?;
        Ok(socket.into_raw_fd())
    }

    /// Leaves rows for an insert, where they are; answers the frame that stands for them.
    fn deposit<'py>(&self, py: Python<'py>, batches: Vec<PyRecordBatch>) -> PyResult<Bound<'py, PyBytes>> {
        let batches: Vec<RecordBatch> = batches.into_iter().map(PyRecordBatch::into_inner).collect();
        let frame = py.detach(|| {
            // Whoever has made them may have promised what is not so, such as texts that are UTF-8.
            let mut columns = batches.iter().flat_map(RecordBatch::columns);
            columns
                .try_for_each(|column| column.to_data().validate_full())
                .map_err(|error| PyValueError::new_err(format!("this is no valid Arrow data: {error}")))?;
            self.embedded.deposit(batches).map_err(|error| refused(&error))
        })?;
        Ok(PyBytes::new(py, &frame))
    }

    /// Takes rows back that no insert has taken.
    fn withdraw(&self, py: Python<'_>, frame: &[u8]) -> PyResult<()> {
        py.detach(|| self.embedded.withdraw(frame)).map_err(|error| refused(&error))
    }

    /// Takes the rows of an answer, by the frame that stands for them.
    fn collect(&self, py: Python<'_>, frame: &[u8]) -> PyResult<Rows> {
        let rows = py.detach(|| self.embedded.collect(frame)).map_err(|error| refused(&error))?;
        rows.map(Rows).ok_or_else(|| PyValueError::new_err("no rows are left there"))
    }

    /// Ends all connections, and leaves the folder in order.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.embedded.close()).map_err(|error| refused(&error))
    }
}

/// The rows of an answer, which take the memory of the database as long as this is there.
#[pyclass(frozen, module = "stratalog._native")]
struct Rows(HandedRows);

#[pymethods]
impl Rows {
    /// All of them as an Arrow stream, as often as it is asked for.
    fn stream(&self) -> PyRecordBatchReader {
        PyRecordBatchReader::new(Box::new(RecordBatchIterator::new(self.0.batches(), self.0.schema())))
    }
}

fn refused(error: &EmbeddedError) -> PyErr {
    match error {
        EmbeddedError::Forked | EmbeddedError::ForkedOpen => PyChildProcessError::new_err(error.to_string()),
        _ => PyOSError::new_err(error.to_string()),
    }
}

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::{Database, Rows};
}
