//! Rows as JSON objects, in the order of the columns.

use super::arrays::{self, Numbers};
use super::text_out::Marked;
use std::io::{self, Write};
use stratalog_protocol::Value;

/// In columns of any type, and of lists, these are told from vectors.
pub(super) fn write_row(
    out: &mut dyn Write,
    keys: &[String],
    row: &[Value],
    marked: &[Marked],
) -> io::Result<()> {
    out.write_all(b"{")?;
    for (i, ((key, value), mark)) in keys.iter().zip(row).zip(marked).enumerate() {
        if i > 0 {
            out.write_all(b",")?;
        }
        serde_json::to_writer(&mut *out, key)?;
        out.write_all(b":")?;
        match (value, mark) {
            (Value::List(_), Marked::Any) => {
                out.write_all(arrays::json(value, Numbers::InVectors).as_bytes())?;
            }
            (Value::List(_), Marked::List) => {
                out.write_all(arrays::json(value, Numbers::AsTheyAre).as_bytes())?;
            }
            _ => serde_json::to_writer(&mut *out, value)?,
        }
    }
    out.write_all(b"}")
}

/// The column names, each once: two of one name would lose a value in an object, so the later ones are called `name_2`,
/// `name_3`, ...
pub(super) fn keys(columns: &[String]) -> Vec<String> {
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
    use super::*;

    #[test]
    fn objects_keep_the_order_of_the_columns() {
        let mut out = Vec::new();
        let row = [Value::Null, Value::Text("q\"\n".into()), Value::Float(2.0)];
        let keys = keys(&["z".into(), "a".into(), "b".into()]);
        write_row(&mut out, &keys, &row, &[Marked::Nothing; 3]).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "{\"z\":null,\"a\":\"q\\\"\\n\",\"b\":2.0}");
    }

    #[test]
    fn columns_of_one_name_are_told_apart() {
        assert_eq!(keys(&["X".into(), "X".into(), "X_2".into()]), ["X", "X_2", "X_2_2"]);
    }
}
