//! What Tab offers: relations with their columns, functions and aggregates in programs; in commands their words, and names
//! or files where those belong.

use super::commands::{COMMANDS, ImportLine};
use super::names::{Known, Names};
use super::words::in_home;
use crate::output::Format;
use clap::ValueEnum;
use reedline::{Completer, CompletionResult, Span, Suggestion};
use std::path::Path;
use stratalog_engine::aggregates::AGGREGATES;
use stratalog_engine::functions::functions;

/// Completes lines of the prompt.
pub(super) struct Completion(pub Names);

impl Completer for Completion {
    fn complete(&mut self, line: &str, pos: usize) -> CompletionResult {
        let before = line.get(..pos).unwrap_or(line);
        let known = self.0.known();
        let statement = &before[before.rfind("\n.").map_or(0, |at| at + 1)..];
        let is_command = statement.trim_start().starts_with('.') && !statement.contains('?');
        let found =
            if is_command { in_command(statement.trim_start(), &known) } else { in_program(before, &known) };
        let suggestion = |offer: Offer| Suggestion {
            span: Span::new(pos - offer.typed, pos),
            value: offer.value,
            description: offer.about,
            append_whitespace: offer.ends,
            ..Suggestion::default()
        };
        CompletionResult::fresh(found.into_iter().map(suggestion).collect::<Vec<_>>())
    }
}

/// Something to offer.
#[derive(Debug, PartialEq, Eq)]
struct Offer {
    value: String,
    about: Option<String>,
    /// How many bytes of it are there already.
    typed: usize,
    /// Whether a blank follows.
    ends: bool,
}

/// Those of some words that begin as what is typed.
fn beginning<'a>(
    words: impl IntoIterator<Item = (&'a str, Option<&'a str>)>,
    typed: &str,
    ends: bool,
) -> Vec<Offer> {
    let begins = |word: &str| word.get(..typed.len()).is_some_and(|start| start.eq_ignore_ascii_case(typed));
    let mut found: Vec<Offer> = Vec::new();
    for (word, about) in words {
        if begins(word) && found.iter().all(|offer| offer.value != word) {
            let about = about.map(str::to_owned);
            found.push(Offer { value: word.to_owned(), about, typed: typed.len(), ends });
        }
    }
    found.sort_by(|a, b| a.value.cmp(&b.value));
    found
}

