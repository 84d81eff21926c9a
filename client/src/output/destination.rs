//! Where rows go: standard output, or a file.

use super::cells::Harmless;
use super::{Format, Pager, ending};
use crate::interrupts::Interrupts;
use crate::terminal;
use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use stratalog_client::files::{Compression, FileError, NewFile};

/// Where rows go.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Destination {
    /// Standard output.
    #[default]
    Output,
    /// A file with one answer, which is there when that is complete.
    File(PathBuf),
    /// A file to which answers are added. Nothing that it holds is ever written over.
    Log(PathBuf),
}

/// A destination that is being written to.
pub(crate) struct Opened {
    pub out: Box<dyn Write + Send>,
    /// What remains to be done when all is written.
    pub file: Option<NewFile>,
    /// There are rows before these.
    pub goes_on: bool,
}

impl Destination {
    /// Begins to write; what goes to the terminal goes through the pager, if there is one.
    pub(crate) fn open(
        &self,
        format: Format,
        interrupts: &Interrupts,
        pager: Option<&Pager>,
    ) -> Result<Opened, FileError> {
        let goes_on =
            matches!(self, Destination::Log(path) if fs::metadata(path).is_ok_and(|file| file.len() > 0));
        let (out, file): (Box<dyn Write + Send>, _) = match self {
            Destination::Output => {
                let interrupts = interrupts.clone();
                let out: Box<dyn Write + Send> = match (pager, terminal::output_size()) {
                    (Some(pager), Some((columns, rows))) => {
                        let output = pager.output(columns, rows);
                        let output = Interruptible { output, interrupts };
                        match format.of_file().is_some() {
                            true => Box::new(BufWriter::new(Harmless::new(output))),
                            false => Box::new(BufWriter::new(output)),
                        }
                    }
                    _ => {
                        let output = Interruptible { output: io::stdout(), interrupts };
                        match terminal::is_watched() && format.of_file().is_some() {
                            true => Box::new(BufWriter::new(Harmless::new(output))),
                            false => Box::new(BufWriter::new(output)),
                        }
                    }
                };
                (out, None)
            }
            Destination::Log(path) if format.is_whole() && goes_on => {
                let name = path.display().to_string();
                let error = FileError::new(&name, "it holds rows already, and this format holds one answer");
                return Err(FileError {
                    help: Some("choose another file with `.output`".to_owned()),
                    ..error
                });
            }
            Destination::Log(path) if !format.is_whole() => (compressed(path, format, append(path)?)?, None),
            Destination::File(path) | Destination::Log(path) => {
                ending::clean_up_on_signals();
                let (file, out) = NewFile::create(path)?;
                (compressed(path, format, out)?, Some(file))
            }
        };
        Ok(Opened { out, file, goes_on })
    }
}

/// Compressed as the name says.
fn compressed(
    path: &Path,
    format: Format,
    out: BufWriter<fs::File>,
) -> Result<Box<dyn Write + Send>, FileError> {
    match format.of_file() {
        Some(file) => Compression::out(path, file, out),
        None => Ok(Box::new(out)),
    }
}

fn append(path: &Path) -> Result<BufWriter<fs::File>, FileError> {
    let file = OpenOptions::new().create(true).append(true).open(path);
    file.map(BufWriter::new).map_err(|error| FileError::new(&path.display().to_string(), error))
}

/// Standard output without its lock, which is not for threads, or a pager. Nothing comes any more once a person wants to
/// stop.
struct Interruptible<W> {
    output: W,
    interrupts: Interrupts,
}

impl<W: Write> Write for Interruptible<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.interrupts.is_requested() {
            return Err(io::Error::other("interrupted"));
        }
        self.output.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}
