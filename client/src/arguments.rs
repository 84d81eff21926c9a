//! The command line: what may be asked for, and who asks.
//!
//! Secrets come from the environment, from a file or from the terminal, since other users can read a command line;
//! `--api-key` exists for those who know that.

use crate::output::Format;
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;
use std::time::Duration;
use stratalog_client::{Credentials, DEFAULT_ADDRESS, Value};

/// Query and change knowledge graphs on a Stratalog server.
///
/// Without a command, a prompt is opened on a terminal; otherwise standard input is run as a program. Rows go to
/// standard output; messages, timings and errors go to standard error.
#[derive(Debug, Parser)]
#[command(name = "stratalog", version, max_term_width = 100, after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    /// Run PROGRAM and leave; the same as `query PROGRAM`
    #[arg(short = 'c', long = "command", value_name = "PROGRAM", allow_hyphen_values = true)]
    pub program: Option<String>,

    #[command(subcommand)]
    pub command: Option<Command>,

    #[command(flatten)]
    pub connection: ConnectionArguments,

    #[command(flatten)]
    pub request: RequestArguments,

    #[command(flatten)]
    pub output: OutputArguments,
}

const AFTER_HELP: &str = "\
Environment: STRATALOG_URL, STRATALOG_CA_FILE, STRATALOG_USER, STRATALOG_PASSWORD, SERVICE_API_KEY, NO_COLOR, \
CLICOLOR_FORCE.

