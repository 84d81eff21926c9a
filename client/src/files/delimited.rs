//! Records of CSV and TSV, one after the other, with their lines.
//!
//! Which fields stood in quotes is part of a record: only those that did not can be null. `csv-core` splits the text;
//! in TSV, what is not in quotes has backslashes as PostgreSQL writes them.

use super::encoding;
use super::error::FileError;
use super::format::FileFormat;
use super::quotes::Quotes;
use csv_core::{ReadFieldResult, Reader, ReaderBuilder};
use std::borrow::Cow;
use std::io::Read;

/// The longest record: more is a quote that was left open.
const LONGEST: usize = 16 << 20;
const BUFFER: usize = 1 << 16;

/// The records of a file.
pub(super) struct Records<R> {
    source: R,
    name: String,
    core: Reader,
    format: FileFormat,
    delimiter: u8,
    input: Vec<u8>,
    at: usize,
    ended: bool,
    /// The byte that was read last.
    previous: u8,
    /// In a file of one column an empty line is a record: a null, or an empty string.
    one_column: bool,
    quotes: Quotes,
    /// The record has text behind a closing quote.
    stray: bool,
    /// The fields of the record, one after the other.
    text: Vec<u8>,
    fields: Vec<Field>,
    filled: usize,
    line: u64,
}

#[derive(Debug, Clone, Copy)]
struct Field {
    end: usize,
    quoted: bool,
}

/// A record that was read.
pub(super) struct Record<'r> {
    pub line: u64,
    format: FileFormat,
    text: &'r str,
    fields: &'r [Field],
}

impl<R: Read> Records<R> {
    pub(super) fn new(source: R, name: &str, format: FileFormat, delimiter: Option<u8>) -> Records<R> {
        let delimiter = delimiter.unwrap_or(if format == FileFormat::Tsv { b'\t' } else { b',' });
        Records {
            source,
            name: name.to_owned(),
            core: ReaderBuilder::new().delimiter(delimiter).build(),
            format,
            delimiter,
            input: Vec::new(),
            at: 0,
            ended: false,
            previous: b'\n',
            one_column: false,
            quotes: Quotes::Outside,
            stray: false,
            text: vec![0; 1024],
            fields: Vec::new(),
            filled: 0,
            line: 1,
        }
    }

    /// From now on, empty lines are records: the file has one column.
    pub(super) fn of_one_column(&mut self) {
        self.one_column = true;
    }

