//! Compressed files: gzip and Zstandard. What is read tells by its first bytes.

use super::sample::Source;
use flate2::read::MultiGzDecoder;
use std::io::{self, Cursor, Read};
use std::path::Path;

/// How a file is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// `.gz`
    Gzip,
    /// `.zst`
    Zstandard,
}

impl Compression {
    /// What the ending of a path says.
    pub fn of(path: &Path) -> Option<Compression> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "gz" | "gzip" => Some(Compression::Gzip),
            "zst" | "zstd" => Some(Compression::Zstandard),
            _ => None,
        }
    }

    /// What a file begins with.
    fn magic(self) -> &'static [u8] {
        match self {
            Compression::Gzip => &[0x1f, 0x8b],
            Compression::Zstandard => &[0x28, 0xb5, 0x2f, 0xfd],
        }
    }
}

/// The source without its compression, if it has one.
pub(super) fn plain(mut source: Source) -> io::Result<(Source, Option<Compression>)> {
    let mut beginning = Vec::new();
    source.by_ref().take(4).read_to_end(&mut beginning)?;
    let is = |compression: &Compression| beginning.starts_with(compression.magic());
    let found = [Compression::Gzip, Compression::Zstandard].into_iter().find(is);
    let whole = Cursor::new(beginning).chain(source);
    let plain: Source = match found {
        None => Box::new(whole),
        Some(Compression::Gzip) => Box::new(MultiGzDecoder::new(whole)),
        Some(Compression::Zstandard) => Box::new(zstd::stream::read::Decoder::new(whole)?),
    };
    Ok((plain, found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_compressed_stays_as_it_is() {
        for text in ["", "a", "a,b\n1,2\n"] {
            let (mut plain, found) = plain(Box::new(Cursor::new(text.as_bytes().to_vec()))).unwrap();
            let mut read = String::new();
            plain.read_to_string(&mut read).unwrap();
            assert_eq!((read.as_str(), found), (text, None));
        }
    }
}