fn in_command(command: &str, known: &Known) -> Vec<Offer> {
    let words: Vec<&str> = command.split_whitespace().collect();
    let typed = if command.ends_with(char::is_whitespace) { "" } else { words.last().copied().unwrap_or("") };
    let done = &words[..words.len() - usize::from(!typed.is_empty())];
    let usages =
        COMMANDS.iter().flat_map(|entry| entry.names.iter().map(|name| (*name, entry.usage, entry.doc)));
    let ours = usages.map(|(name, usage, doc)| (format!("{name} {usage}"), doc.to_owned()));
    let mut found = Vec::new();
    for (usage, doc) in ours.chain(known.commands.iter().cloned()) {
        let usage: Vec<&str> = usage.split_whitespace().collect();
        let fits = |(word, done): (&&str, &&str)| is_placeholder(word) || word.eq_ignore_ascii_case(done);
        let last = usage.len().saturating_sub(1);
        if done.len() > usage.len() || !usage.iter().zip(done).all(fits) {
            continue;
        }
        let Some(next) = usage.get(done.len().min(last)).filter(|_| done.len() <= last) else { continue };
        found.extend(match *next {
            word if !is_placeholder(word) => beginning([(word, Some(doc.as_str()))], typed, true),
            word => of_placeholder(word.trim_matches(['[', ']', '.']), typed, known),
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

fn of_placeholder(word: &str, typed: &str, known: &Known) -> Vec<Offer> {
    let relations =
        || known.relations.iter().map(|relation| (relation.name.as_str(), Some(relation.columns.as_str())));
    match word {
        "FILE" => files(typed),
        "KG" => beginning(known.graphs.iter().map(|name| (name.as_str(), None)), typed, true),
        "NAME" | "RELATION" | "RELATION|QUERY" | "PREFIX" => beginning(relations(), typed, true),
        "FORMAT" => {
            let formats: Vec<String> = Format::value_variants()
                .iter()
                .filter_map(|format| Some(format.to_possible_value()?.get_name().to_owned()))
                .collect();
            beginning(formats.iter().map(|name| (name.as_str(), None)), typed, true)
        }
        "OPTIONS" => {
            let options = ImportLine::options();
            beginning(options.iter().map(|name| (name.as_str(), None)), typed, true)
        }
        choices if choices.contains('|') => {
            let words = choices.split('|').filter(|word| word.chars().all(char::is_lowercase));
            beginning(words.map(|word| (word, None)), typed, true)
        }
        _ => Vec::new(),
    }
}

/// Files whose paths begin so.
fn files(typed: &str) -> Vec<Offer> {
    let (folder, _) = typed.split_at(typed.rfind('/').map_or(0, |at| at + 1));
    let folder_itself = in_home(folder);
    let place = if folder.is_empty() { Path::new(".") } else { Path::new(folder_itself.as_ref()) };
    let Ok(entries) = std::fs::read_dir(place) else { return Vec::new() };
    let mut found = Vec::new();
    for entry in entries.flatten() {
        let Ok(name) = entry.file_name().into_string() else { continue };
        let is_folder = entry.path().is_dir();
        let value = format!("{folder}{name}{}", if is_folder { "/" } else { "" });
        let hidden = name.starts_with('.') && !typed[folder.len()..].starts_with('.');
        if !hidden && value.starts_with(typed) {
            let value = if value.contains(char::is_whitespace) { format!("\"{value}\"") } else { value };
            found.push(Offer { value, about: None, typed: typed.len(), ends: !is_folder });
        }
    }
    found.sort_by(|a, b| a.value.cmp(&b.value));
    found
}

fn in_program(before: &str, known: &Known) -> Vec<Offer> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let typed = &before[before
        .rfind(|c| !is_part(c))
        .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8))..];
    let outside = before[..before.len() - typed.len()].matches('"').count().is_multiple_of(2);
    if !outside {
        return Vec::new();
    }
    let mut found = columns(before, typed, known);
    let is_variable = !found.is_empty() && typed.starts_with(char::is_uppercase);
    if is_variable || typed.is_empty() && !before.ends_with(['?', '+', '-', '!']) {
        return found;
    }
    let relations =
        known.relations.iter().map(|relation| (relation.name.as_str(), Some(relation.columns.as_str())));
    let functions = functions().map(|function| (function.name, Some(function.doc)));
    let aggregates = AGGREGATES.iter().map(|aggregate| (aggregate.name(), Some(aggregate.doc())));
    let mut names = beginning(relations.chain(functions.filter(|_| !typed.is_empty())), typed, false);
    names.iter_mut().for_each(|offer| offer.value.push('('));
    found.extend(names);
    if !typed.is_empty() {
        let mut names = beginning(aggregates, typed, false);
        names.iter_mut().for_each(|offer| offer.value.push('<'));
        found.extend(names);
    }
    found
}

/// Inside of the brackets of a relation: a variable for the column at this place.
fn columns(before: &str, typed: &str, known: &Known) -> Vec<Offer> {
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
    let Some(relation) = known.relations.iter().find(|relation| relation.name == name) else {
        return Vec::new();
    };
    let Some(column) = relation.column_names().nth(place) else { return Vec::new() };
    let mut letters = column.chars();
    let variable: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
    beginning([(variable.as_str(), Some(relation.columns.as_str()))], typed, false)
}

#[cfg(test)]
mod tests {
    use super::super::names::Relation;
    use super::*;

    fn offered(line: &str) -> Vec<String> {
        let names = Names::default();
        *names.known() = Known {
            relations: vec![
                Relation {
                    name: "city".into(),
                    columns: "name: string, people: int".into(),
                    declared: false,
                },
                Relation { name: "citizen".into(), columns: "A: any".into(), declared: true },
            ],
            graphs: vec!["default".into(), "lab".into()],
            commands: vec![
                (".kg use KG".into(), "Binds.".into()),
                (".kg list".into(), "Lists.".into()),
                (".rel describe NAME".into(), "Columns.".into()),
            ],
        };
        let result = Completion(names).complete(line, line.len());
        let complete = |offer: &Suggestion| format!("{}{}", &line[..offer.span.start], offer.value);
        result.suggestions().iter().map(complete).collect()
    }

    #[test]
    fn programs_name_relations_columns_and_functions() {
        assert_eq!(offered("?cit"), ["?citizen(", "?city("]);
        assert_eq!(offered("?"), ["?citizen(", "?city("]);
        assert_eq!(offered("?city("), ["?city(Name"]);
        assert_eq!(offered("?city(Name, P"), ["?city(Name, People"]);
        assert_eq!(offered("?city(N, P), X = upp"), ["?city(N, P), X = upper("]);
        assert_eq!(offered("?count_d"), ["?count_distinct<"]);
        assert_eq!(offered("?city(\"cit"), [""; 0]);
        assert_eq!(offered("+big(N) <-\n  cit"), ["+big(N) <-\n  citizen(", "+big(N) <-\n  city("]);
    }

    #[test]
    fn commands_complete_their_words_and_what_they_are_about() {
        assert_eq!(offered(".k"), [".kg"]);
        assert_eq!(offered(".kg "), [".kg list", ".kg use"]);
        assert_eq!(offered(".kg use l"), [".kg use lab"]);
        assert_eq!(offered(".rel describe cit"), [".rel describe citizen", ".rel describe city"]);
        assert_eq!(offered(".mode js"), [".mode json", ".mode jsonl"]);
        assert_eq!(offered(".timer o"), [".timer off", ".timer on"]);
        assert!(offered(".qui").contains(&".quit".to_owned()));
    }

    #[test]
    fn files_are_completed_where_a_file_belongs() {
        let folder = std::env::temp_dir().join(format!("stratalog-files-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("sub")).unwrap();
        std::fs::write(folder.join("some.csv"), "").unwrap();
        let folder = folder.display().to_string();
        assert_eq!(
            offered(&format!(".read {folder}/s")),
            [format!(".read {folder}/some.csv"), format!(".read {folder}/sub/")]
        );
        assert_eq!(
            offered(&format!(".import city {folder}/so")),
            [format!(".import city {folder}/some.csv")]
        );
        std::fs::remove_dir_all(folder).unwrap();
    }
}
