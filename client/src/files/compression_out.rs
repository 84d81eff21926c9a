//! Files that are compressed while they are written, as their names say.
//!
//! Both formats may be several compressed parts, one after the other, so answers can be added to a file.

use super::compression::Compression;
use super::error::FileError;
use super::format::FileFormat;
use flate2::write::GzEncoder;
use std::io::{self, Write};
use std::path::Path;

impl Compression {
    /// What compresses for a file of this name and format; nothing, where the name says nothing of it. Parquet and Arrow
    /// are read from any place of a file, which a compressed one does not allow.
    pub fn out<'w>(
        path: &Path,
        format: FileFormat,
        out: impl Write + Send + 'w,
    ) -> Result<Box<dyn Write + Send + 'w>, FileError> {
        Ok(match Compression::of(path) {
            None => Box::new(out),
            Some(_) if format.is_binary() => {
                return Err(format.refused_compressed(&path.display().to_string()));
            }
            Some(compression) => Box::new(Compressed::begin(compression, out)?),
        })
    }
}

/// Compresses what is written. A flush ends a part; what is written after it is the next one.
struct Compressed<W: Write> {
    compression: Compression,
    part: Part<W>,
}

enum Part<W: Write> {
    Gzip(GzEncoder<W>),
    Zstandard(zstd::stream::write::Encoder<'static, W>),
    Ended(W),
    /// An error has ended it.
    Broken,
}

impl<W: Write> Compressed<W> {
    fn begin(compression: Compression, out: W) -> Result<Compressed<W>, FileError> {
        let part = Part::begin(compression, out);
        part.map(|part| Compressed { compression, part }).map_err(|error| FileError::new("", error))
    }

    fn take(&mut self) -> Part<W> {
        std::mem::replace(&mut self.part, Part::Broken)
    }
}

impl<W: Write> Part<W> {
    fn begin(compression: Compression, out: W) -> io::Result<Part<W>> {
        Ok(match compression {
            Compression::Gzip => Part::Gzip(GzEncoder::new(out, flate2::Compression::default())),
            Compression::Zstandard => {
                Part::Zstandard(zstd::stream::write::Encoder::new(out, zstd::DEFAULT_COMPRESSION_LEVEL)?)
            }
        })
    }

    fn end(self) -> io::Result<W> {
        match self {
            Part::Gzip(encoder) => encoder.finish(),
            Part::Zstandard(encoder) => encoder.finish(),
            Part::Ended(out) => Ok(out),
            Part::Broken => Err(broken()),
        }
    }
}

impl<W: Write> Write for Compressed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Part::Ended(_) = &self.part
            && let Part::Ended(out) = self.take()
        {
            self.part = Part::begin(self.compression, out)?;
        }
        match &mut self.part {
            Part::Gzip(encoder) => encoder.write(bytes),
            Part::Zstandard(encoder) => encoder.write(bytes),
            Part::Ended(_) | Part::Broken => Err(broken()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut out = self.take().end()?;
        out.flush()?;
        self.part = Part::Ended(out);
        Ok(())
    }
}

fn broken() -> io::Error {
    io::Error::other("an earlier part could not be compressed")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::compression::plain;
    use std::io::{Cursor, Read};

    fn round(compression: Compression, parts: &[&str]) -> String {
        let mut bytes = Vec::new();
        let mut out = Compressed::begin(compression, &mut bytes).unwrap();
        for part in parts {
            out.write_all(part.as_bytes()).unwrap();
            out.flush().unwrap();
        }
        drop(out);
        let (mut plain, found) = plain(Box::new(Cursor::new(bytes))).unwrap();
        assert_eq!(found, Some(compression));
        let mut text = String::new();
        plain.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn parts_are_read_as_one() {
        for compression in [Compression::Gzip, Compression::Zstandard] {
            assert_eq!(round(compression, &["a,b\n", "1,2\n"]), "a,b\n1,2\n");
            assert_eq!(round(compression, &[""]), "");
        }
    }
}
