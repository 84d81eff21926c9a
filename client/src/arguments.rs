//! The command line: what may be asked for. Help, completions and the manual page are made from these definitions.
//!
//! Secrets come from the environment, from a file or from the terminal, since other users can read a command line;
//! `--api-key` exists for those who know that.

use crate::output::Format;
use crate::terminal::ColourChoice;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::time::Duration;
use stratalog_client::files::{Column, Epoch, TextEncoding};
use stratalog_client::{EvaluationPlace, Value};
use stratalog_language::format::WIDTH;

/// Query and change knowledge graphs on a Stratalog server.
///
/// Without a command, a prompt is opened on a terminal; otherwise standard input is run as a program. Rows go to
/// standard output; messages, timings and errors go to standard error.
#[derive(Debug, Parser)]
#[command(name = "stratalog", version, max_term_width = 100, after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    /// Run PROGRAM and leave; the same as `query PROGRAM`. May be given several times
    #[arg(
        short = 'c',
        long = "command",
        value_name = "PROGRAM",
        allow_hyphen_values = true,
        conflicts_with = "files"
    )]
    pub programs: Vec<String>,

    /// Run the program in FILE and leave; the same as `run FILE`. May be given several times
    #[arg(short = 'f', long = "file", value_name = "FILE")]
    pub files: Vec<PathBuf>,

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
Environment: STRATALOG_URL, STRATALOG_CA_FILE, STRATALOG_USER, STRATALOG_PASSWORD, SERVICE_API_KEY, STRATALOG_PROFILE, \
XDG_CONFIG_HOME, XDG_STATE_HOME, EDITOR, PAGER, NO_COLOR, CLICOLOR_FORCE.

Profiles: tables with the keys url, kg, ca_file, user, password_file, password and api_key in \
$XDG_CONFIG_HOME/stratalog/config.toml or ~/.config/stratalog/config.toml. The one called `default` counts where nothing \
else is said.

