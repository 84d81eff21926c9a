//! What people write who come from another language, and what to write here.

use crate::aggregates::Aggregate;
use crate::diagnostic::Span;

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
    /// The query of ours that it holds.
    asked: Option<String>,
}

/// What it would do here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meant {
    Ask,
    /// Ask with `count` or its like.
    Aggregate,
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
    Alter,
    Clear,
    Index,
    View,
    Return,
    Transaction,
    Allow,
    Copy,
    Assert,
    Retract,
    Collect,
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
    ("ALTER TABLE", "SQL", Meant::Alter, "TABLE"),
    ("TRUNCATE TABLE", "SQL", Meant::Clear, "TABLE"),
    ("TRUNCATE", "SQL", Meant::Clear, "TRUNCATE"),
    ("CREATE INDEX", "SQL", Meant::Index, "ON"),
    ("CREATE UNIQUE INDEX", "SQL", Meant::Index, "ON"),
    ("CREATE VIEW", "SQL", Meant::View, "VIEW"),
    ("CREATE OR REPLACE VIEW", "SQL", Meant::View, "VIEW"),
    ("BEGIN", "SQL", Meant::Transaction, ""),
    ("START TRANSACTION", "SQL", Meant::Transaction, ""),
    ("COMMIT", "SQL", Meant::Transaction, ""),
    ("ROLLBACK", "SQL", Meant::Transaction, ""),
    ("GRANT", "SQL", Meant::Allow, ""),
    ("REVOKE", "SQL", Meant::Allow, ""),
    ("COPY", "SQL", Meant::Copy, "COPY"),
    ("VALUES", "SQL", Meant::Return, ""),
    ("CREATE", "Cypher", Meant::Insert, "-["),
    ("MERGE", "Cypher", Meant::Insert, "-["),
    ("RETURN", "Cypher", Meant::Return, ""),
    ("assert", "Prolog", Meant::Assert, "assert"),
    ("asserta", "Prolog", Meant::Assert, "asserta"),
    ("assertz", "Prolog", Meant::Assert, "assertz"),
    ("retract", "Prolog", Meant::Retract, "retract"),
    ("findall", "Prolog", Meant::Collect, ""),
    ("\\d", "psql", Meant::Describe, "\\d"),
    ("\\dt", "psql", Meant::List, ""),
    ("\\l", "psql", Meant::Use, ""),
    ("\\c", "psql", Meant::Use, ""),
    ("\\q", "psql", Meant::Leave, ""),
    ("\\?", "psql", Meant::Help, ""),
    ("EXIT", "a prompt", Meant::Leave, ""),
    ("QUIT", "a prompt", Meant::Leave, ""),
    ("HELP", "a prompt", Meant::Help, ""),
];

/// So many words of a text may belong to its first statement.
const LONGEST_STATEMENT: usize = 1_000;

