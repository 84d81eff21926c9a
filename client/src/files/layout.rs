//! Which column of a file is which column of the relation.
//!
//! Names decide where they can, in capitals or not; else the order does, which is worth a warning where there were names.

use super::column_type::Column;
use super::error::{FileError, counted};
use crate::declaration::identifiers;

/// Where the columns of a file go.
#[derive(Debug)]
pub(super) struct Layout {
    /// The place in the row of each column of the file.
    pub places: Vec<usize>,
    /// What is good to know about it.
    pub warning: Option<String>,
}

impl Layout {
    /// The columns as they stand in the file.
    pub(super) fn as_it_is(width: usize) -> Layout {
        Layout { places: (0..width).collect(), warning: None }
    }

    /// Brings the columns of a file, of so many and perhaps with names, into the order of those that are wanted.
    pub(super) fn arrange(
        file: &str,
        line: Option<u64>,
        names: Option<&[String]>,
        width: usize,
        wanted: &[Column],
    ) -> Result<Layout, FileError> {
        let wrong = |problem: String| FileError { line, ..FileError::new(file, problem) };
        let found: Vec<Option<usize>> = names
            .unwrap_or_default()
            .iter()
            .map(|name| place(name.trim(), names.unwrap_or_default(), wanted))
            .collect();
        if found.iter().all(Option::is_none) {
            if width != wanted.len() && width > 0 {
                return Err(wrong(format!("{}, expected {}", counted(width, "column"), wanted.len()))
                    .help(format!("the relation has the columns {}", names_of(wanted))));
            }
            let warning = names.filter(|_| width > 0 && !are_letters(wanted)).map(|names| {
                let (names, wanted) = (names.join(", "), names_of(wanted));
                format!("the columns {names} have other names than {wanted}: they went by position")
            });
            return Ok(Layout { warning, ..Layout::as_it_is(wanted.len()) });
        }
        let all = names.unwrap_or_default();
        let others: Vec<&str> = all
            .iter()
            .zip(&found)
            .filter(|(_, place)| place.is_none())
            .map(|(name, _)| name.trim())
            .collect();
        let is_there = |at: usize| found.contains(&Some(at));
        if !others.is_empty() && (0..wanted.len()).all(is_there) {
            let columns = if others.len() == 1 { "column" } else { "columns" };
            return Err(wrong(format!(
                "the relation has no {columns} {}, which the file has beside its own",
                others.join(", ")
            ))
            .help(format!(
                "the relation has {}: leave the {columns} out of the file, or add it to the relation by `.rel add`",
                names_of(wanted)
            )));
        }
        let places: Option<Vec<usize>> = found.into_iter().collect();
        let is_whole = |places: &Vec<usize>| {
            (0..wanted.len()).all(|at| places.iter().filter(|place| **place == at).count() == 1)
        };
        if let Some(places) = places.filter(is_whole) {
            return Ok(Layout { places, warning: None });
        }
        let names = names.unwrap_or_default().join(", ");
        Err(wrong(format!("the file has the columns {names}")).help(format!(
            "the relation has {}; name all of them, or none: then they go by position",
            names_of(wanted)
        )))
    }
}

/// The wanted column of this name, or else the only one that differs in nothing but capitals.
fn place(name: &str, names: &[String], wanted: &[Column]) -> Option<usize> {
    if let Some(place) = wanted.iter().position(|column| column.name == name) {
        return Some(place);
    }
    if are_letters(wanted) {
        return None;
    }
    let alike = |other: &str| other.trim().to_lowercase() == name.to_lowercase();
    let mut places = (0..wanted.len()).filter(|&at| alike(&wanted[at].name));
    let place = places.next()?;
    let is_only_one = places.next().is_none() && names.iter().filter(|other| alike(other)).count() == 1;
    is_only_one.then_some(place)
}

/// Whether the columns are called A, B, C, ...: those of a relation without a declaration, which are no names to go by.
fn are_letters(wanted: &[Column]) -> bool {
    let mut letters = ('A'..='Z').map(String::from);
    wanted.iter().all(|column| letters.next().as_ref() == Some(&column.name))
}

/// Gives columns the types that are named for them; a column is named as in the file, or as it will be declared.
pub(super) fn retype(file: &str, columns: &mut [Column], types: &[Column]) -> Result<(), FileError> {
    let declared = identifiers(columns.to_vec());
    for wanted in types {
        let is = |name: &str| name.trim() == wanted.name;
        let found = columns.iter().position(|column| is(&column.name));
        let found = found.or_else(|| declared.iter().position(|column| is(&column.name)));
        let Some(found) = found else {
            return Err(FileError::new(
                file,
                format!("there is no column `{}` to be of type {}", wanted.name, wanted.column_type),
            )
            .help(format!("the columns are {}", names_of(columns))));
        };
        columns[found].column_type = wanted.column_type;
    }
    Ok(())
}

pub(super) fn names_of(columns: &[Column]) -> String {
    columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::column_type::ColumnType;
    use super::*;

    fn arrange(names: &[&str], wanted: &[&str]) -> Result<(Vec<usize>, bool), FileError> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let column = |name: &&str| Column { name: (*name).to_owned(), column_type: ColumnType::Any };
        let wanted: Vec<Column> = wanted.iter().map(column).collect();
        let layout = Layout::arrange("f", Some(1), Some(&names), names.len(), &wanted)?;
        Ok((layout.places, layout.warning.is_some()))
    }

    #[test]
    fn names_decide_in_capitals_or_not() {
        assert_eq!(arrange(&["b", "a"], &["a", "b"]), Ok((vec![1, 0], false)));
        assert_eq!(arrange(&["To", "FROM"], &["from", "to"]), Ok((vec![1, 0], false)));
        assert_eq!(arrange(&["A", "a"], &["a", "A"]), Ok((vec![1, 0], false)));
        assert!(arrange(&["a", "c"], &["a", "b"]).is_err());
        let problem = arrange(&["a", "c", "b"], &["a", "b"]).unwrap_err();
        assert!(problem.problem.contains("no column c,") && !problem.help.unwrap().contains("or none"));
        // Which `A` would it be?
        assert!(arrange(&["A", "A"], &["a", "b"]).unwrap().1);
    }

    #[test]
    fn going_by_position_is_told_where_there_are_names() {
        assert_eq!(arrange(&["x", "y"], &["a", "b"]), Ok((vec![0, 1], true)));
        assert_eq!(arrange(&["b", "a"], &["A", "B"]), Ok((vec![0, 1], false)));
        assert_eq!(arrange(&["B", "A"], &["A", "B"]), Ok((vec![1, 0], false)));
    }
}
