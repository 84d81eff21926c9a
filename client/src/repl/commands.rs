//! The commands that the prompt answers itself; every other line goes to the server.

use crate::output::Format;
use clap::ValueEnum;

/// What `.help` shows.
pub(super) const HELP: &str = "\
Statements (a line that begins with a blank goes on with the one before):
  +edge(1, 2)   +edge[(1, 2), (2, 3)]    insert facts that stay
  -edge(1, 2)   -edge(X, Y) <- Y > 5     delete facts
  +reach(X, Y) <- edge(X, Y)             add a rule that stays
  seen(1)       seen(X) <- edge(X, _)    facts and rules of this session only
  ?edge(X, Y), X < 5                     query
Commands of the server, among them:
  .kg list | create N | use N | drop N   knowledge graphs
  .rel  .rel NAME  .rel describe NAME    relations
  .rule list | def NAME | drop NAME      rules
  .status                                the server
  .help NAME                             a command or a function
Commands of this prompt:
  .load FILE                             run a file
  .format table|csv|tsv|json|jsonl|markdown
  .timing on|off                         tell where the time goes
  .help   .quit (also .exit, .q, Ctrl-D)
Ctrl-C clears the line, or stops the program that runs.";

/// A command of the prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Local {
    Quit,
    Help,
    Load(String),
    Timing(bool),
    Format(Format),
}

/// Reads a command of the prompt: `None` when the line is for the server, an error when it lacks something.
pub(super) fn read_command(line: &str) -> Option<Result<Local, String>> {
    let line = line.trim();
    if line.contains('\n') {
        return None;
    }
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    match word.to_ascii_lowercase().as_str() {
        ".quit" | ".exit" | ".q" => Some(Ok(Local::Quit)),
        ".help" | ".?" if rest.is_empty() => Some(Ok(Local::Help)),
        ".load" if rest.is_empty() => Some(Err("`.load` wants the name of a file".to_owned())),
        ".load" => Some(Ok(Local::Load(rest.trim_matches('"').to_owned()))),
        ".timing" => Some(match rest {
            "on" => Ok(Local::Timing(true)),
            "off" => Ok(Local::Timing(false)),
            _ => Err("`.timing` wants `on` or `off`".to_owned()),
        }),
        ".format" | ".mode" => Some(Format::from_str(rest, true).map(Local::Format).map_err(|_| {
            let formats: Vec<String> = Format::value_variants()
                .iter()
                .filter_map(|f| Some(f.to_possible_value()?.get_name().to_owned()))
                .collect();
            format!("`.format` wants one of {}", formats.join(", "))
        })),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_of_the_prompt_are_told_from_those_of_the_server() {
        assert_eq!(read_command(" .QUIT "), Some(Ok(Local::Quit)));
        assert_eq!(read_command(".?"), Some(Ok(Local::Help)));
        assert_eq!(read_command(".load my graph.dl"), Some(Ok(Local::Load("my graph.dl".into()))));
        assert_eq!(read_command(".format JSON"), Some(Ok(Local::Format(Format::Json))));
        assert_eq!(read_command(".timing off"), Some(Ok(Local::Timing(false))));
        for line in [".kg list", "?quit(X)", ".quitter", ".help\n?a(X)", ".help kg"] {
            assert_eq!(read_command(line), None, "{line}");
        }
    }

    #[test]
    fn a_command_that_lacks_something_says_what() {
        for line in [".load", ".timing", ".timing maybe", ".format xml"] {
            assert!(matches!(read_command(line), Some(Err(_))), "{line}");
        }
        assert!(read_command(".format").unwrap().unwrap_err().contains("markdown"));
    }
}
