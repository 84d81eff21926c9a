//! What is to be done, as the command line says it. Files are read, and passwords asked for, before anything is sent.

use crate::arguments::{Arguments, Command, OutputArguments};
use crate::commands::accounts;
use crate::commands::import::Import;
use crate::commands::watch::Place;
use crate::migration::Migration;
use crate::terminal;
use clap::CommandFactory;
use clap::error::ErrorKind;
use std::io::{self, Read};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use stratalog_client::files::FileFormat;

/// What needs a server.
pub(crate) enum Task {
    Programs(Vec<Program>),
    Prompt,
    Import(Import),
    Export { what: String },
    Watch { program: String, place: Place },
    Events { since: Option<u64> },
    Migrate(Migration),
    Agents { write: bool, http: Option<SocketAddr> },
}

/// A program, and where it stands.
pub(crate) struct Program {
    pub text: String,
    pub origin: Option<String>,
}

/// Reads what was asked for.
pub(crate) fn read(
    programs: Vec<String>,
    files: &[PathBuf],
    command: Option<Command>,
    output: &mut OutputArguments,
) -> Result<Task, String> {
    let plain = |text: String| Task::Programs(vec![Program { text, origin: None }]);
    if command.is_some() && (!programs.is_empty() || !files.is_empty()) {
        let problem = "`--command` or `--file` and a command cannot be given together";
        Arguments::command().error(ErrorKind::ArgumentConflict, problem).exit()
    }
    let task = match command {
        _ if !programs.is_empty() => {
            Task::Programs(programs.into_iter().map(|text| Program { text, origin: None }).collect())
        }
        _ if !files.is_empty() => from_files(files)?,
        Some(Command::Query { program }) => plain(program),
        Some(Command::Run { files }) => from_files(&files)?,
        Some(Command::User(command)) => plain(accounts::user(&command)?),
        Some(Command::Key(command)) => plain(accounts::key(&command)?),
        Some(Command::Import(import)) => Task::Import(Import::new(import, &output.rows)?),
        Some(Command::Export { what, file }) => {
            if file != Path::new("-") {
                output.output = Some(file);
            }
            let is_known = output.rows.format().is_some()
                || output.output.as_deref().is_none_or(|file| FileFormat::of(file).is_some());
            if !is_known {
                return Err("what to write is not known by the file's name: give --format".to_owned());
            }
            Task::Export { what }
        }
        Some(Command::Migrate { folder, apply, prune, check }) => {
            Task::Migrate(Migration::read(&folder, apply, prune, check)?)
        }
        Some(Command::Watch { program, since, token_file }) => {
            Task::Watch { program, place: Place::read(since, token_file)? }
        }
        Some(Command::Mcp { write, http }) => Task::Agents { write, http },
        Some(Command::Events { since }) => Task::Events { since },
        Some(Command::Repl) if !terminal::can_ask() => {
            return Err("a prompt needs a terminal; `stratalog run -` runs standard input".to_owned());
        }
        Some(Command::Repl) => Task::Prompt,
        None if terminal::can_ask() => Task::Prompt,
        None => from_files(&[PathBuf::from("-")])?,
        Some(
            Command::Check { .. }
            | Command::Fmt { .. }
            | Command::Lsp { .. }
            | Command::Completions { .. }
            | Command::Man { .. },
        ) => {
            return Err("this command needs no server".to_owned());
        }
    };
    match &task {
        Task::Programs(programs) if programs.len() > 1 && output.output.is_some() => {
            Err("-o takes the answer of one program".to_owned())
        }
        _ => Ok(task),
    }
}

fn from_files(files: &[PathBuf]) -> Result<Task, String> {
    files.iter().map(|file| from_file(file)).collect::<Result<_, _>>().map(Task::Programs)
}

fn from_file(file: &Path) -> Result<Program, String> {
    let mut text = String::new();
    let (origin, read) = if file == Path::new("-") {
        ("<stdin>".to_owned(), io::stdin().lock().read_to_string(&mut text))
    } else {
        let read = std::fs::File::open(file).and_then(|mut opened| opened.read_to_string(&mut text));
        (file.display().to_string(), read)
    };
    match read {
        Ok(_) => Ok(Program { text, origin: Some(origin) }),
        Err(error) => Err(format!("{origin}: {error}")),
    }
}