    /// The next record. What is wrong with one record is an `Err` inside, after which others follow.
    pub(super) fn next(&mut self) -> Result<Option<Result<Record<'_>, FileError>>, FileError> {
        self.fields.clear();
        self.filled = 0;
        self.stray = false;
        match self.find_record()? {
            Next::Nothing => return Ok(None),
            Next::EmptyLine => self.fields.push(Field { end: 0, quoted: false }),
            Next::Record => {
                self.line = self.core.line();
                while !self.read_field()? {}
            }
        }
        let line = self.line;
        let wrong = |problem: &str| FileError::at(&self.name, line, problem);
        if self.quotes == Quotes::Inside {
            // All that follows is inside of it: there is no next record.
            return Err(wrong("a quote is opened here and never closed"));
        }
        if self.stray {
            let problem = "text follows a closing quote: a quote inside of quotes is written twice";
            return Ok(Some(Err(wrong(problem))));
        }
        let record = match std::str::from_utf8(&self.text[..self.filled]) {
            Ok(text) => Ok(Record { line, format: self.format, text, fields: &self.fields }),
            Err(_) => Err(wrong("this is not UTF-8").help(encoding::advice(&self.text[..self.filled]))),
        };
        Ok(Some(record))
    }

    /// Reads one field; whether the record is complete.
    fn read_field(&mut self) -> Result<bool, FileError> {
        self.fill()?;
        let quoted = self.input.get(self.at) == Some(&b'"');
        let mut opening = usize::from(quoted);
        self.quotes = if quoted { Quotes::Inside } else { Quotes::Outside };
        loop {
            let (result, read, written) =
                self.core.read_field(&self.input[self.at..], &mut self.text[self.filled..]);
            if read > 0 {
                self.previous = self.input[self.at + read - 1];
                if quoted {
                    let bytes = &self.input[self.at + opening..self.at + read];
                    self.quotes = self.quotes.after(bytes, self.delimiter);
                    opening = 0;
                }
            }
            self.at += read;
            self.filled += written;
            match result {
                ReadFieldResult::Field { record_end } => {
                    self.fields.push(Field { end: self.filled, quoted });
                    self.stray |= self.quotes == Quotes::Stray;
                    return Ok(record_end);
                }
                ReadFieldResult::End => return Ok(true),
                ReadFieldResult::InputEmpty => self.fill()?,
                ReadFieldResult::OutputFull => {
                    if self.text.len() > LONGEST {
                        let problem = "a record of more than 16 MiB begins here: is a quote left open?";
                        return Err(FileError::at(&self.name, self.line, problem));
                    }
                    self.text.resize(self.text.len() * 2, 0);
                }
            }
        }
    }

    /// Goes to the next record.
    fn find_record(&mut self) -> Result<Next, FileError> {
        loop {
            self.fill()?;
            let Some(&byte) = self.input.get(self.at) else { return Ok(Next::Nothing) };
            if byte != b'\n' && byte != b'\r' {
                return Ok(Next::Record);
            }
            // The second half of `\r\n` ends no line of its own.
            let ends_line = byte == b'\r' || self.previous != b'\r';
            self.line = self.core.line();
            self.core.set_line(self.line + u64::from(byte == b'\n'));
            self.previous = byte;
            self.at += 1;
            if ends_line && self.one_column {
                return Ok(Next::EmptyLine);
            }
        }
    }

    /// Sees to it that there is input, unless the file has ended.
    fn fill(&mut self) -> Result<(), FileError> {
        if self.at < self.input.len() || self.ended {
            return Ok(());
        }
        self.input.resize(BUFFER, 0);
        let read = self.source.read(&mut self.input).map_err(|error| FileError::new(&self.name, error))?;
        self.input.truncate(read);
        self.at = 0;
        self.ended = read == 0;
        Ok(())
    }
}

/// What comes next in a file.
enum Next {
    Record,
    EmptyLine,
    Nothing,
}

impl<'r> Record<'r> {
    pub(super) fn len(&self) -> usize {
        self.fields.len()
    }

    /// The text of each field and whether it stood in quotes; `None` where it is null: the word for null, in no quotes.
    pub(super) fn fields(&self, null: &'r str) -> impl Iterator<Item = Option<(Cow<'r, str>, bool)>> + '_ {
        let mut start = 0;
        self.fields.iter().map(move |field| {
            // Fields are cut where a delimiter or a quote stood, which are single bytes.
            let text = self.text.get(start..field.end).unwrap_or_default();
            start = field.end;
            if !field.quoted && text == null {
                None
            } else if !field.quoted && self.format == FileFormat::Tsv {
                Some((unescaped(text), false))
            } else {
                Some((Cow::Borrowed(text), field.quoted))
            }
        })
    }
}

fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            plain.push(c);
            continue;
        }
        match chars.next() {
            Some('t') => plain.push('\t'),
            Some('n') => plain.push('\n'),
            Some('r') => plain.push('\r'),
            Some(other @ ('\\' | '"')) => plain.push(other),
            Some(other) => plain.extend(['\\', other]),
            None => plain.push('\\'),
        }
    }
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Found = Vec<(u64, Vec<Option<String>>)>;

    /// Reads with a source that gives a few bytes at a time.
    fn read(text: &str, format: FileFormat, null: &'static str) -> Result<Found, FileError> {
        struct Slowly<'a>(&'a [u8]);
        impl Read for Slowly<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
                let (now, later) = self.0.split_at(self.0.len().min(3));
                buffer[..now.len()].copy_from_slice(now);
                self.0 = later;
                Ok(now.len())
            }
        }
        let mut records = Records::new(Slowly(text.as_bytes()), "f", format, None);
        let mut found = Vec::new();
        while let Some(record) = records.next()? {
            let record = record?;
            let fields = record.fields(null).map(|field| field.map(|(text, _)| text.into_owned())).collect();
            found.push((record.line, fields));
        }
        Ok(found)
    }

    fn some(fields: &[&str]) -> Vec<Option<String>> {
        fields.iter().map(|field| Some((*field).to_owned())).collect()
    }

    #[test]
    fn records_know_their_lines() {
        let text = "a,b\r\n1,2\n\n\"two\nlines\",\"say \"\"hi\"\"\"\n3,4";
        assert_eq!(
            read(text, FileFormat::Csv, "").unwrap(),
            [
                (1, some(&["a", "b"])),
                (2, some(&["1", "2"])),
                (4, some(&["two\nlines", "say \"hi\""])),
                (6, some(&["3", "4"])),
            ]
        );
    }

    #[test]
    fn null_is_not_the_empty_string() {
        let found = read("a,,\"\"\n,\"\",b\n", FileFormat::Csv, "").unwrap();
        assert_eq!(found[0].1, [Some("a".into()), None, Some(String::new())]);
        assert_eq!(found[1].1, [None, Some(String::new()), Some("b".into())]);
        let found = read("NA,\"NA\"\n", FileFormat::Csv, "NA").unwrap();
        assert_eq!(found[0].1, [None, Some("NA".into())]);
    }

    #[test]
    fn tsv_has_backslashes() {
        let found = read("a\\tb\t\\N\t\t\\\\N\t\\\"x\"\n\"a\tb\"\t1\n", FileFormat::Tsv, "\\N").unwrap();
        assert_eq!(
            found[0].1,
            [Some("a\tb".into()), None, Some(String::new()), Some("\\N".into()), Some("\"x\"".into())]
        );
        assert_eq!(found[1].1, some(&["a\tb", "1"]));
    }

    #[test]
    fn an_open_quote_is_told_with_its_line() {
        for text in ["a,b\n1,\"x\ny\n", "a,b\n1,\"x", "a,b\n1,\"x\ny", "a,b\n1,\"x\"\""] {
            let error = read(text, FileFormat::Csv, "").unwrap_err();
            assert_eq!(
                (error.line, error.problem.contains("never closed")),
                (Some(2), true),
                "{text:?} {error}"
            );
        }
        for text in ["a\n\"x\"", "a\n\"x\"\n", "a\n\"x\"\r\n\r\n", "a\n\"x\n\"\n"] {
            assert!(read(text, FileFormat::Csv, "").is_ok(), "{text:?}");
        }
    }

    #[test]
    fn text_behind_a_closing_quote_is_refused() {
        for text in ["a\n\"x\"y\nz\n", "a\n\"x\" \nz\n", "a\n\"x\"\"\"y\nz\n"] {
            let error = read(text, FileFormat::Csv, "").unwrap_err();
            assert!(error.line == Some(2) && error.problem.contains("closing quote"), "{text:?} {error}");
        }
        assert_eq!(read("x\"y\",\"a\"\"b\"\n", FileFormat::Csv, "").unwrap()[0].1, some(&["x\"y\"", "a\"b"]));
    }

    #[test]
    fn an_empty_line_is_a_record_where_there_is_one_column() {
        for text in ["a\n\nb\n\n", "a\r\n\r\nb\r\n\r\n"] {
            let mut records = Records::new(text.as_bytes(), "f", FileFormat::Csv, None);
            records.of_one_column();
            let mut found = Vec::new();
            while let Some(record) = records.next().unwrap() {
                let record = record.unwrap();
                let field = record.fields("").next().unwrap().map(|(text, _)| text.into_owned());
                found.push((record.line, field));
            }
            assert_eq!(
                found,
                [(1, Some("a".into())), (2, None), (3, Some("b".into())), (4, None)],
                "{text:?}"
            );
        }
    }

    #[test]
    fn what_is_not_text_is_refused() {
        let mut records = Records::new(&b"a\n\xff\nb\n"[..], "f", FileFormat::Csv, None);
        assert!(records.next().unwrap().unwrap().is_ok());
        assert_eq!(records.next().unwrap().unwrap().err().unwrap().to_string(), "f:2: this is not UTF-8");
        assert!(records.next().unwrap().unwrap().is_ok());
        assert!(records.next().unwrap().is_none());
    }
}
