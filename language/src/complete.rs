//! What may stand at a place: relations with their columns, functions, aggregates and variables in programs; the words of
//! commands.

use stratalog_engine::aggregates::{AGGREGATES, RANKINGS};
use stratalog_engine::functions::functions;

/// What is known of a relation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relation {
    /// Its name.
    pub name: String,
    /// Its columns with their types: `name: string, people: int`.
    pub columns: String,
}

impl Relation {
    /// The names of the columns.
    pub fn column_names(&self) -> impl Iterator<Item = &str> {
        self.columns.split(", ").filter_map(|column| column.split(':').next()).filter(|name| !name.is_empty())
    }
}

/// What is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OfferKind {
    /// A relation, with its opening bracket.
    Relation,
    /// A function, with its opening bracket.
    Function,
    /// An aggregate, with its opening bracket.
    Aggregate,
    /// A variable.
    Variable,
    /// A word of a command, or a name that belongs there.
    Word,
}

/// Something to offer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// What would be written.
    pub value: String,
    /// What it is.
    pub about: Option<String>,
    /// What kind of thing.
    pub kind: OfferKind,
    /// How many bytes of it are there already.
    pub typed: usize,
    /// Whether a blank follows.
    pub ends: bool,
}

/// Those of some words that begin as what is typed.
pub fn beginning<'a>(
    words: impl IntoIterator<Item = (&'a str, Option<&'a str>)>,
    typed: &str,
    ends: bool,
) -> Vec<Offer> {
    let begins = |word: &str| word.get(..typed.len()).is_some_and(|start| start.eq_ignore_ascii_case(typed));
    let mut found: Vec<Offer> = Vec::new();
    for (word, about) in words {
        if begins(word) && found.iter().all(|offer| offer.value != word) {
            let (value, about) = (word.to_owned(), about.map(str::to_owned));
            found.push(Offer { value, about, kind: OfferKind::Word, typed: typed.len(), ends });
        }
    }
    found.sort_by(|a, b| a.value.cmp(&b.value));
    found
}

/// What goes on a command of which this is typed. `usages` tell how each is written (`.kg use KG`) and what it does;
/// `placed` offers what stands for a word in upper case, given what is typed of it.
pub fn in_command(
    command: &str,
    usages: impl IntoIterator<Item = (String, String)>,
    placed: impl Fn(&str, &str) -> Vec<Offer>,
) -> Vec<Offer> {
    let words: Vec<&str> = command.split_whitespace().collect();
    let typed = if command.ends_with(char::is_whitespace) { "" } else { words.last().copied().unwrap_or("") };
    let done = &words[..words.len() - usize::from(!typed.is_empty())];
    let mut found = Vec::new();
    for (usage, doc) in usages {
        let usage: Vec<&str> = usage.split_whitespace().collect();
        let fits = |(word, done): (&&str, &&str)| is_placeholder(word) || word.eq_ignore_ascii_case(done);
        let last = usage.len().saturating_sub(1);
        if done.len() > usage.len() || !usage.iter().zip(done).all(fits) {
            continue;
        }
        let Some(next) = usage.get(done.len().min(last)).filter(|_| done.len() <= last) else { continue };
        found.extend(match *next {
            word if !is_placeholder(word) => beginning([(word, Some(doc.as_str()))], typed, true),
            word => placed(word.trim_matches(['[', ']', '.']), typed),
        });
    }
    found.sort_by(|a, b| a.value.cmp(&b.value));
    found.dedup_by(|a, b| a.value == b.value);
    found
}

/// `NAME`, `[FILE]`, `on|off`: what stands for other words.
fn is_placeholder(word: &str) -> bool {
    word.starts_with(|c: char| c.is_uppercase() || c == '[') || word.contains('|')
}

/// What goes on a program that ends here.
pub fn in_program(before: &str, relations: &[Relation]) -> Vec<Offer> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let typed = &before[before
        .rfind(|c| !is_part(c))
        .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8))..];
    let outside = before[..before.len() - typed.len()].matches('"').count().is_multiple_of(2);
    if !outside {
        return Vec::new();
    }
    let mut found = columns(before, typed, relations);
    let is_variable = !found.is_empty() && typed.starts_with(char::is_uppercase);
    if is_variable || typed.is_empty() && !expects_relation(before) {
        return found;
    }
    let relations =
        relations.iter().map(|relation| (relation.name.as_str(), Some(relation.columns.as_str())));
    found.extend(opened(beginning(relations, typed, false), '(', OfferKind::Relation));
    if !typed.is_empty() {
        let functions = functions().map(|function| (function.name, Some(function.doc)));
        found.extend(opened(beginning(functions, typed, false), '(', OfferKind::Function));
        let aggregates = AGGREGATES.iter().map(|aggregate| (aggregate.name(), Some(aggregate.doc())));
        let rankings = RANKINGS.iter().map(|ranking| (ranking.name(), Some(ranking.doc())));
        let aggregates = beginning(aggregates.chain(rankings), typed, false);
        found.extend(opened(aggregates, '<', OfferKind::Aggregate));
    }
    found
}

/// Whether a relation comes next. Within a statement, `+` and `-` compute.
fn expects_relation(before: &str) -> bool {
    match before.strip_suffix(['+', '-']) {
        Some(earlier) => earlier.is_empty() || earlier.ends_with('\n'),
        None => before.ends_with(['?', '!']),
    }
}

fn opened(mut offers: Vec<Offer>, bracket: char, kind: OfferKind) -> Vec<Offer> {
    for offer in &mut offers {
        offer.value.push(bracket);
        offer.kind = kind;
    }
    offers
}

/// Inside of the brackets of a relation: a variable for the column at this place.
fn columns(before: &str, typed: &str, relations: &[Relation]) -> Vec<Offer> {
    let (mut depth, mut place, mut open) = (0_usize, 0, None);
    for (at, c) in before.char_indices().rev() {
        match c {
            ')' => depth += 1,
            '(' if depth == 0 => {
                open = Some(at);
                break;
            }
            '(' => depth -= 1,
            ',' if depth == 0 => place += 1,
            _ => {}
        }
    }
    let Some(open) = open else { return Vec::new() };
    let name = before[..open].rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or("");
    let Some(relation) = relations.iter().find(|relation| relation.name == name) else {
        return Vec::new();
    };
    let Some(column) = relation.column_names().nth(place) else { return Vec::new() };
    let mut letters = column.chars();
    let variable: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
    let mut found = beginning([(variable.as_str(), Some(relation.columns.as_str()))], typed, false);
    found.iter_mut().for_each(|offer| offer.kind = OfferKind::Variable);
    found
}
