//! The commands that the prompt answers itself, in one list; every other line goes to the server.

use super::words::{last_file, path, split, unquoted};
use crate::arguments::{ImportArguments, RowArguments};
use crate::commands::import::Import;
use crate::output::{Expanded, Format};
use clap::{CommandFactory, Parser, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// A command of the prompt.
#[derive(Debug, Clone)]
pub(super) enum Local {
    Quit,
    Help,
    /// What is known of a command of the prompt.
    About(String),
    Run(PathBuf),
    Timing(bool),
    Mode(Format),
    Output(Option<PathBuf>),
    Width(Option<u16>),
    Null(Option<String>),
    Headers(bool),
    All(bool),
    Pager(bool),
    /// Without a word, the other way round.
    Expanded(Option<Expanded>),
    Limit(Option<u64>),
    Timeout(Option<Duration>),
    Import(Result<Import, String>),
    Export {
        what: String,
        file: PathBuf,
    },
    /// A command of the server under the name that people know from elsewhere.
    Server(String),
    History(Option<String>),
    Edit(Option<PathBuf>),
    Watch(String),
    Cancel(Option<String>),
}

/// How a command is written and what it does.
pub(super) struct Entry {
    /// Its names, the usual one first.
    pub names: &'static [&'static str],
    pub usage: &'static str,
    pub doc: &'static str,
    /// Reads what stands after the name; `None` where that is missing or wrong.
    read: fn(&str) -> Option<Local>,
}

/// `.import` has the options of `stratalog import`.
#[derive(Debug, Parser)]
#[command(name = ".import", no_binary_name = true, disable_help_flag = true)]
pub(super) struct ImportLine {
    #[command(flatten)]
    import: ImportArguments,
    #[command(flatten)]
    rows: RowArguments,
}

impl ImportLine {
    fn read(rest: &str) -> Result<Import, String> {
        let line = ImportLine::try_parse_from(split(rest)?).map_err(|error| {
            let text = error.to_string();
            text.trim().trim_start_matches("error: ").to_owned()
        })?;
        Import::new(line.import, &line.rows)
    }

    /// The long names of its options.
    pub(super) fn options() -> Vec<String> {
        let command = ImportLine::command();
        command.get_arguments().filter_map(|option| Some(format!("--{}", option.get_long()?))).collect()
    }
}

