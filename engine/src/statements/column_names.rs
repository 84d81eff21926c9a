//! Which column of the data is which of the relation, where the data brings names.

use super::target::Target;
use crate::catalog::default_column_names;
use crate::data::{DataType, SchemaColumn};
use crate::diagnostic::{Code, Diagnostic};
use crate::error::Error;
use crate::limits::Limits;

/// The columns of the data, and what they are to be called where the relation has no names.
pub(super) struct Arrangement {
    /// The place in the data of each column of the relation.
    pub(super) places: Vec<usize>,
    /// The names that the relation gets, of types that its values tell; none if it has names, or the data has none.
    pub(super) columns: Option<Vec<SchemaColumn>>,
    pub(super) warning: Option<Diagnostic>,
}

/// Arranges so many columns of data: by name where there are names, and the relation has some as well, else by place.
///
/// Names that agree only in part are refused, so that no column goes astray.
pub(super) fn arrange(
    target: &Target<'_>,
    arity: usize,
    found: &[&str],
    limits: &Limits,
) -> Result<Arrangement, Error> {
    let by_place = |columns, warning| {
        target.check_arity(arity)?;
        Ok(Arrangement { places: (0..arity).collect(), columns, warning })
    };
    let names = callable(found);
    let Some(declared) = target.declared_names() else {
        let names = names.filter(|_| target.takes_names);
        check_lengths(names.as_deref().unwrap_or_default(), limits.name_bytes)?;
        let column = |name| SchemaColumn { name, data_type: DataType::Unknown };
        return by_place(names.map(|names| names.into_iter().map(column).collect()), None);
    };
    let places = places(&declared, found, names.as_deref());
    if places.iter().all(Option::is_none) {
        return by_place(None, names.map(|_| other_names(target.name, &declared, found)));
    }
    match places.iter().copied().collect::<Option<Vec<usize>>>() {
        Some(places) if found.len() == declared.len() => {
            Ok(Arrangement { places, columns: None, warning: None })
        }
        _ => Err(Error::refused(not_all(target.name, &declared, found, &places))),
    }
}

/// Whether the column of the data at a place is meant by a name.
type Likeness<'a> = &'a dyn Fn(usize, &str) -> bool;

/// The place in the data of each declared column: of the one that is spelled so, or else of the only one that can be
/// declared so, or else of the only one that differs in nothing but capitals.
fn places(declared: &[&str], found: &[&str], names: Option<&[String]>) -> Vec<Option<usize>> {
    let mut places: Vec<Option<usize>> = vec![None; declared.len()];
    let is_spelled = |place: usize, column: &str| found[place] == column;
    let name = |place: usize| names.map_or("", |names| &names[place]);
    let is_called = |place: usize, column: &str| name(place) == column;
    let is_alike = |place: usize, column: &str| name(place).to_lowercase() == column.to_lowercase();
    let in_turn: [Likeness<'_>; 3] = [&is_spelled, &is_called, &is_alike];
    for is_it in in_turn {
        for (at, column) in declared.iter().enumerate() {
            if places[at].is_none() {
                let free = |place: &usize| !places.contains(&Some(*place)) && is_it(*place, column);
                let mut candidates = (0..found.len()).filter(free);
                places[at] = candidates.next().filter(|_| candidates.next().is_none());
            }
        }
    }
    places
}

/// Names that can be declared, each once: `Population (2020)` is `Population_2020`. None where there are none but
/// numbers of places, or the letters that columns without a name have.
pub(crate) fn callable(found: &[&str]) -> Option<Vec<String>> {
    let is_number = |name: &&str| name.bytes().all(|byte| byte.is_ascii_digit());
    if found.iter().all(is_number) || found == default_column_names(found.len()) {
        return None;
    }
    let mut names: Vec<String> = Vec::with_capacity(found.len());
    for (place, spelled) in found.iter().enumerate() {
        let words = spelled.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        let mut name = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_");
        if name.is_empty() {
            name = (place + 1).to_string();
        }
        if name == "_" || !name.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            name = format!("column_{name}");
        }
        let mut unique = name.clone();
        let mut copy = 1;
        while names.contains(&unique) {
            copy += 1;
            unique = format!("{name}_{copy}");
        }
        names.push(unique);
    }
    Some(names)
}

fn check_lengths(names: &[String], most: usize) -> Result<(), Error> {
    let Some(long) = names.iter().find(|name| name.len() > most) else { return Ok(()) };
    let message =
        format!("the name of a column has {} bytes, more than the {most} that it may have", long.len());
    let diagnostic = Diagnostic::error(Code::LimitExceeded, message).help("rename the column");
    Err(Error::refused(diagnostic.limit("max_name_bytes", most as u64)))
}

fn other_names(relation: &str, declared: &[&str], found: &[&str]) -> Diagnostic {
    let message = format!(
        "the columns {} have other names than {}, those of {relation}: they went by position",
        found.join(", "),
        declared.join(", ")
    );
    Diagnostic::warning(Code::NotFound, message).help("give the columns the names of the relation's")
}

fn not_all(relation: &str, declared: &[&str], found: &[&str], places: &[Option<usize>]) -> Diagnostic {
    let quoted =
        |names: Vec<&str>| names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let missing = declared.iter().zip(places).filter(|(_, place)| place.is_none()).map(|(name, _)| *name);
    let surplus =
        found.iter().enumerate().filter(|(at, _)| !places.contains(&Some(*at))).map(|(_, name)| *name);
    let (missing, surplus): (Vec<_>, Vec<_>) = (missing.collect(), surplus.collect());
    let lacks = (!missing.is_empty()).then(|| format!("the data lacks {}", quoted(missing)));
    let has = (!surplus.is_empty()).then(|| format!("the data has {} beside them", quoted(surplus)));
    let wrong = lacks.into_iter().chain(has).collect::<Vec<_>>().join("; ");
    let message = format!("{relation} has the columns {}: {wrong}", declared.join(", "));
    let code = if declared.len() == found.len() { Code::NotFound } else { Code::ArityMismatch };
    Diagnostic::error(code, message)
        .help("name all columns as they are declared, or none: then they go by position")
}

#[cfg(test)]
mod tests {
    use super::{callable, places};

    #[test]
    fn names_are_made_such_as_can_be_declared() {
        let named = |found: &[&str]| callable(found);
        for nameless in [&["", ""][..], &["0", "1"], &["A", "B"]] {
            assert_eq!(named(nameless), None, "{nameless:?}");
        }
        let found = ["id", "Population (2020)", "2020", "", "_", "id", "Größe"];
        let expected = ["id", "Population_2020", "column_2020", "column_4", "column__", "id_2", "Größe"];
        assert_eq!(named(&found).unwrap(), expected);
    }

    #[test]
    fn columns_are_found_by_their_names_each_once() {
        let found = |declared: &[&str], found: &[&str]| places(declared, found, callable(found).as_deref());
        assert_eq!(found(&["a", "b"], &["b", "a"]), [Some(1), Some(0)]);
        assert_eq!(found(&["company_name", "id"], &["ID", "company name"]), [Some(1), Some(0)]);
        assert_eq!(found(&["x", "X"], &["x", "y"]), [Some(0), None]);
        assert_eq!(found(&["id", "n"], &["Id", "iD"]), [None, None]);
        assert_eq!(found(&["a", "b"], &["a", "a"]), [Some(0), None]);
        assert_eq!(found(&["a", "b"], &["0", "1"]), [None, None]);
    }
}
