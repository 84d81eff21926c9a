//! The elements of a JSON array, one after the other: an object or an array each.
//!
//! `serde_json` reads values as a whole, and a file may be larger than memory; so the text is cut where an element ends, and
//! each is read by itself. Objects that stand side by side without an array around them are taken, too.

use super::error::FileError;
use super::lines::{Line, parsed};
use std::io::{BufRead, BufReader, Read};

/// The longest element.
const LONGEST: usize = 64 << 20;

/// The elements of a file.
pub(super) struct Elements<R> {
    source: BufReader<R>,
    name: String,
    line: u64,
    text: Vec<u8>,
    /// Something has been read that is no blank.
    begun: bool,
    /// Inside of the brackets around all elements.
    inside: bool,
    /// The brackets are closed.
    closed: bool,
}

impl<R: Read> Elements<R> {
    pub(super) fn new(source: R, name: &str) -> Elements<R> {
        let source = BufReader::with_capacity(1 << 16, source);
        Elements {
            source,
            name: name.to_owned(),
            line: 1,
            text: Vec::new(),
            begun: false,
            inside: false,
            closed: false,
        }
    }

    /// The next element with the line where it begins. What is wrong inside of one is an `Err` inside, after which others
    /// follow.
    pub(super) fn next(&mut self) -> Result<Option<Line>, FileError> {
        let Some(first) = self.begin()? else { return Ok(None) };
        let line = self.line;
        self.text.clear();
        self.text.push(first);
        if matches!(first, b'{' | b'[') {
            self.rest()?;
        } else {
            self.word(first)?;
        }
        Ok(Some((line, parsed(&self.text, &self.name, line))))
    }

    /// The first byte of the next element.
    fn begin(&mut self) -> Result<Option<u8>, FileError> {
        loop {
            let Some(byte) = self.byte()? else {
                return match self.inside && !self.closed {
                    true => Err(self.wrong("the array is not closed: the file ends inside of it")),
                    false => Ok(None),
                };
            };
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' => {}
                b',' if self.inside && !self.closed => {}
                b']' if self.inside && !self.closed => self.closed = true,
                _ if self.closed => return Err(self.wrong("something follows the array")),
                b'[' if !self.begun => (self.begun, self.inside) = (true, true),
                byte => {
                    self.begun = true;
                    return Ok(Some(byte));
                }
            }
        }
    }

    /// The rest of an object or an array, whose bracket has been read.
    fn rest(&mut self) -> Result<(), FileError> {
        let (mut depth, mut in_text, mut escaped) = (1_usize, false, false);
        let line = self.line;
        while depth > 0 {
            let Some(byte) = self.byte()? else {
                return Err(FileError::at(
                    &self.name,
                    line,
                    "what begins here is not closed: the file ends inside of it",
                ));
            };
            self.text.push(byte);
            match byte {
                _ if escaped => escaped = false,
                b'\\' if in_text => escaped = true,
                b'"' => in_text = !in_text,
                b'{' | b'[' if !in_text => depth += 1,
                b'}' | b']' if !in_text => depth -= 1,
                _ => {}
            }
            if self.text.len() > LONGEST {
                return Err(FileError::at(&self.name, line, "a row of more than 64 MiB begins here"));
            }
        }
        Ok(())
    }

    /// The rest of what is neither, and so no row.
    fn word(&mut self, first: u8) -> Result<(), FileError> {
        let mut escaped = false;
        while let Some(byte) = self.peek()? {
            let ends = if first == b'"' { false } else { matches!(byte, b',' | b']' | b'\n') };
            if ends || self.text.len() > LONGEST {
                return Ok(());
            }
            self.byte()?;
            self.text.push(byte);
            if first == b'"' && byte == b'"' && !escaped {
                return Ok(());
            }
            escaped = byte == b'\\' && !escaped;
        }
        Ok(())
    }

    fn peek(&mut self) -> Result<Option<u8>, FileError> {
        let filled = self.source.fill_buf().map_err(|error| FileError::new(&self.name, error))?;
        Ok(filled.first().copied())
    }

    fn byte(&mut self) -> Result<Option<u8>, FileError> {
        let byte = self.peek()?;
        if let Some(byte) = byte {
            self.source.consume(1);
            self.line += u64::from(byte == b'\n');
        }
        Ok(byte)
    }

    fn wrong(&self, problem: &str) -> FileError {
        FileError::at(&self.name, self.line, problem)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value as Json, json};

    type Rows = Vec<(u64, Result<Json, String>)>;

    fn read(text: &str) -> Result<Rows, String> {
        let mut elements = Elements::new(text.as_bytes(), "f");
        let mut found = Vec::new();
        while let Some((line, json)) = elements.next().map_err(|error| error.to_string())? {
            found.push((line, json.map_err(|error| error.to_string())));
        }
        Ok(found)
    }

    #[test]
    fn elements_are_rows_wherever_lines_end() {
        let text = "[\n  {\"a\": \"}],\\\"\"},\n  {\"a\":\n [1, 2]},[1]\n]\n";
        let rows = [(2, json!({"a": "}],\""})), (3, json!({"a": [1, 2]})), (4, json!([1]))];
        assert_eq!(read(text).unwrap(), rows.map(|(line, json)| (line, Ok(json))));
        assert_eq!(read("[]\n").unwrap(), []);
        assert_eq!(read("").unwrap(), []);
        assert_eq!(read("[[1, 2], [3, 4]]").unwrap(), [(1, Ok(json!([1, 2]))), (1, Ok(json!([3, 4])))]);
        assert_eq!(
            read("{\"a\": 1}\n{\"a\":\n2}").unwrap(),
            [(1, Ok(json!({"a": 1}))), (2, Ok(json!({"a": 2})))]
        );
    }

    #[test]
    fn faults_have_their_lines() {
        let rows = read("[{\"a\": 1},\n7,\n\"x, y\",\n{\"a\" 1},\n{\"a\": 2}]").unwrap();
        assert_eq!(rows.len(), 5);
        assert!(rows[1].1.as_ref().unwrap_err().starts_with("f:2: invalid type: integer `7`"), "{rows:?}");
        assert!(rows[2].1.as_ref().unwrap_err().starts_with("f:3: "), "{rows:?}");
        assert!(rows[3].1.as_ref().unwrap_err().starts_with("f:4: "), "{rows:?}");
        assert_eq!(rows[4], (5, Ok(json!({"a": 2}))));
        assert_eq!(
            read("[{\"a\": 1},\n{\"a\"").unwrap_err(),
            "f:2: what begins here is not closed: the file ends inside of it"
        );
        assert!(read("[{\"a\": 1}\n").unwrap_err().contains("is not closed"));
        assert!(read("[{\"a\": 1}] x").unwrap_err().contains("follows the array"));
    }
}