/// Every command of the prompt.
pub(super) const COMMANDS: &[Entry] = &[
    Entry {
        names: &[".mode", ".format"],
        usage: "FORMAT",
        doc: "write rows as box, table, line, markdown, csv, tsv (or tabs), json or jsonl; to files also as parquet, arrow, nt, ttl, nq",
        read: |rest| Format::from_str(rest, true).ok().map(Local::Mode),
    },
    Entry {
        names: &[".output"],
        usage: "[FILE]",
        doc: "add rows to FILE from now on, and show only messages; without it, show rows again as before",
        read: |rest| Some(Local::Output((!rest.is_empty()).then(|| path(rest)))),
    },
    Entry {
        names: &[".timer", ".timing"],
        usage: "on|off",
        doc: "tell where the time goes",
        read: |rest| on_off(rest).map(Local::Timing),
    },
    Entry {
        names: &[".width"],
        usage: "COLUMNS|auto",
        doc: "fit tables into so many columns; 0 never wraps",
        read: |rest| match rest {
            "auto" | "" => Some(Local::Width(None)),
            _ => rest.parse().ok().map(|width| Local::Width(Some(width))),
        },
    },
    Entry {
        names: &[".all"],
        usage: "on|off",
        doc: "show all rows, all columns and whole values, and not the first 40 rows and what fits",
        read: |rest| on_off(rest).map(Local::All),
    },
    Entry {
        names: &[".expanded", "\\x"],
        usage: "[on|off|auto]",
        doc: "one `column = value` a line; by itself (auto) where too few columns fit",
        read: |rest| match rest {
            "" => Some(Local::Expanded(None)),
            "auto" => Some(Local::Expanded(Some(Expanded::Auto))),
            _ => on_off(rest).map(|on| Local::Expanded(Some(if on { Expanded::On } else { Expanded::Off }))),
        },
    },
    Entry {
        names: &[".pager"],
        usage: "on|off",
        doc: "with `.all on`, page what is longer than the screen, by $PAGER or else less",
        read: |rest| on_off(rest).map(Local::Pager),
    },
    Entry {
        names: &[".nullvalue"],
        usage: "[TEXT]",
        doc: "the word for null; without it, the format's own",
        read: |rest| Some(Local::Null((!rest.is_empty()).then(|| unquoted(rest).to_owned()))),
    },
    Entry {
        names: &[".headers"],
        usage: "on|off",
        doc: "column names",
        read: |rest| on_off(rest).map(Local::Headers),
    },
    Entry {
        names: &[".limit"],
        usage: "ROWS|off",
        doc: "at most so many rows",
        read: |rest| match rest {
            "off" => Some(Local::Limit(None)),
            _ => rest.parse().ok().map(|rows| Local::Limit(Some(rows))),
        },
    },
    Entry {
        names: &[".timeout"],
        usage: "SECONDS|off",
        doc: "give up on a program after so long",
        read: |rest| match rest {
            "off" => Some(Local::Timeout(None)),
            _ => crate::arguments::seconds(rest).ok().map(|time| Local::Timeout(Some(time))),
        },
    },
    Entry {
        names: &[".read", ".load"],
        usage: "FILE",
        doc: "run the program in FILE",
        read: |rest| some(rest).map(|file| Local::Run(path(file))),
    },
    Entry {
        names: &[".import"],
        usage: "RELATION FILE... [OPTIONS]",
        doc: "insert the rows of files, by their endings CSV, TSV, JSON, JSON lines, Parquet, Arrow or RDF; options as of `stratalog import`",
        read: |rest| Some(Local::Import(ImportLine::read(some(rest)?))),
    },
    Entry {
        names: &[".export"],
        usage: "RELATION|QUERY FILE",
        doc: "write a relation or an answer to FILE",
        read: |rest| {
            let (what, file) = last_file(rest)?;
            Some(Local::Export { what: what.to_owned(), file })
        },
    },
    Entry {
        names: &[".tables"],
        usage: "",
        doc: "list the relations, as `.rel` does",
        read: |_| Some(Local::Server(".rel".to_owned())),
    },
    Entry {
        names: &[".schema"],
        usage: "RELATION",
        doc: "list the columns of a relation, as `.rel describe` does",
        read: |rest| {
            Some(Local::Server(if rest.is_empty() {
                ".rel".to_owned()
            } else {
                format!(".rel describe {rest}")
            }))
        },
    },
    Entry {
        names: &[".watch"],
        usage: "QUERY",
        doc: "answer a query, and then write the rows that come and go, until Ctrl-C",
        read: |rest| some(rest).map(|query| Local::Watch(query.to_owned())),
    },
    Entry {
        names: &[".cancel"],
        usage: "[ID]",
        doc: "stop a request of `.query list`; Ctrl-C stops the one that runs here",
        read: |rest| Some(Local::Cancel((!rest.is_empty()).then(|| rest.to_owned()))),
    },
    Entry {
        names: &[".history"],
        usage: "[TEXT]",
        doc: "show the lines typed before, or those with TEXT",
        read: |rest| Some(Local::History((!rest.is_empty()).then(|| rest.to_owned()))),
    },
    Entry {
        names: &[".edit"],
        usage: "[FILE]",
        doc: "write a program in $EDITOR, and run it",
        read: |rest| Some(Local::Edit((!rest.is_empty()).then(|| path(rest)))),
    },
    Entry {
        names: &[".help", ".?"],
        usage: "[NAME]",
        doc: "these and the commands of the server, or what is known of NAME",
        read: |rest| rest.is_empty().then_some(Local::Help),
    },
    Entry {
        names: &[".quit", ".exit", ".q"],
        usage: "",
        doc: "leave, as does Ctrl-D",
        read: |_| Some(Local::Quit),
    },
];

/// What `.help` shows below the server's commands.
pub(super) fn help() -> String {
    let mut text = String::from(STATEMENTS);
    text.push_str("\nCommands of this prompt:\n");
    for entry in COMMANDS {
        text.push_str(&format!("  {:<26} {}\n", format!("{} {}", entry.names[0], entry.usage), entry.doc));
    }
    text.push_str(
        "Ctrl-C clears the line, or stops the program that runs. Above are the commands of the server.",
    );
    text
}

const STATEMENTS: &str = "\
Statements (a line that begins with a blank goes on with the one before):
  +edge(1, 2)   +edge[(1, 2), (2, 3)]    insert facts that stay
  -edge(1, 2)   -edge(X, Y) <- Y > 5     delete facts
  +reach(X, Y) <- edge(X, Y)             add a rule that stays
  seen(1)       seen(X) <- edge(X, _)    facts and rules of this session only
  ?edge(X, Y), X < 5                     query";

/// What fingers type that know other prompts: no statement is a word alone.
fn at_other_prompts(line: &str) -> &str {
    match line.trim_end_matches(';').to_ascii_lowercase().as_str() {
        "exit" | "quit" | "\\q" => ".quit",
        "help" | "\\?" | "\\h" => ".help",
        _ => line,
    }
}

/// Reads a command of the prompt: `None` when the line is for the server, an error when it lacks something.
pub(super) fn read_command(line: &str) -> Option<Result<Local, String>> {
    let line = at_other_prompts(line.trim());
    if let Some(name) = asked_about(line) {
        return Some(Ok(about(name)));
    }
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let is = |name: &&str| name.eq_ignore_ascii_case(word);
    let entry = COMMANDS.iter().find(|entry| entry.names.iter().any(is))?;
    let rest = rest.trim();
    // The server knows more of `.help`, and other lines belong to other statements.
    let is_query = matches!(entry.names[0], ".watch" | ".export");
    if entry.names[0] == ".help" && !rest.is_empty() || !is_query && line.contains('\n') {
        return None;
    }
    let wanted = || format!("expected `{} {}`: {}", entry.names[0], entry.usage, entry.doc);
    Some((entry.read)(rest).ok_or_else(wanted))
}

