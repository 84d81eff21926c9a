//! Text in another encoding than UTF-8, by the labels of the Encoding Standard, and `latin-1`.
//!
//! Nothing is replaced on the way: bytes that stand for no character end the reading.

use super::sample::Source;
use encoding_rs::{Decoder, DecoderResult, Encoding, WINDOWS_1252};
use std::fmt;
use std::io::{self, Read};
use std::str::FromStr;

/// An encoding of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextEncoding(&'static Encoding);

impl FromStr for TextEncoding {
    type Err = String;

    fn from_str(label: &str) -> Result<TextEncoding, String> {
        let known = match label.trim().to_ascii_lowercase().replace('_', "-").as_str() {
            "latin-1" | "iso-latin-1" => Some(WINDOWS_1252), // what the standard reads `latin1` as
            label => Encoding::for_label(label.as_bytes()),
        };
        known.map(TextEncoding).ok_or_else(|| {
            format!(
                "`{label}` is not known: such are latin-1, windows-1252, iso-8859-15, utf-16, shift_jis, gbk"
            )
        })
    }
}

impl fmt::Display for TextEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name())
    }
}

impl TextEncoding {
    /// The source as UTF-8.
    pub(super) fn decoded(self, source: Source) -> Source {
        Box::new(Decoded {
            source,
            decoder: self.0.new_decoder(),
            input: vec![0; BUFFER],
            filled: 0,
            output: vec![0; 4 * BUFFER],
            ready: 0..0,
            ended: false,
        })
    }
}

/// What to do about text that is not UTF-8, by its first bytes: the encoding is named where they tell it.
pub(super) fn advice(bytes: &[u8]) -> &'static str {
    let utf_16 = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
    if utf_16 || bytes.iter().take(64).any(|byte| *byte == 0) {
        return "it looks like UTF-16: `--encoding utf-16` reads it";
    }
    "it may be Latin-1, as many spreadsheets write it: `--encoding latin-1` reads it"
}

const BUFFER: usize = 1 << 14;

struct Decoded {
    source: Source,
    decoder: Decoder,
    input: Vec<u8>,
    /// Bytes of the input that are not decoded yet.
    filled: usize,
    output: Vec<u8>,
    /// The part of the output that nobody has taken yet.
    ready: std::ops::Range<usize>,
    ended: bool,
}

impl Read for Decoded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.ready.is_empty() && !self.ended {
            self.decode()?;
        }
        let taken = self.ready.len().min(buffer.len());
        buffer[..taken].copy_from_slice(&self.output[self.ready.start..self.ready.start + taken]);
        self.ready.start += taken;
        Ok(taken)
    }
}

impl Decoded {
    fn decode(&mut self) -> io::Result<()> {
        let read = self.source.read(&mut self.input[self.filled..])?;
        let last = read == 0;
        let available = self.filled + read;
        let (result, used, written) =
            self.decoder.decode_to_utf8_without_replacement(&self.input[..available], &mut self.output, last);
        self.input.copy_within(used..available, 0);
        self.filled = available - used;
        self.ready = 0..written;
        match result {
            DecoderResult::Malformed(_, _) => {
                let name = self.decoder.encoding().name();
                Err(io::Error::new(io::ErrorKind::InvalidData, format!("this is not {name}")))
            }
            DecoderResult::InputEmpty => {
                self.ended = last;
                Ok(())
            }
            DecoderResult::OutputFull => Ok(()), // it is emptied, and more comes
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(label: &str, bytes: &[u8]) -> io::Result<String> {
        let encoding: TextEncoding = label.parse().unwrap();
        let mut text = String::new();
        encoding.decoded(Box::new(io::Cursor::new(bytes.to_vec()))).read_to_string(&mut text)?;
        Ok(text)
    }

    #[test]
    fn encodings_have_names() {
        assert_eq!(read("latin-1", b"Z\xfcrich,Malm\xf6\n").unwrap(), "Zürich,Malmö\n");
        assert_eq!(read("UTF-16", b"\xff\xfea\0\xfc\0").unwrap(), "aü");
        assert_eq!(read("utf-16", b"\xfe\xff\0a\0\xfc").unwrap(), "aü");
        assert_eq!(read("shift_jis", b"\x93\xfa\x96{").unwrap(), "日本");
        assert!("klingon".parse::<TextEncoding>().unwrap_err().contains("latin-1"));
        let long = b"\xe9".repeat(100_000);
        assert_eq!(read("latin1", &long).unwrap(), "é".repeat(100_000));
    }

    #[test]
    fn nothing_is_replaced() {
        assert!(read("utf-8", b"a\xff").unwrap_err().to_string().contains("this is not UTF-8"));
        assert!(read("utf-16", b"\xff\xfea").unwrap_err().to_string().contains("this is not UTF-16LE"));
    }
}
