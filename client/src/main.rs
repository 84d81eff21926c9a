//! The command line of Stratalog: decides what to run, who asks, and how the run ends.

mod arguments;
mod commands;
mod database;
mod diagnostics;
mod exit;
mod interrupts;
mod lsp;
mod mcp;
mod migration;
mod names;
mod notices;
mod opened;
mod output;
mod passwords;
mod profile;
mod progress;
mod repl;
mod script;
mod settings;
mod task;
mod terminal;

use arguments::{Arguments, Command};
use commands::watch::Watch;
use commands::{check, events, export, fmt, manual};
use diagnostics::Source;
use exit::Exit;
use interrupts::Interrupts;
use notices::Notices;
use opened::Opened;
use output::Destination;
use repl::Repl;
use script::{Ended, Runner};
use settings::{Settings, System};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use stratalog_client::files::FileError;
use stratalog_client::{Address, Client};
use stratalog_server::EmbeddedError;
use task::{Program, Task};
use terminal::Modes;
use tokio::runtime::Runtime;
use tokio::time::timeout;

/// How long a terminal may take to show again what is typed.
const LEAVING: Duration = Duration::from_millis(200);

fn main() -> ExitCode {
    let arguments = Arguments::read();
    let notices = Notices::new(arguments.output.color, arguments.output.quiet);
    let exit = run(arguments, notices).unwrap_or_else(|problem| {
        notices.error(&problem);
        Exit::Usage
    });
    exit.into()
}

/// The error says what is wrong with the command line, or with what it names.
fn run(arguments: Arguments, notices: Notices) -> Result<Exit, String> {
    match &arguments.command {
        _ if !arguments.programs.is_empty() || !arguments.files.is_empty() => {}
        Some(Command::Check { files }) => {
            return check::run(files, &arguments.connection, arguments.output.rows.format(), notices);
        }
        Some(Command::Fmt { files, check, width }) => return fmt::run(files, *check, *width, notices),
        Some(Command::Lsp { .. }) => return lsp::run(&arguments.connection).map(|()| Exit::Done),
        Some(Command::Completions { shell }) => {
            return Ok(Exit::of_writing(manual::completions(*shell), notices));
        }
        Some(Command::Man { dir }) => return Ok(Exit::of_writing(manual::man(dir.as_deref()), notices)),
        _ => {}
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.map_err(|error| format!("cannot start: {error}"))?;
    let exit = with_database(&runtime, arguments, notices);
    // A thread that reads standard input, or writes where nobody reads, may never end.
    runtime.shutdown_background();
    exit
}

/// Opens what is to be opened, and closes it in the end.
fn with_database(runtime: &Runtime, arguments: Arguments, notices: Notices) -> Result<Exit, String> {
    let Some(folder) = arguments.connection.open.clone() else {
        return with_server(runtime, arguments, notices, |address| address);
    };
    let told = |error: &EmbeddedError| {
        notices.error(&error.to_string());
        Exit::Connection
    };
    let opened = match Opened::open(&folder) {
        Ok(opened) => opened,
        Err(error) => return Ok(told(&error)),
    };
    let exit = with_server(runtime, arguments, notices, |address| opened.reached(address, &folder))?;
    Ok(opened.close().map_or_else(|error| told(&error), |()| exit))
}

/// Does what is asked on the server that is found, which may be `reached` in another way.
fn with_server(
    runtime: &Runtime,
    arguments: Arguments,
    notices: Notices,
    reached: impl FnOnce(Address) -> Address,
) -> Result<Exit, String> {
    let interrupts = Interrupts::listen(runtime).map_err(|error| format!("cannot start: {error}"))?;
    let Arguments { programs, files, command, connection, request, mut output } = arguments;
    let read = move || -> Result<_, String> {
        let task = task::read(programs, &files, command, &mut output)?;
        Ok((task, settings::find(&connection, &System)?, output))
    };
    let Some(read) = runtime.block_on(patiently(read, &interrupts)) else { return Ok(Exit::Interrupted) };
    let (task, mut settings, output) = read?;
    settings.address = reached(settings.address);
    let mut runner = Runner::new(&request, &output, notices, &interrupts)?;
    match &task {
        Task::Events { since } => {
            let Settings { address, credentials } = settings;
            return Ok(runtime.block_on(events::run(&address, credentials, *since, notices, &interrupts)));
        }
        Task::Agents { write, http } => {
            let terms = mcp::Terms {
                write: *write,
                rows: request.limit.unwrap_or(mcp::ROWS),
                timeout: request.timeout.unwrap_or(mcp::TIMEOUT),
            };
            return Ok(runtime.block_on(mcp::run(&settings, terms, *http, notices, &interrupts)));
        }
        Task::Watch { program, place } => {
            if let Destination::File(path) = runner.destination {
                // Who goes on adds to what there is.
                let goes_on = place.token.is_some();
                let mut file = std::fs::OpenOptions::new();
                if let Err(error) =
                    file.create(true).append(goes_on).write(true).truncate(!goes_on).open(&path)
                {
                    let error = FileError::new(&path.display().to_string(), error).into();
                    notices.refusal(&error, Source::NONE);
                    return Ok(Exit::from(&error));
                }
                runner.destination = Destination::Log(path); // it grows as long as somebody watches
            }
            return Ok(
                runtime.block_on(Watch { program, runner: &runner, place: place.clone() }.run(&settings))
            );
        }
        Task::Programs(_) | Task::Import(_) | Task::Export { .. } | Task::Migrate(_) | Task::Prompt => {}
    }
    let connected = runtime.block_on(async {
        tokio::select! {
            client = Client::connect_to(&settings.address, settings.credentials.clone()) => Some(client),
            () = interrupts.requested() => None,
        }
    });
    let client = match connected {
        Some(Ok(client)) => client,
        Some(Err(error)) => {
            notices.refusal(&error, Source::NONE);
            return Ok(Exit::from(&error));
        }
        None => return Ok(Exit::Interrupted),
    };
    if output.verbose {
        let (session, address) = (client.session(), &settings.address);
        notices.note(&format!(
            "connected to {address} as {}: graph {}, session {}, server {}",
            session.role, session.knowledge_graph, session.session_id, session.version
        ));
    }
    Ok(match task {
        Task::Prompt => Repl::new(runtime, settings, client, runner).run(),
        task => runtime.block_on(async {
            let exit = carry_out(&task, &client, &runner, request.keep_going).await;
            let interrupts = interrupts.anew();
            tokio::select! {
                () = client.close() => exit,
                () = interrupts.requested() => Exit::Interrupted,
            }
        }),
    })
}

/// Does what may wait for a person or for standard input; nothing where Ctrl-C ends it.
async fn patiently<T: Send + 'static>(
    read: impl FnOnce() -> T + Send + 'static,
    interrupts: &Interrupts,
) -> Option<T> {
    let modes = Modes::remember();
    let mut reading = tokio::task::spawn_blocking(read);
    tokio::select! {
        read = &mut reading => return read.ok(),
        () = interrupts.requested() => {}
    }
    let _ = timeout(LEAVING, reading).await; // who asks for a password leaves by itself
    modes.restore();
    None
}