/// The name in `help NAME`, which is no statement, or in `.help NAME` of a command of the prompt.
fn asked_about(line: &str) -> Option<&str> {
    let (word, name) = line.split_once(char::is_whitespace)?;
    let name = name.trim().trim_end_matches(';');
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "._-?\\ ".contains(c));
    let is_word = ["help", "\\h", "\\?"].iter().any(|help| word.eq_ignore_ascii_case(help));
    let is_own = [".help", ".?"].iter().any(|help| word.eq_ignore_ascii_case(help)) && own(name).is_some();
    (is_name && (is_word || is_own)).then_some(name)
}

/// The command of the prompt that is called so, with its dot or without.
fn own(name: &str) -> Option<&'static Entry> {
    let is = |known: &&str| known.trim_start_matches('.').eq_ignore_ascii_case(name.trim_start_matches('.'));
    COMMANDS.iter().find(|entry| entry.names.iter().any(is))
}

/// What is known of a name: here, or else by the server.
fn about(name: &str) -> Local {
    let Some(entry) = own(name) else { return Local::Server(format!(".help {name}")) };
    let mut text = format!("{} {}\n  {}", entry.names.join(" or "), entry.usage, entry.doc);
    if entry.names[0] == ".import" {
        text.push_str(&format!("\n  options: {}", ImportLine::options().join(" ")));
    }
    Local::About(text)
}

fn on_off(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "on" => Some(true),
        "off" => Some(false),
        _ => None,
    }
}

fn some(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use stratalog_engine::commands as server;

    #[test]
    fn commands_of_the_prompt_are_told_from_those_of_the_server() {
        for (line, command) in [
            (" .QUIT ", Local::Quit),
            (".?", Local::Help),
            (".load my graph.dl", Local::Run("my graph.dl".into())),
            (".format JSON", Local::Mode(Format::Json)),
            (".mode tabs", Local::Mode(Format::Tsv)),
            (".timing off", Local::Timing(false)),
            (".schema edge", Local::Server(".rel describe edge".into())),
            (".export ?edge(X, Y) e.csv", Local::Export { what: "?edge(X, Y)".into(), file: "e.csv".into() }),
        ] {
            assert_eq!(read(line), format!("{:?}", Some(Ok::<_, String>(command))));
        }
        for line in [".kg list", "?quit(X)", ".quitter", ".help\n?a(X)", ".help kg", ".explain ?a(X)"] {
            assert_eq!(read(line), "None", "{line}");
        }
    }

    #[test]
    fn words_of_other_prompts_are_understood() {
        for line in ["exit", "QUIT;", " quit ", "\\q"] {
            assert_eq!(read(line), read(".quit"), "{line}");
        }
        assert_eq!(read("help"), read(".help"));
        assert!(read("help export").contains("RELATION|QUERY FILE"), "{}", read("help export"));
        assert_eq!(read("help export"), read(".help .export"));
        assert!(read("help import").contains("--delimiter"));
        assert_eq!(read("help kg"), format!("{:?}", Some(Ok::<_, String>(Local::Server(".help kg".into())))));
        assert_eq!(read("help(X) <- p(X)"), "None");
        assert_eq!(read("exit(1)"), "None");
    }

    fn read(line: &str) -> String {
        format!("{:?}", read_command(line))
    }

    #[test]
    fn an_import_takes_the_options_of_the_command_line() {
        let line = ".import city 'my cities.txt' b.txt --format csv --columns 'name: string, n: int' --on-error skip";
        let Some(Ok(Local::Import(Ok(import)))) = read_command(line) else { panic!("{}", read(line)) };
        assert_eq!(import.files, [PathBuf::from("my cities.txt"), PathBuf::from("b.txt")]);
        for line in [".import city", ".import city a.csv --colums x", ".import city 'a.csv"] {
            assert!(matches!(read_command(line), Some(Ok(Local::Import(Err(_))))), "{line}");
        }
        assert!(ImportLine::options().contains(&"--no-header".to_owned()));
    }

    #[test]
    fn a_command_that_lacks_something_says_what() {
        for line in [".load", ".timing", ".timing maybe", ".format xml", ".import", ".width x", ".timeout 0"]
        {
            assert!(matches!(read_command(line), Some(Err(_))), "{line}");
        }
        assert!(read_command(".format").unwrap().unwrap_err().contains("markdown"));
    }

    /// The server's commands mean here what they mean there.
    #[test]
    fn no_command_of_the_server_is_hidden() {
        let words = server::COMMANDS
            .iter()
            .flat_map(|family| family.entries)
            .flat_map(|entry| entry.words[0].split('|'));
        let belong_to_clients = ["quit", "exit", "q", "load", "help", "?"];
        for word in words.filter(|word| !belong_to_clients.contains(word)) {
            let name = format!(".{word}");
            assert!(COMMANDS.iter().all(|entry| !entry.names.contains(&name.as_str())), "{name}");
        }
    }
}
