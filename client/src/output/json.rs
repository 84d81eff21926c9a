//! Rows as JSON objects, in the order of the columns.
//!
//! Two columns of one name would lose a value in an object, so the later ones are called `name_2`, `name_3`, ...

use std::io::{self, Write};
use stratalog_client::{Answer, Value};

/// One array; one row a line, so that it can be read and compared line by line.
pub(super) fn write_array(out: &mut dyn Write, answer: &Answer) -> io::Result<()> {
    let keys = keys(&answer.columns);
    out.write_all(b"[")?;
    for (i, row) in answer.rows.iter().enumerate() {
        out.write_all(if i == 0 { "\n  " } else { ",\n  " }.as_bytes())?;
        write_row(out, &keys, row)?;
    }
    out.write_all(if answer.rows.is_empty() { "]\n" } else { "\n]\n" }.as_bytes())
}

/// One object a line.
pub(super) fn write_lines(out: &mut dyn Write, answer: &Answer) -> io::Result<()> {
    let keys = keys(&answer.columns);
    for row in &answer.rows {
        write_row(out, &keys, row)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

fn write_row(out: &mut dyn Write, keys: &[String], row: &[Value]) -> io::Result<()> {
    out.write_all(b"{")?;
    for (i, (key, value)) in keys.iter().zip(row).enumerate() {
        if i > 0 {
            out.write_all(b",")?;
        }
        serde_json::to_writer(&mut *out, key)?;
        out.write_all(b":")?;
        serde_json::to_writer(&mut *out, value)?;
    }
    out.write_all(b"}")
}

/// The column names, each once.
fn keys(columns: &[String]) -> Vec<String> {
    let mut keys: Vec<String> = Vec::with_capacity(columns.len());
    for name in columns {
        let mut key = name.clone();
        let mut copy = 2;
        while keys.contains(&key) {
            key = format!("{name}_{copy}");
            copy += 1;
        }
        keys.push(key);
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::super::tests::{answer, written};
    use serde_json::json;

    #[test]
    fn objects_keep_the_order_of_the_columns() {
        let two = answer(&["z", "a"], json!([["q\"\n", 2.0], [null, [1]]]));
        assert_eq!(
            written(&two, Format::Jsonl),
            "{\"z\":\"q\\\"\\n\",\"a\":2.0}\n{\"z\":null,\"a\":[1.0]}\n"
        );
        assert_eq!(
            written(&two, Format::Json),
            "[\n  {\"z\":\"q\\\"\\n\",\"a\":2.0},\n  {\"z\":null,\"a\":[1.0]}\n]\n"
        );
        assert_eq!(written(&answer(&["a"], json!([])), Format::Json), "[]\n");
    }

    #[test]
    fn columns_of_one_name_are_told_apart() {
        let answer = answer(&["X", "X", "X_2"], json!([[1, 2, 3]]));
        assert_eq!(written(&answer, Format::Jsonl), "{\"X\":1,\"X_2\":2,\"X_2_2\":3}\n");
    }
}
