//! What may be written at a place of a program: of what the program defines, of what is defined around it, and of the language.

use stratalog_engine::CommandEntry;

use crate::columns::Columns;
use crate::complete::{Offer, OfferKind, Relation, beginning, in_command, in_program};

/// Of so many relations it is told what their columns are, as that takes a while for those that rules derive; of others the
/// names will do.
const DESCRIBED: usize = 200;

/// What a program stands among.
#[derive(Debug, Default)]
pub struct Among<'a> {
    /// Relations. Those of earlier ones hide those of later ones.
    pub columns: &'a [Columns<'a>],
    /// The commands that there are.
    pub commands: &'a [&'static CommandEntry],
    /// The names of graphs.
    pub graphs: &'a [String],
}

/// What goes on a program that ends here; each once.
pub fn offers(before: &str, among: &Among<'_>) -> Vec<Offer> {
    let before = last_statement(before);
    if is_in_comment(before) {
        return Vec::new();
    }
    let relations = among.relations(before);
    let mut found = if before.starts_with('.') && !before.contains('?') {
        let usages = among.commands.iter().map(|entry| (usage(entry), entry.doc.to_owned()));
        in_command(before, usages, |word, typed| match word {
            "NAME" | "RELATION" => {
                let named = relations.iter().map(|known| (known.name.as_str(), Some(known.columns.as_str())));
                beginning(named, typed, true)
            }
            "KG" => beginning(among.graphs.iter().map(|name| (name.as_str(), None)), typed, true),
            _ => Vec::new(),
        })
    } else {
        let mut offers = in_program(before, &relations);
        offers.extend(variables(before));
        offers
    };
    let mut seen = Vec::new();
    found.retain(|offer| {
        let is_new = !seen.contains(&offer.value);
        seen.push(offer.value.clone());
        is_new
    });
    found
}

impl Among<'_> {
    /// The relations that may be meant: those that begin as what is typed, and those whose brackets are open. What their
    /// columns hold has to be found out for each.
    fn relations(&self, before: &str) -> Vec<Relation> {
        let words: Vec<&str> = before.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
        let (typed, earlier) = words.split_last().map_or(("", &[][..]), |(typed, earlier)| (*typed, earlier));
        let begins = |name: &str| {
            name.get(..typed.len()).is_some_and(|start| start.eq_ignore_ascii_case(typed))
                || earlier.contains(&name)
        };
        let mut found: Vec<Relation> = Vec::new();
        for columns in self.columns {
            for name in columns.relations() {
                if begins(name) && found.iter().all(|known| known.name != name) {
                    let is_described = found.len() < DESCRIBED || earlier.contains(&name);
                    let shown = is_described.then(|| columns.shown(name)).flatten();
                    let columns = shown.unwrap_or_default();
                    found.push(Relation { name: name.to_owned(), columns });
                }
            }
        }
        found
    }
}

/// How a command is written, with the first of several words for the same.
fn usage(entry: &CommandEntry) -> String {
    let words: Vec<&str> = entry.words.iter().map(|word| word.split('|').next().unwrap_or(word)).collect();
    format!(".{} {}", words.join(" "), entry.usage)
}

/// From the last line that begins a statement.
fn last_statement(before: &str) -> &str {
    let begins = |at: &usize| !before[*at..].starts_with([' ', '\t', '\n', '\r', ')', ']']);
    let lines = before.match_indices('\n').map(|(at, _)| at + 1).filter(|at| *at < before.len());
    let start = std::iter::once(0).chain(lines).rfind(begins);
    &before[start.unwrap_or(before.len())..]
}

fn is_in_comment(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default();
    let outside = |at: usize| line[..at].matches('"').count().is_multiple_of(2);
    line.trim_start().starts_with('%') || line.match_indices("//").any(|(at, _)| outside(at))
}

/// The variables that a statement has so far, where one may stand.
fn variables(before: &str) -> Vec<Offer> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let typed = before.rsplit(|c| !is_part(c)).next().unwrap_or_default();
    let earlier = &before[..before.len() - typed.len()];
    if !earlier.matches('"').count().is_multiple_of(2) || typed.starts_with(char::is_lowercase) {
        return Vec::new();
    }
    let words = earlier.split(|c| !is_part(c));
    let known = words.filter(|word| word.starts_with(char::is_uppercase)).map(|word| (word, None));
    let mut found = beginning(known, typed, false);
    found.iter_mut().for_each(|offer| offer.kind = OfferKind::Variable);
    found
}

#[cfg(test)]
mod tests {
    use stratalog_engine::commands::COMMANDS;

    use super::{Among, offers};
    use crate::document::Document;

    fn offered(before: &str) -> Vec<String> {
        let graph = Document::new(
            "+parent(child: string, elder: string)\n+age(name: string, years: int)".to_owned(),
            [],
        );
        let own = Document::new("+pair(a: int, b: int)\n+parent(x: int)".to_owned(), []);
        let commands: Vec<_> = COMMANDS.iter().flat_map(|family| family.entries).collect();
        let columns = [own.columns(), graph.columns()];
        let graphs = ["lab".to_owned(), "default".to_owned()];
        let among = Among { columns: &columns, commands: &commands, graphs: &graphs };
        offers(before, &among).into_iter().map(|offer| offer.value).collect()
    }

    #[test]
    fn relations_of_the_program_and_of_what_is_around_it_are_offered_once() {
        assert_eq!(offered("?pai"), ["pair("]);
        assert_eq!(offered("?paren"), ["parent("]);
        assert_eq!(offered("?age("), ["Name"]);
        // As the program has it, not as it is around it.
        assert_eq!(offered("?parent("), ["X"]);
        assert!(offered("+old(N) <- age(N, Y), N").contains(&"N".to_owned()));
    }

    #[test]
    fn commands_go_on_with_names() {
        assert_eq!(offered("?age(X, Y)\n.kg use l"), ["lab"]);
        assert_eq!(offered(".rel describe a"), ["age"]);
        assert!(
            offered(".rul").contains(&"rule".to_owned()) || offered(".rul").contains(&".rule".to_owned())
        );
    }

    #[test]
    fn nothing_is_offered_in_comments_and_texts() {
        assert!(offered("?age(X, Y) // pa").is_empty());
        assert!(offered("?age(\"pa").is_empty());
    }
}
