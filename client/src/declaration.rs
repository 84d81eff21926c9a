//! The declaration that follows the facts of a file, where the relation is new.

use crate::files::{Column, FileError};
use stratalog_engine::{Code, Diagnostic, Severity, check};

const NAME: &str = "a name starts with a letter or `_`, followed by letters, digits and `_`";

/// The statement that declares a relation.
pub(crate) fn declaration(relation: &str, columns: &[Column]) -> String {
    let columns: Vec<String> =
        columns.iter().map(|column| format!("{}: {}", column.name, column.column_type)).collect();
    format!("+{relation}({})", columns.join(", "))
}

/// Makes sure, before anything is sent, that the declaration that follows the facts says what it should.
pub(crate) fn can_be_declared(file: &str, relation: &str, columns: &[Column]) -> Result<(), FileError> {
    let refused = |problem: String, help: &str| Err(FileError::new(file, problem).help(help));
    if !is_name(relation) {
        return refused(format!("`{relation}` is not the name of a relation"), NAME);
    }
    if let Some(column) = columns.iter().find(|column| !is_name(&column.name)) {
        let problem = format!("the column `{}` cannot be declared", column.name);
        return refused(problem, "name the columns by `columns`: letters, digits and `_`");
    }
    // How much is too much is for the server to say.
    let is_fault =
        |problem: &&Diagnostic| problem.severity == Severity::Error && problem.code != Code::LimitExceeded;
    match check(&declaration(relation, columns)).iter().find(is_fault) {
        Some(problem) => refused(problem.message.clone(), problem.help.as_deref().unwrap_or(NAME)),
        None => Ok(()),
    }
}

/// Whether text can be the name of a relation or a column, as far as its characters go.
pub(crate) fn is_name(text: &str) -> bool {
    text != "_"
        && text.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// Columns with names that can be declared, each once: `Population (2020)` is `Population_2020`.
pub(crate) fn identifiers(columns: Vec<Column>) -> Vec<Column> {
    let mut taken: Vec<String> = Vec::new();
    let named = columns.into_iter().enumerate().map(|(at, column)| {
        let words: Vec<&str> = column
            .name
            .split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .filter(|word| !word.is_empty())
            .collect();
        let mut name = words.join("_");
        if name.is_empty() {
            name = format!("column_{}", at + 1);
        } else if name.starts_with(|c: char| c.is_numeric()) || name == "_" {
            name = format!("column_{name}");
        }
        let plain = name.clone();
        let mut copy = 2;
        while taken.contains(&name) {
            name = format!("{plain}_{copy}");
            copy += 1;
        }
        taken.push(name.clone());
        Column { name, column_type: column.column_type }
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::ColumnType;

    #[test]
    fn what_cannot_be_declared_is_told_in_the_words_of_the_server() {
        let fault = |relation: &str, columns: &[&str]| {
            let column = |name: &&str| Column { name: (*name).to_owned(), column_type: ColumnType::Int };
            let columns: Vec<Column> = columns.iter().map(column).collect();
            can_be_declared("f", relation, &columns).map_err(|error| error.to_string())
        };
        let wide: Vec<String> = (0..300).map(|n| format!("c{n}")).collect();
        let wide: Vec<&str> = wide.iter().map(String::as_str).collect();
        assert_eq!(fault("größe_2", &["ⅷ", "_a", "हि"]), Ok(()));
        assert_eq!(fault("r", &wide), Ok(()));
        for (relation, columns, message) in [
            ("1a", &["a"][..], "f: `1a` is not the name of a relation"),
            ("na me", &["a"], "f: `na me` is not the name of a relation"),
            (
                "_invalid_x",
                &["a"],
                "f: `_invalid_x` begins with `_invalid_`, which a declared relation may not be called",
            ),
            ("r", &["a b"], "f: the column `a b` cannot be declared"),
            ("r", &["_"], "f: the column `_` cannot be declared"),
            ("r", &["a", "a"], "f: two columns of r are called `a`"),
        ] {
            assert_eq!(fault(relation, columns), Err(message.to_owned()));
        }
    }

    #[test]
    fn every_column_gets_a_name_of_its_own() {
        let column = |name: &str| Column { name: name.to_owned(), column_type: ColumnType::Any };
        let names = ["name", "Population (2020)", "", "2020", "name", "größe in m²", " a b "];
        let found = identifiers(names.map(column).to_vec());
        let found: Vec<&str> = found.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(
            found,
            ["name", "Population_2020", "column_3", "column_2020", "name_2", "größe_in_m²", "a_b"]
        );
    }
}