/// Does what needs no prompt. What goes wrong is told.
async fn carry_out(task: &Task, client: &Client, runner: &Runner, keep_going: bool) -> Exit {
    match task {
        Task::Programs(programs) => {
            let run = async |program: &Program| {
                let source = Source { program: &program.text, origin: program.origin.as_deref() };
                runner.run(client, source).await.into()
            };
            each(programs, keep_going, run).await
        }
        Task::Import(import) => {
            let run = async |file: &PathBuf| {
                told(import.run(client, file, runner.notices, &runner.interrupts).await, runner.notices)
            };
            each(&import.files, keep_going, run).await
        }
        Task::Export { what } => match export::program(client, what).await {
            Ok(program) => runner.run(client, Source { program: &program, origin: None }).await.into(),
            Err(error) => {
                let ended = Ended::Failed(error);
                ended.tell(runner.notices, Source { program: what, origin: None });
                Exit::from(&ended)
            }
        },
        Task::Migrate(migration) => migration.run(client, runner.notices).await,
        Task::Prompt | Task::Watch { .. } | Task::Events { .. } | Task::Agents { .. } => Exit::Done, // are on their own
    }
}

/// Does one thing after the other; after one that fails, only where that is wanted. The exit is that of the first failure,
/// or of what leaves the rest no chance.
async fn each<T>(things: &[T], keep_going: bool, run: impl AsyncFn(&T) -> Exit) -> Exit {
    let mut exit = Exit::Done;
    for thing in things {
        let ended = run(thing).await;
        if exit == Exit::Done || ended.is_final() {
            exit = ended;
        }
        if ended.is_final() || ended != Exit::Done && !keep_going {
            break;
        }
    }
    exit
}

fn told(done: Result<(), Ended>, notices: Notices) -> Exit {
    if let Err(ended) = &done {
        ended.tell(notices, Source::NONE);
    }
    done.into()
}