Exit code: 0 done, 1 the server refused a statement, 2 wrong use, 3 no connection, 4 not authenticated, \
124 out of time, 130 interrupted.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the program in FILE, all of it as one request
    Run {
        /// The file; `-` is standard input
        file: PathBuf,
    },
    /// Run PROGRAM
    Query {
        /// The text of the program; write `--` before one that looks like an option
        #[arg(allow_hyphen_values = true)]
        program: String,
    },
    /// Report errors and warnings of programs without a server and without running anything
    Check {
        /// The files, each judged by itself; `-` is standard input
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    /// Write what changes on the graph, one JSON object a line, until interrupted
    Events {
        /// Begin after the event of this number, as far as the server keeps them
        #[arg(long, value_name = "SEQ")]
        since: Option<u64>,
    },
    /// Open a prompt
    Repl,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Connection")]
pub(crate) struct ConnectionArguments {
    /// The server: ws://host:port/ws, http://host:port or host:port; wss://host or https://host behind TLS
    #[arg(long, global = true, env = "STRATALOG_URL", default_value = DEFAULT_ADDRESS, value_name = "ADDRESS")]
    pub url: String,

    /// Behind TLS, trust only authorities whose certificates are in this PEM file [default: those of the system]
    #[arg(long, global = true, env = "STRATALOG_CA_FILE", value_name = "FILE")]
    pub ca_file: Option<PathBuf>,

    /// The user's name [env: STRATALOG_USER] [default: admin, when there is a password]
    #[arg(short = 'U', long, global = true, value_name = "NAME")]
    pub user: Option<String>,

    /// Read the password from the first line of FILE; else it is taken from STRATALOG_PASSWORD or asked for
    #[arg(long, global = true, value_name = "FILE")]
    pub password_file: Option<PathBuf>,

    /// Use an API key instead of a password; prefer the variable, as others can see a command line [env:
    /// SERVICE_API_KEY]
    #[arg(long, global = true, value_name = "KEY", conflicts_with_all = ["user", "password_file"])]
    pub api_key: Option<String>,

    /// The knowledge graph to open [default: the server's]
    #[arg(long, global = true, value_name = "NAME")]
    pub kg: Option<String>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Requests")]
pub(crate) struct RequestArguments {
    /// At most this many rows
    #[arg(long, global = true, value_name = "ROWS")]
    pub limit: Option<u64>,

    /// Give up on a program after so long; the server's own limit may be shorter
    #[arg(long, global = true, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<Duration>,

    /// A value for `$name` in the program: JSON, or text where it is not
    #[arg(long = "param", global = true, value_name = "NAME=VALUE", value_parser = parameter)]
    pub parameters: Vec<(String, Value)>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArguments {
    /// How to write rows [default: table on a terminal, tsv elsewhere]
    #[arg(long, global = true, value_name = "FORMAT")]
    pub format: Option<Format>,

    /// Leave out the column names
    #[arg(long, global = true)]
    pub no_header: bool,

    /// The word for null [default: null in tables, \N in tsv, nothing in csv]
    #[arg(long, global = true, value_name = "TEXT", allow_hyphen_values = true)]
    pub null: Option<String>,

    /// Tell where the time went
    #[arg(long, global = true)]
    pub timing: bool,
}

/// Seconds with a fraction, from a millisecond to a year.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "expected a number of seconds".to_owned())?;
    if (0.001..=31_536_000.0).contains(&seconds) {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err("expected from 0.001 seconds to a year".to_owned())
    }
}

/// `name=value`, where the value is JSON if it reads as such and text if not.
fn parameter(text: &str) -> Result<(String, Value), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    let name = name.strip_prefix('$').unwrap_or(name);
    if name.is_empty() {
        return Err("the name is missing before `=`".to_owned());
    }
    Ok((name.to_owned(), serde_json::from_str(value).unwrap_or_else(|_| Value::Text(value.to_owned()))))
}

/// Where secrets may come from besides the command line.
pub(crate) trait Secrets {
    /// A variable of the environment; an empty one counts as unset.
    fn variable(&self, name: &str) -> Option<String>;
    /// The first line of a file.
    fn first_line(&self, path: &std::path::Path) -> Result<String, String>;
    /// What a person types, unseen; `None` where there is nobody to ask.
    fn ask(&self, prompt: &str) -> Result<Option<String>, String>;
}

impl ConnectionArguments {
    /// The credentials to log in with. What stands on the command line beats the environment, and an API key in the
    /// environment beats a password there.
    pub(crate) fn credentials(&self, secrets: &dyn Secrets) -> Result<Credentials, String> {
        if let Some(key) = &self.api_key {
            return Ok(Credentials::api_key(key));
        }
        let asks_for_password = self.user.is_some() || self.password_file.is_some();
        if !asks_for_password && let Some(key) = secrets.variable("SERVICE_API_KEY") {
            return Ok(Credentials::api_key(key));
        }
        let user = self.user.clone().or_else(|| secrets.variable("STRATALOG_USER"));
        let user = user.unwrap_or_else(|| "admin".to_owned());
        let password = match &self.password_file {
            Some(path) => Some(secrets.first_line(path)?),
            None => match secrets.variable("STRATALOG_PASSWORD") {
                Some(password) => Some(password),
                None => secrets.ask(&format!("Password for {user}: "))?,
            },
        };
        let password = password.ok_or(
            "no credentials: set STRATALOG_PASSWORD or SERVICE_API_KEY, or give --password-file; \
             there is no terminal to ask on",
        )?;
        Ok(Credentials::password(user, password))
    }
}

/// The real environment, file system and terminal.
pub(crate) struct SystemSecrets;

impl Secrets for SystemSecrets {
    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok().filter(|value| !value.is_empty())
    }

    fn first_line(&self, path: &std::path::Path) -> Result<String, String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        match text.lines().next() {
            Some(line) if !line.is_empty() => Ok(line.to_owned()),
            _ => Err(format!("{}: there is no password on the first line", path.display())),
        }
    }

    fn ask(&self, prompt: &str) -> Result<Option<String>, String> {
        use std::io::IsTerminal;
        if !std::io::stderr().is_terminal() {
            return Ok(None);
        }
        match rpassword::prompt_password(prompt) {
            Ok(password) => Ok(Some(password)),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => Err("interrupted".to_owned()),
            Err(_) => Ok(None), // no terminal behind it after all
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use std::path::Path;

    struct Fixed(&'static [(&'static str, &'static str)]);

    impl Secrets for Fixed {
        fn variable(&self, name: &str) -> Option<String> {
            self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        }

        fn first_line(&self, path: &Path) -> Result<String, String> {
            self.variable(&path.to_string_lossy()).ok_or_else(|| "no such file".to_owned())
        }

        fn ask(&self, prompt: &str) -> Result<Option<String>, String> {
            Ok(self.variable(prompt))
        }
    }

    fn chosen(
        words: &[&str],
        secrets: &'static [(&'static str, &'static str)],
    ) -> Result<Credentials, String> {
        let words = std::iter::once("stratalog").chain(words.iter().copied());
        Arguments::try_parse_from(words).unwrap().connection.credentials(&Fixed(secrets))
    }

    #[test]
    fn the_command_line_is_well_formed() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn the_command_line_beats_the_environment() {
        let all =
            &[("SERVICE_API_KEY", "k"), ("STRATALOG_PASSWORD", "p"), ("STRATALOG_USER", "eve"), ("pw", "f")];
        assert_eq!(chosen(&[], all), Ok(Credentials::api_key("k")));
        assert_eq!(chosen(&["--api-key", "x"], all), Ok(Credentials::api_key("x")));
        assert_eq!(chosen(&["-U", "ada"], all), Ok(Credentials::password("ada", "p")));
        assert_eq!(chosen(&["--password-file", "pw"], all), Ok(Credentials::password("eve", "f")));
    }

    #[test]
    fn a_password_alone_belongs_to_admin_and_is_asked_for_last() {
        assert_eq!(chosen(&[], &[("STRATALOG_PASSWORD", "p")]), Ok(Credentials::password("admin", "p")));
        assert_eq!(
            chosen(&["-U", "ada"], &[("Password for ada: ", "t")]),
            Ok(Credentials::password("ada", "t"))
        );
        assert!(chosen(&[], &[]).unwrap_err().contains("STRATALOG_PASSWORD"));
    }

    #[test]
    fn a_parameter_is_json_or_text() {
        assert_eq!(parameter("n=1.0"), Ok(("n".into(), Value::Float(1.0))));
        assert_eq!(parameter("$s=ada=b"), Ok(("s".into(), Value::Text("ada=b".into()))));
        assert_eq!(parameter("v=[1, 2]"), Ok(("v".into(), Value::Vector(vec![1.0, 2.0]))));
        assert_eq!(parameter("t=\"1\""), Ok(("t".into(), Value::Text("1".into()))));
        assert!(parameter("n").is_err());
        assert!(parameter("=1").is_err());
    }

    #[test]
    fn a_timeout_is_a_sensible_number() {
        assert_eq!(seconds("1.5"), Ok(Duration::from_millis(1500)));
        for text in ["0", "-1", "nan", "inf", "1e300", "soon"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_program_may_begin_with_a_minus() {
        let words = ["stratalog", "query", "-edge(1, 2)", "--format", "csv"];
        let arguments = Arguments::try_parse_from(words).unwrap();
        assert!(matches!(arguments.command, Some(Command::Query { program }) if program == "-edge(1, 2)"));
        assert_eq!(arguments.output.format, Some(Format::Csv));
        let arguments = Arguments::try_parse_from(["stratalog", "-c", "-edge(1, 2)", "--kg", "a"]).unwrap();
        assert_eq!(arguments.program.as_deref(), Some("-edge(1, 2)"));
    }
}
