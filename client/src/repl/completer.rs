//! What Tab offers: relations with their columns, functions and aggregates in programs; in commands their words, and names
//! or files where those belong.

use super::commands::{COMMANDS, ImportLine};
use super::words::in_home;
use crate::names::{Known, Names};
use crate::output::Format;
use clap::ValueEnum;
use reedline::{Completer, CompletionResult, Span, Suggestion};
use std::path::Path;
use stratalog_language::complete::{Offer, OfferKind, beginning, in_command, in_program};

/// Completes lines of the prompt.
pub(super) struct Completion(pub Names);

impl Completer for Completion {
    fn complete(&mut self, line: &str, pos: usize) -> CompletionResult {
        let before = line.get(..pos).unwrap_or(line);
        let known = self.0.known();
        let statement = &before[before.rfind("\n.").map_or(0, |at| at + 1)..];
        let is_command = statement.trim_start().starts_with('.') && !statement.contains('?');
        let found = if is_command {
            in_prompt(statement.trim_start(), &known)
        } else {
            in_program(before, &known.relations)
        };
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

/// The commands of the prompt and of the server.
fn in_prompt(command: &str, known: &Known) -> Vec<Offer> {
    let usages =
        COMMANDS.iter().flat_map(|entry| entry.names.iter().map(|name| (*name, entry.usage, entry.doc)));
    let ours = usages.map(|(name, usage, doc)| (format!("{name} {usage}"), doc.to_owned()));
    in_command(command, ours.chain(known.commands.iter().cloned()), |word, typed| {
        of_placeholder(word, typed, known)
    })
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
            found.push(Offer {
                value,
                about: None,
                kind: OfferKind::Word,
                typed: typed.len(),
                ends: !is_folder,
            });
        }
    }
    found.sort_by(|a, b| a.value.cmp(&b.value));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use stratalog_language::complete::Relation;

    fn offered(line: &str) -> Vec<String> {
        let names = Names::default();
        *names.known() = Known {
            relations: vec![
                Relation { name: "city".into(), columns: "name: string, people: int".into() },
                Relation { name: "citizen".into(), columns: "A: any".into() },
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
