//! What people write who come from another language, and what to write here.

/// A statement of another language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreign {
    /// Its first words: `SELECT`, `INSERT INTO`.
    pub words: String,
    /// Whose they are: `SQL`, `Cypher`, `a prompt`.
    pub language: &'static str,
    meant: Meant,
    /// The relation that it is about, where it says one.
    relation: Option<String>,
}

/// What it would do here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meant {
    Ask,
    Match,
    Insert,
    Delete,
    Update,
    Declare,
    Drop,
    List,
    Describe,
    Use,
    Explain,
    Leave,
    Help,
}

/// First words, whose they are, what they mean, and the word before the relation's name.
const STATEMENTS: &[(&str, &str, Meant, &str)] = &[
    ("SELECT", "SQL", Meant::Ask, "FROM"),
    ("FROM", "SQL", Meant::Ask, "FROM"),
    ("WITH", "SQL", Meant::Ask, "FROM"),
    ("INSERT INTO", "SQL", Meant::Insert, "INTO"),
    ("DELETE FROM", "SQL", Meant::Delete, "FROM"),
    ("UPDATE", "SQL", Meant::Update, "UPDATE"),
    ("CREATE TABLE", "SQL", Meant::Declare, "TABLE"),
    ("DROP TABLE", "SQL", Meant::Drop, "TABLE"),
    ("SHOW TABLES", "SQL", Meant::List, ""),
    ("DESCRIBE", "SQL", Meant::Describe, "DESCRIBE"),
    ("DESC", "SQL", Meant::Describe, "DESC"),
    ("USE", "SQL", Meant::Use, ""),
    ("EXPLAIN", "SQL", Meant::Explain, "FROM"),
    ("MATCH", "Cypher", Meant::Match, "-["),
    ("EXIT", "a prompt", Meant::Leave, ""),
    ("QUIT", "a prompt", Meant::Leave, ""),
    ("HELP", "a prompt", Meant::Help, ""),
];

/// The statement of another language that this text begins with, if it is one.
pub(super) fn recognised(text: &str) -> Option<Foreign> {
    let words: Vec<&str> =
        text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|w| !w.is_empty()).collect();
    let says = |at: usize, word: &str| words.get(at).is_some_and(|found| found.eq_ignore_ascii_case(word));
    let (first, language, meant, before) = STATEMENTS.iter().find(|(first, _, meant, _)| {
        let begins = first.split(' ').enumerate().all(|(at, word)| says(at, word));
        let stands_alone = text.trim().len() == first.len();
        begins
            && (stands_alone || !matches!(meant, Meant::Leave | Meant::Help))
            && text.starts_with(char::is_alphabetic)
    })?;
    let relation = match *before {
        "-[" => text.split_once("-[").and_then(|(_, label)| {
            label.split(|c: char| !(c.is_alphanumeric() || c == '_')).find(|w| !w.is_empty())
        }),
        before => words
            .iter()
            .position(|word| word.eq_ignore_ascii_case(before))
            .and_then(|at| words.get(at + 1))
            .copied(),
    };
    let written: Vec<&str> = words.iter().take(first.split(' ').count()).copied().collect();
    Some(Foreign { words: written.join(" "), language, meant: *meant, relation: relation.map(str::to_owned) })
}

impl Foreign {
    /// What to write here. `known` tells how a relation that is meant is called in truth, and its columns.
    pub fn help(&self, known: impl FnOnce(&str) -> Option<(String, Vec<String>)>) -> String {
        let written = self.relation.as_deref().unwrap_or("owns");
        let (name, columns) =
            known(written).unwrap_or_else(|| (written.to_owned(), vec!["X".to_owned(), "Y".to_owned()]));
        let variables: Vec<String> = columns.iter().map(|column| variable(column)).collect();
        let (all, last) = (variables.join(", "), variables.last().map_or("X", String::as_str));
        let atom = format!("{name}({all})");
        match self.meant {
            Meant::Ask => format!("write `?{atom}`; conditions stand behind it: `?{atom}, {last} = 1`"),
            Meant::Match => {
                format!(
                    "write `?{atom}`; a variable that stands in two conditions joins them: `?p(X, Y), q(Y, Z)`"
                )
            }
            Meant::Insert => {
                format!(
                    "write `+{atom}` with values in place of {all}, text in double quotes; or `+{name}[(..), (..)]`"
                )
            }
            Meant::Delete => format!("write `-{atom} <- {last} = 1`, or `-{name}(..)` for one fact"),
            Meant::Update => format!("write `-{atom}, +{name}(..) <- {atom}, {last} = 1`"),
            Meant::Declare => format!("write `+{name}(id: int, name: string)`"),
            Meant::Drop => format!("write `.rel drop {name}`"),
            Meant::List => "write `.rel`".to_owned(),
            Meant::Describe => format!("write `.rel describe {name}`"),
            Meant::Use => "write `.kg use NAME`; `.kg list` tells which there are".to_owned(),
            Meant::Explain => format!("write `.explain ?{atom}`"),
            Meant::Leave => "a prompt is left by `.quit`; in a program there is nothing to leave".to_owned(),
            Meant::Help => "write `.help`".to_owned(),
        }
    }
}

/// A column's name as a variable.
fn variable(column: &str) -> String {
    let mut characters = column.chars();
    match characters.next() {
        Some(first) if first.is_alphabetic() => first.to_uppercase().chain(characters).collect(),
        _ => format!("X{column}"),
    }
}

#[cfg(test)]
mod tests {
    use super::recognised;

    #[test]
    fn statements_of_other_languages_are_recognised_with_their_relation() {
        let owns = |name: &str| {
            let columns = ["owner", "owned"].map(str::to_owned).to_vec();
            name.eq_ignore_ascii_case("owns").then(|| ("owns".to_owned(), columns))
        };
        let help = |text: &str| recognised(text).map(|foreign| foreign.help(owns)).unwrap_or_default();
        for (text, expected) in [
            ("SELECT * FROM Owns", "`?owns(Owner, Owned)`"),
            ("select a\nfrom owns where x = 1", "`?owns(Owner, Owned)`"),
            ("SELECT * FROM other", "`?other(X, Y)`"),
            ("MATCH (a)-[:OWNS]->(b) RETURN a", "`?owns(Owner, Owned)`"),
            ("INSERT INTO owns VALUES (1, 2)", "`+owns(Owner, Owned)`"),
            ("DELETE FROM owns", "`-owns(Owner, Owned) <- Owned = 1`"),
            ("UPDATE owns SET x = 1", "`-owns(Owner, Owned), +owns(..) <-"),
            ("CREATE TABLE owns (x int)", "`+owns(id: int, name: string)`"),
            ("drop table owns", "`.rel drop owns`"),
            ("SHOW TABLES", "`.rel`"),
            ("describe owns", "`.rel describe owns`"),
            ("USE other", "`.kg use NAME`"),
            ("EXPLAIN SELECT * FROM owns", "`.explain ?owns(Owner, Owned)`"),
            ("exit", "`.quit`"),
            ("help", "`.help`"),
        ] {
            assert!(help(text).contains(expected), "{text}: {}", help(text));
        }
        for ours in ["selected(X)", "exit(1)", "update", "?SELECT"] {
            assert!(recognised(ours).is_none_or(|foreign| foreign.words == "update"), "{ours}");
        }
    }
}