/// The statement of another language that this text begins with, if it is one.
pub(super) fn recognised(text: &str) -> Option<Foreign> {
    let words: Vec<&str> = text
        .split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '\\')))
        .filter(|word| !word.is_empty())
        .take(LONGEST_STATEMENT)
        .collect();
    let says = |at: usize, word: &str| words.get(at).is_some_and(|found| found.eq_ignore_ascii_case(word));
    let (first, language, meant, before) = STATEMENTS.iter().find(|(first, _, meant, _)| {
        let begins = first.split(' ').enumerate().all(|(at, word)| says(at, word));
        let behind = text.get(first.len()..).unwrap_or_default();
        // What is written like an atom is one: a relation may be called `match`, and only Prolog's are written so.
        let fits = match meant {
            // A word alone in its line, whatever stands below it.
            Meant::Leave | Meant::Help
                if behind.lines().nth(1).is_some_and(|next| next.starts_with([' ', '\t'])) =>
            {
                false
            }
            Meant::Leave => matches!(
                behind.lines().next().unwrap_or_default().trim().trim_end_matches('.'),
                "" | "()" | ";"
            ),
            Meant::Help => behind.lines().next().unwrap_or_default().trim().is_empty(),
            Meant::Assert | Meant::Retract | Meant::Collect => behind.starts_with('('),
            _ => !behind.starts_with('(') || behind.contains("-["),
        };
        begins && fits && text.starts_with(|c: char| c.is_alphabetic() || c == '\\')
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
    let mut asked = words.iter().take_while(|word| !word.eq_ignore_ascii_case("from"));
    let aggregates = asked.any(|word| Aggregate::named(word).is_some());
    let meant = if *meant == Meant::Ask && aggregates { Meant::Aggregate } else { *meant };
    let asked = text.lines().next().and_then(|line| line.find('?').map(|at| line[at..].to_owned()));
    let asked = asked.filter(|asked| asked.len() <= LONGEST_RULE);
    Some(Foreign { words: written.join(" "), language, meant, relation: relation.map(str::to_owned), asked })
}

impl Foreign {
    /// What to write here. `known` tells how a relation that is meant is called in truth, and its columns.
    pub fn help(&self, known: impl FnOnce(&str) -> Option<(String, Vec<String>)>) -> String {
        let written = self.relation.as_deref().unwrap_or("owns");
        let (name, columns) =
            known(written).unwrap_or_else(|| (written.to_owned(), vec!["X".to_owned(), "Y".to_owned()]));
        let atom = atom(&name, &columns);
        let all = columns.iter().map(|column| variable(column)).collect::<Vec<_>>().join(", ");
        let last = columns.last().map_or_else(|| "X".to_owned(), |column| variable(column));
        match self.meant {
            Meant::Ask => format!("write `?{atom}`; conditions stand behind it: `?{atom}, {last} = 1`"),
            Meant::Aggregate => {
                format!("write `?count<{last}> <- {atom}`; what is not aggregated is a group: `?X, sum<Y> <- p(X, Y)`")
            }
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
            Meant::Describe if self.relation.is_none() => {
                "write `.rel` for the relations, `.rel describe NAME` for the columns of one".to_owned()
            }
            Meant::Describe => format!("write `.rel describe {name}`"),
            Meant::Use => "write `.kg use NAME`; `.kg list` tells which there are".to_owned(),
            Meant::Explain if self.asked.is_some() => {
                format!("write `.explain {}`", self.asked.as_deref().unwrap_or_default())
            }
            Meant::Explain => format!("write `.explain ?{atom}`"),
            Meant::Leave => "a prompt is left by `.quit`; in a program there is nothing to leave".to_owned(),
            Meant::Help => "write `.help`".to_owned(),
            Meant::Alter => {
                format!("write `.rel add {name} COLUMN TYPE` or `.rel rename {name} COLUMN NEW`")
            }
            Meant::Clear => format!("write `-{atom} <- {atom}`, or `.rel drop {name}`"),
            Meant::Index => format!("write `.index create NAME on {name}(COLUMN) type sorted`"),
            Meant::View => format!("a view is a rule: write `+{written}(X, Y) <- p(X, Y)`"),
            Meant::Return => "write `?X <- X = 1`".to_owned(),
            Meant::Transaction => {
                "each statement is one; several are in a `db.transaction()` of Python, and with `atomic` in the protocol"
                    .to_owned()
            }
            Meant::Allow => "write `.kg acl grant GRAPH USER viewer` (or `editor`, `owner`), `.kg acl revoke GRAPH USER`".to_owned(),
            Meant::Copy => {
                format!("outside of programs there are `stratalog import {name} FILE` and `stratalog export {name} FILE`")
            }
            Meant::Assert => format!("write `+{name}(..)`"),
            Meant::Retract => format!("write `-{name}(..)`"),
            Meant::Collect => "a query gives all answers: write `?p(X)`; `?collect<X> <- p(X)` puts them into a list".to_owned(),
        }
    }
}

const CASES: &str = "write a rule for each case: `+size(X, \"big\") <- p(X, N), N > 9`";
const DURATIONS: &str = "durations are milliseconds, as `days(2)` and `hours(2)` give them; `add_months` and `year` know the calendar";

/// Words between or behind conditions, and what to write.
const WORDS: &[(&str, &str)] = &[
    ("and", "write `,` between conditions that must all hold"),
    ("where", "conditions stand behind a comma: `?p(X, Y), X > 1`"),
    ("order", "write `:asc` or `:desc` behind a variable of the query: `?p(X:desc, Y)`"),
    ("group", "what is not aggregated is a group: `?X, count<Y> <- p(X, Y)`"),
    ("limit", "write it as a condition: `?p(X, Y), limit(10)`"),
    ("offset", "it is the second number of `limit(10, 20)`"),
    ("is", "write `X = 1 + 2`; for null `p(X, null)`, and `X != null` for anything else"),
    ("in", "write it as a condition: `?p(X), X in [1, 2]`"),
    ("not", "write `!p(X)` to negate"),
    ("like", "write `contains(X, \"a\")`, `starts_with(X, \"a\")` or `ends_with(X, \"a\")`"),
    ("between", "write `X >= 1, X <= 9`"),
    ("exists", "write the condition itself, `p(X)`; `!p(X)` negates it"),
    ("if", "write `<-` between head and body; alternatives are rules of their own"),
    ("case", CASES),
    ("when", CASES),
    ("then", CASES),
    ("distinct", "answers are sets already; `count_distinct<X>` counts values that differ"),
    ("having", "compute in one rule, and ask for it with a condition: `?total(X, N), N > 1`"),
    ("join", "a variable that stands in two conditions joins them: `?p(X, Y), q(Y, Z)`"),
    ("union", "write `or` between alternatives, or a rule for each"),
    ("days", DURATIONS),
    ("day", DURATIONS),
    ("hours", DURATIONS),
    ("minutes", DURATIONS),
    ("months", DURATIONS),
    ("years", DURATIONS),
    (
        "as",
        "a column is called as its variable, `?Total <- p(Total)`; `to_int(X)` makes another type of a value",
    ),
];

/// What to write instead of a word of another language, where something else is expected.
pub(super) fn word(text: &str) -> Option<&'static str> {
    WORDS.iter().find(|(word, _)| word.eq_ignore_ascii_case(text)).map(|(_, help)| *help)
}

