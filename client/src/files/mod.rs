//! Files in and out, a few batches at a time: CSV, TSV, JSON, Parquet, Arrow IPC and RDF, compressed or not.
//!
//! [`FileReader`] turns a file into Arrow batches for [`Client::insert_file`](crate::Client::insert_file), and
//! [`FileWriter`] writes the batches of an answer.

mod arrays;
mod arrow_files;
mod cells;
mod column_type;
mod compression;
mod compression_out;
mod conversion;
mod delimited;
mod delimited_rows;
mod elements;
mod encoding;
mod epoch;
mod error;
mod format;
mod infer;
mod json_out;
mod json_rows;
mod layout;
mod lines;
mod losses;
mod new_file;
mod options;
mod predicates;
mod quotes;
mod rdf;
mod rdf_out;
mod reader;
mod sample;
mod skipped;
mod table;
mod text_out;
mod values;
mod writer;

pub use column_type::{Column, ColumnType};
pub use compression::Compression;
pub use encoding::TextEncoding;
pub use epoch::Epoch;
pub use error::FileError;
pub use format::FileFormat;
pub use new_file::NewFile;
pub use options::ReadOptions;
pub(crate) use predicates::Predicates;
pub use reader::FileReader;
pub use skipped::{OnError, Skipped};
pub use text_out::value_text;
pub use values::{rows, rows_with_times};
pub use writer::{FileWriter, WriteOptions};
