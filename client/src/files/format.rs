//! The formats of files, in one list.

use super::compression::Compression;
use super::error::FileError;
use std::fmt;
use std::path::Path;

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileFormat {
    /// Comma-separated, RFC 4180: null is nothing, and an empty string is `""`.
    Csv,
    /// Tab-separated: tab, line break and backslash are `\t`, `\n` and `\\`, null is `\N`.
    Tsv,
    /// One array with one object a row.
    Json,
    /// One object a line.
    JsonLines,
    /// Parquet.
    Parquet,
    /// Arrow IPC, as a file or a stream.
    Arrow,
    /// RDF, a triple a line.
    NTriples,
    /// RDF with prefixes.
    Turtle,
    /// RDF in named graphs, a quad a line.
    NQuads,
}

/// Names and endings of each, the usual one first.
const FORMATS: &[(FileFormat, &[&str])] = &[
    (FileFormat::Csv, &["csv"]),
    (FileFormat::Tsv, &["tsv", "tab"]),
    (FileFormat::Json, &["json"]),
    (FileFormat::JsonLines, &["jsonl", "ndjson"]),
    (FileFormat::Parquet, &["parquet", "pq"]),
    (FileFormat::Arrow, &["arrow", "ipc", "feather", "arrows"]),
    (FileFormat::NTriples, &["nt"]),
    (FileFormat::Turtle, &["ttl"]),
    (FileFormat::NQuads, &["nq"]),
];

impl FileFormat {
    /// Every format.
    pub fn all() -> impl Iterator<Item = FileFormat> {
        FORMATS.iter().map(|(format, _)| *format)
    }

    /// The usual ending of such files, which is also the format's name.
    pub fn name(self) -> &'static str {
        FORMATS.iter().find(|(format, _)| *format == self).map_or("", |(_, names)| names[0])
    }

    /// The format of this name or ending.
    pub fn named(name: &str) -> Option<FileFormat> {
        let is = |known: &&str| known.eq_ignore_ascii_case(name);
        FORMATS.iter().find(|(_, names)| names.iter().any(is)).map(|(format, _)| *format)
    }

    /// What the ending of a path says, or of a compressed file the one before it: `a.csv.gz`.
    pub fn of(path: &Path) -> Option<FileFormat> {
        let name = if Compression::of(path).is_some() { path.file_stem()?.as_ref() } else { path };
        FileFormat::named(name.extension()?.to_str()?)
    }

    /// What a file that begins so holds, in any case.
    pub(super) fn told_by(beginning: &[u8]) -> Option<&'static str> {
        let is = |magic: &[u8]| beginning.starts_with(magic);
        match () {
            () if is(b"PAR1") => Some("a Parquet file"),
            () if is(b"ARROW1") => Some("an Arrow file"),
            () if is(&[0x1f, 0x8b]) => Some("compressed by gzip"),
            () if is(&[0x28, 0xb5, 0x2f, 0xfd]) => Some("compressed by Zstandard"),
            () => None,
        }
    }

    /// Whether it is triples.
    pub(crate) fn is_triples(self) -> bool {
        matches!(self, FileFormat::NTriples | FileFormat::Turtle)
    }

    /// Whether it holds Arrow data, and no text.
    pub(super) fn is_binary(self) -> bool {
        matches!(self, FileFormat::Parquet | FileFormat::Arrow)
    }

    /// What is wrong with a compressed file of this format, which is not read through a compression.
    pub(super) fn refused_compressed(self, name: &str) -> FileError {
        let problem = format!("a file of {self} is not compressed as a whole");
        let help = match self {
            FileFormat::Parquet => {
                "Parquet compresses by itself: leave out the second ending, or decompress the file first"
            }
            _ => "leave out the second ending, or decompress the file first",
        };
        FileError::new(name, problem).help(help)
    }
}

impl fmt::Display for FileFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_tells_the_format() {
        assert_eq!(FileFormat::of(Path::new("a/b.CSV")), Some(FileFormat::Csv));
        assert_eq!(FileFormat::of(Path::new("a.b.ndjson")), Some(FileFormat::JsonLines));
        assert_eq!(FileFormat::of(Path::new("csv")), None);
        assert_eq!(FileFormat::of(Path::new("a.b/c.jsonl.ZST")), Some(FileFormat::JsonLines));
        assert_eq!(FileFormat::of(Path::new("a.gz")), None);
        assert!(FileFormat::all().all(|format| FileFormat::named(format.name()) == Some(format)));
    }
}