/// The longest rule that is shown whole.
const LONGEST_RULE: usize = 160;

/// How a rule is written here whose statement, which begins at `start`, has `:-` at this place.
pub(super) fn rule(statement: &str, operator: Span, start: Span) -> Option<String> {
    let (head, body) = statement.split_at_checked((operator.start - start.start) as usize)?;
    let (head, body) = (head.trim(), body.get(operator.end.checked_sub(operator.start)? as usize..)?);
    let name =
        head.trim_start_matches(['+', ' ']).split(|c: char| !(c.is_alphanumeric() || c == '_')).next()?;
    if name.is_empty() || head.contains("<-") {
        return None;
    }
    let body = body.trim().trim_end_matches('.').replace("\\+ ", "!").replace("\\+", "!");
    let body = body.split_whitespace().collect::<Vec<_>>().join(" ");
    let body = if body.len() > LONGEST_RULE { ".." } else { &body };
    let kept = if head.starts_with('+') { "" } else { "; with `+` in front the graph keeps it" };
    Some(format!("write the rule for `{name}` as `{head} <- {body}`{kept}"))
}

/// A condition on a relation with a variable for each column.
pub(super) fn atom(name: &str, columns: &[String]) -> String {
    let variables: Vec<String> = columns.iter().map(|column| variable(column)).collect();
    format!("{name}({})", variables.join(", "))
}

/// A column's name as a variable.
pub(super) fn variable(column: &str) -> String {
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
            ("SELECT COUNT(*) FROM owns", "`?count<Owned> <- owns(Owner, Owned)`"),
            ("\\d owns", "`.rel describe owns`"),
            ("\\dt", "`.rel`"),
            ("\\q", "`.quit`"),
            ("SELECT DISTINCT owner FROM owns", "`?owns(Owner, Owned)`"),
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
            ("quit()", "`.quit`"),
            ("exit;", "`.quit`"),
            ("ALTER TABLE owns ADD x int", "`.rel add owns COLUMN TYPE`"),
            ("TRUNCATE owns", "`-owns(Owner, Owned) <- owns(Owner, Owned)`"),
            ("CREATE INDEX i ON owns (owner)", "`.index create NAME on owns(COLUMN) type sorted`"),
            ("create view rich as select", "`+rich(X, Y) <- p(X, Y)`"),
            ("CREATE (a:Person)", "`+owns(Owner, Owned)` with values"),
            ("MERGE (a)-[:OWNS]->(b)", "`+owns(Owner, Owned)` with values"),
            ("BEGIN", "db.transaction()"),
            ("GRANT SELECT ON owns TO eve", "`.kg acl grant GRAPH USER viewer`"),
            ("COPY owns FROM 'x.csv'", "`stratalog import owns FILE`"),
            ("RETURN 1", "`?X <- X = 1`"),
            ("assert(owns(1, 2)).", "`+owns(..)`"),
            ("retract(owns(1, 2)).", "`-owns(..)`"),
            ("findall(X, owns(X, _), L).", "`?collect<X> <- p(X)`"),
        ] {
            assert!(help(text).contains(expected), "{text}: {}", help(text));
        }
        for ours in ["selected(X)", "exit(1)", "update", "?SELECT", "match(x)", "create(a, b)", "assertion"] {
            assert!(recognised(ours).is_none_or(|foreign| foreign.words == "update"), "{ours}");
        }
    }
}