Exit code: 0 done, 1 the server refused a statement, 2 wrong use, 3 no connection, 4 not authenticated, \
124 out of time, 130 interrupted; of several programs, that of the first error.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the programs in FILES, each as one request; the first error ends it
    Run {
        /// The files; `-` is standard input
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    /// Run PROGRAM
    Query {
        /// The text of the program; write `--` before one that looks like an option
        #[arg(allow_hyphen_values = true)]
        program: String,
    },
    /// Report errors and warnings of programs without a server and without running anything
    ///
    /// With --url, --open or --profile they are looked at where they would run: on the graph that is there.
    Check {
        /// The files, or folders with `.dl` files, each judged by itself; `-` is standard input
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    /// Write programs in the one layout that all have: blanks, line breaks and commas, nothing else
    ///
    /// Comments stay. What a program means is compared before a file is written.
    Fmt {
        /// The files, or folders with `.dl` files; `-` is standard input, which goes to standard output
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Write nothing, and fail, with 1, if a file would change
        #[arg(long)]
        check: bool,
        /// The columns of a line
        #[arg(long, value_name = "COLUMNS", default_value_t = WIDTH)]
        width: usize,
    },
    /// Serve an editor over standard input and output, by the Language Server Protocol
    ///
    /// Errors as one types, what a name means, completion, definitions and uses, other names, layout. With --url, --open or
    /// --profile the relations of that graph are known, too.
    Lsp {
        /// What editors say who mean standard input and output; it is always these
        #[arg(long)]
        stdio: bool,
    },
    /// Serve an agent by the Model Context Protocol: relations, queries, proofs and suppositions as its tools
    ///
    /// Over standard input and output, or with --http for any number of agents. They have the rights of the credentials that are
    /// given here. --limit and --timeout bound every answer: 200 rows and 30 seconds if nothing is said.
    Mcp {
        /// Let agents insert facts, and run programs that change something
        #[arg(long)]
        write: bool,
        /// Listen here for agents over HTTP, at the path /mcp: 127.0.0.1:8090
        #[arg(long, value_name = "ADDRESS")]
        http: Option<SocketAddr>,
    },
    /// Show what a folder of declarations and rules would change in the graph, or change it
    ///
    /// All `.dl` files of the folder are read, in the order of their paths. They hold declarations, rules and `.index create`.
    /// Relations get the columns that are declared, as far as columns are renamed, added at the end or have other types;
    /// heads get the clauses that the files have. Nothing is dropped but what takes the place of something.
    Migrate {
        /// The folder, or one file
        folder: PathBuf,
        /// Make the changes, all of them or none
        #[arg(long)]
        apply: bool,
        /// Drop rules of heads that no file has
        #[arg(long)]
        prune: bool,
        /// Fail, with 1, if there is something to change
        #[arg(long, conflicts_with = "apply")]
        check: bool,
    },
    /// Insert the rows of files into a relation, all rows of a file or none
    ///
    /// CSV, TSV, JSON, JSON lines, Parquet, Arrow and RDF (N-Triples, Turtle, N-Quads), by the endings of their names
    /// or --format; text also compressed (.gz, .zst). A relation that does not exist is declared with the columns of the file.
    /// Files are read while they are sent, so they may be larger than memory.
    Import(ImportArguments),
    /// Write a relation, or the answer to a query, to a file
    ///
    /// The format is that of the file's name, or --format: CSV, TSV, JSON, JSON lines, Parquet, Arrow, N-Triples, Turtle,
    /// N-Quads. Text is compressed where the name ends in .gz or .zst.
    Export {
        /// The name of a relation, or a program with a query
        #[arg(allow_hyphen_values = true)]
        what: String,
        /// The file, which is there when it is complete; `-` is standard output
        file: PathBuf,
    },
    /// Write the rows of a query, and then those that come and go, until interrupted
    Watch {
        /// The query; a program that changes something is refused
        program: String,
        /// Write only what has changed since a watch that ended with this token
        #[arg(long, value_name = "TOKEN")]
        since: Option<String>,
        /// Keep the token of what was written last in FILE, and go on after the one that is there
        #[arg(long, value_name = "FILE", conflicts_with = "since")]
        token_file: Option<PathBuf>,
    },
    /// Write what changes on the graph, one JSON object a line, until interrupted
    Events {
        /// Begin after the event of this number, as far as the server keeps them
        #[arg(long, value_name = "SEQ")]
        since: Option<u64>,
    },
    /// Manage users; new passwords are asked for, or read from standard input
    #[command(subcommand)]
    User(UserCommand),
    /// Manage API keys
    #[command(subcommand)]
    Key(KeyCommand),
    /// Open a prompt
    Repl,
    /// Write the completions for a shell: `source <(stratalog completions bash)`
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Write the manual page
    Man {
        /// Write one page for each command into this folder
        #[arg(long, value_name = "FOLDER")]
        dir: Option<PathBuf>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ImportArguments {
    /// The relation; for RDF also a pattern such as `foaf_*`: one relation for each predicate, whose name stands for the star
    pub relation: String,
    /// The files; `-` is standard input
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Names and types of the columns: `name: string, people: int` [default: the relation's, or else guessed]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub columns: Option<Vec<Column>>,
    /// Types of some columns, where others are guessed or known: `zip=string,seen=timestamp`
    #[arg(long, value_name = "NAME=TYPE", value_delimiter = ',', value_parser = typed, conflicts_with = "columns")]
    pub types: Vec<Column>,
    /// The unit of numbers that become times, since 1970: s, ms, us or ns
    #[arg(long, value_name = "UNIT")]
    pub epoch: Option<Epoch>,
    /// Refuse times finer than milliseconds, and decimals that no float holds: otherwise they are cut and rounded, with a
    /// warning
    #[arg(long)]
    pub exact: bool,
    /// How text is encoded, such as latin-1 or utf-16 [default: UTF-8]
    #[arg(long, value_name = "NAME")]
    pub encoding: Option<TextEncoding>,
    /// What separates the fields of CSV
    #[arg(long, value_name = "CHARACTER", value_parser = one_byte)]
    pub delimiter: Option<u8>,
    /// What becomes of records that do not fit
    #[arg(long, value_name = "WHAT", default_value = "abort")]
    pub on_error: OnError,
    /// Commit every so many rows, and no longer all rows of a file or none: what is committed stays when a later row
    /// fails
    #[arg(long, value_name = "ROWS")]
    pub commit_every: Option<NonZeroU64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnError {
    /// Nothing of the file is inserted
    Abort,
    /// They are left out and counted
    Skip,
}

const ROLES: [&str; 3] = ["admin", "editor", "viewer"];

#[derive(Debug, Subcommand)]
pub(crate) enum UserCommand {
    /// List the users
    List,
    /// Create a user
    Create {
        /// The user's name
        name: String,
        /// What they may do
        #[arg(long, default_value = "viewer", value_parser = ROLES)]
        role: String,
    },
    /// Change a user's password, or your own
    Password {
        /// The user's name; your own password is changed without one
        name: Option<String>,
    },
    /// Change a user's role
    Role {
        /// The user's name
        name: String,
        /// What they may do from now on
        #[arg(value_parser = ROLES)]
        role: String,
    },
    /// Drop a user
    Drop {
        /// The user's name
        name: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// List the API keys
    List,
    /// Create an API key with your rights; it is shown this once
    Create {
        /// What the key is called
        label: String,

        /// Whose key it is, and whose rights it has
        #[arg(long = "for", value_name = "USER")]
        owner: Option<String>,

        /// Until when: a date and time as in RFC 3339, or a length such as 30d
        #[arg(long, value_name = "TIME")]
        expires: Option<String>,

        /// What it opens of that: metrics, read or write
        #[arg(long, value_name = "SCOPE")]
        scope: Option<String>,
    },
    /// Revoke an API key
    Revoke {
        /// What the key is called
        label: String,
    },
}

#[derive(Debug, Args, Default)]
#[command(next_help_heading = "Connection")]
pub(crate) struct ConnectionArguments {
    /// The profile to connect with [env: STRATALOG_PROFILE]
    #[arg(short = 'p', long, global = true, value_name = "NAME")]
    pub profile: Option<String>,

    /// Work without a server on the database in FOLDER, which is made if it is not there; `:memory:` is one that is gone at
    /// the end, for which `stratalog :memory:` will do
    #[arg(
        long,
        global = true,
        value_name = "FOLDER",
        conflicts_with_all = ["profile", "url", "ca_file", "user", "password_file", "api_key"]
    )]
    pub open: Option<PathBuf>,

    /// The server: ws://host:port/ws, http://host:port or host:port; wss://host or https://host behind TLS [env:
    /// STRATALOG_URL] [default: ws://127.0.0.1:8080/ws]
    #[arg(long, global = true, value_name = "ADDRESS")]
    pub url: Option<String>,

    /// Behind TLS, trust only authorities whose certificates are in this PEM file [env: STRATALOG_CA_FILE] [default: those
    /// of the system]
    #[arg(long, global = true, value_name = "FILE")]
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

/// What stands for a folder where there is none.
pub(crate) const MEMORY: &str = ":memory:";

impl Arguments {
    /// Reads the command line of this process.
    pub(crate) fn read() -> Arguments {
        Arguments::parse_from(with_option(std::env::args_os()))
    }
}

/// The words of a command line in which `:memory:` may stand in the place of `--open :memory:`.
fn with_option(words: impl Iterator<Item = OsString>) -> impl Iterator<Item = OsString> {
    words.enumerate().map(|(at, word)| match at == 1 && word == MEMORY {
        true => format!("--open={MEMORY}").into(),
        false => word,
    })
}

/// The words for where queries are evaluated.
fn places() -> impl TypedValueParser<Value = EvaluationPlace> {
    PossibleValuesParser::new(["auto", "here", "cluster"]).map(|word| match word.as_str() {
        "here" => EvaluationPlace::Here,
        "cluster" => EvaluationPlace::Cluster,
        _ => EvaluationPlace::Auto,
    })
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

    /// Of several programs or files, go on after one that fails; the exit code is that of the first error
    #[arg(short = 'k', long, global = true)]
    pub keep_going: bool,

    /// The rules of a program take the place of those of the same heads that there were before it, so that a file that
    /// is changed and run again leaves none of its old rules
    #[arg(long, global = true)]
    pub replace_rules: bool,

    /// Where queries are evaluated: in the server's memory, by its cluster, or where they fit
    #[arg(long, global = true, value_name = "PLACE", default_value = "auto", value_parser = places())]
    pub place: EvaluationPlace,

    /// A value for `$name` in the program: JSON, or text where it is not
    #[arg(long = "param", global = true, value_name = "NAME=VALUE", value_parser = parameter)]
    pub parameters: Vec<(String, Value)>,
}

/// How rows are written, or read from a file.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct RowArguments {
    /// How to write rows, or what is in a file [default: what the file's name says; else box on a terminal, tsv
    /// elsewhere]
    #[arg(long, global = true, value_name = "FORMAT")]
    pub format: Option<Format>,

    /// The same as --format json
    #[arg(long, global = true, conflicts_with_all = ["format", "csv", "markdown"])]
    pub json: bool,

    /// The same as --format csv
    #[arg(long, global = true, conflicts_with_all = ["format", "markdown"])]
    pub csv: bool,

    /// The same as --format markdown
    #[arg(long, global = true, conflicts_with_all = ["format", "expanded"])]
    pub markdown: bool,

    /// One `column = value` a line, as for wide rows; the same as --format line
    #[arg(short = 'x', long, global = true, conflicts_with_all = ["format", "json", "csv"])]
    pub expanded: bool,

    /// Leave out the column names; of a file that is imported: there are none
    #[arg(long, global = true)]
    pub no_header: bool,

    /// The word for null [default: null in tables, \N in tsv, nothing in csv]
    #[arg(long, global = true, value_name = "TEXT", allow_hyphen_values = true)]
    pub null: Option<String>,
}

impl RowArguments {
    /// The format that was asked for in any way.
    pub(crate) fn format(&self) -> Option<Format> {
        match (self.json, self.csv, self.markdown, self.expanded) {
            (true, _, _, _) => Some(Format::Json),
            (_, true, _, _) => Some(Format::Csv),
            (_, _, true, _) => Some(Format::Markdown),
            (_, _, _, true) => Some(Format::Line),
            _ => self.format,
        }
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArguments {
    #[command(flatten)]
    pub rows: RowArguments,

    /// Write rows to FILE, which is there when it is complete
    #[arg(short = 'o', long, global = true, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// On a terminal, show all rows, all columns and whole values: through $PAGER, or else less, where they are more than
    /// the screen holds [default: the first 40 rows, as many columns as fit]
    #[arg(short = 'a', long, global = true)]
    pub all: bool,

    /// Never start a pager
    #[arg(long, global = true)]
    pub no_pager: bool,

    /// Tell where the time went
    #[arg(long, global = true)]
    pub timing: bool,

    /// Tell more: where the connection leads and as whom, and where the time went
    #[arg(short = 'v', long, global = true, conflicts_with = "quiet")]
    pub verbose: bool,

    /// Say nothing but errors and warnings beside the rows
    #[arg(short = 'q', long, global = true)]
    pub quiet: bool,

    /// When to use colours: auto, always or never
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide_default_value = true)]
    pub color: ColourChoice,
}

/// Seconds with a fraction, from a millisecond to a year.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
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
    let digits = value.strip_prefix('-').unwrap_or(value);
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) && value.parse::<i64>().is_err()
    {
        return Err(format!("`{value}` is beyond 64 bits with sign: in quotes it is a string"));
    }
    Ok((name.to_owned(), serde_json::from_str(value).unwrap_or_else(|_| Value::Text(value.to_owned()))))
}

/// `name=type`, or as in `--columns`.
fn typed(text: &str) -> Result<Column, String> {
    match text.rsplit_once('=') {
        Some((name, column_type)) => {
            Ok(Column { name: name.trim().to_owned(), column_type: column_type.parse()? })
        }
        None => text.parse().map_err(|_| format!("`{}` is not `name=type`", text.trim())),
    }
}

fn one_byte(text: &str) -> Result<u8, String> {
    match text {
        "\\t" | "tab" => Ok(b'\t'),
        _ => match text.as_bytes() {
            [byte] => Ok(*byte),
            _ => Err("expected one ASCII character, or `tab`".to_owned()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use stratalog_client::files::ColumnType;

    #[test]
    fn the_command_line_is_well_formed() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn a_parameter_is_json_or_text() {
        assert_eq!(parameter("n=1.0"), Ok(("n".into(), Value::Float(1.0))));
        assert_eq!(parameter("$s=ada=b"), Ok(("s".into(), Value::Text("ada=b".into()))));
        assert_eq!(parameter("v=[1, 2]"), Ok(("v".into(), Value::List(vec![Value::Int(1), Value::Int(2)]))));
        assert_eq!(parameter("t=\"1\""), Ok(("t".into(), Value::Text("1".into()))));
        assert!(parameter("n=123456789012345678901").unwrap_err().contains("beyond 64 bits"));
        assert!(parameter("n=-9223372036854775808").is_ok());
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
        assert_eq!(arguments.output.rows.format, Some(Format::Csv));
        let arguments = Arguments::try_parse_from(["stratalog", "-c", "-edge(1, 2)", "--kg", "a"]).unwrap();
        assert_eq!(arguments.programs, ["-edge(1, 2)"]);
    }

    #[test]
    fn columns_are_names_with_types() {
        let words = ["stratalog", "import", "city", "a.csv", "--columns", "name: string, people:int"];
        let arguments = Arguments::try_parse_from(words).unwrap();
        let Some(Command::Import(import)) = arguments.command else { panic!("not an import") };
        let columns = import.columns.unwrap();
        assert_eq!((columns[1].name.as_str(), columns[1].column_type), ("people", ColumnType::Int));
        let words = ["stratalog", "import", "city", "a.csv", "--columns", "name: words"];
        assert!(Arguments::try_parse_from(words).is_err());
    }
}
