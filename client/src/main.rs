//! The command line of Stratalog: decides what to run, who asks, and how the run ends.

mod arguments;
mod check;
mod diagnostics;
mod exit;
mod notices;
mod output;
mod repl;
mod script;
mod terminal;
mod watch;

use arguments::{Arguments, Command, SystemSecrets};
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use diagnostics::Source;
use exit::Exit;
use notices::Notices;
use repl::Repl;
use script::Runner;
use std::io::{self, Read};
use std::path::Path;
use std::process::ExitCode;
use stratalog_client::{Address, Client};

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let notices = Notices::new();
    let exit = run(arguments, notices).unwrap_or_else(|(exit, message)| {
        notices.error(&message);
        exit
    });
    exit.into()
}

/// What is to be done.
enum Task {
    Program { text: String, origin: Option<String> },
    Prompt,
    Events { since: Option<u64> },
}

fn run(arguments: Arguments, notices: Notices) -> Result<Exit, (Exit, String)> {
    let usage = |problem: String| (Exit::Usage, problem);
    let Arguments { program, command, connection, request, output } = arguments;
    if let (None, Some(Command::Check { files })) = (&program, &command) {
        return check::run(files, output.format, notices).map_err(usage);
    }
    let task = task(program, command).map_err(usage)?;
    let mut address = match connection.url.trim() {
        "" => Address::default(), // a variable that is set to nothing
        url => url.parse().map_err(|error| usage(format!("--url: {error}")))?,
    };
    if let Some(file) = &connection.ca_file {
        address = address.authorities(file);
    }
    if let Some(graph) = &connection.kg {
        address = address.graph(graph);
    }
    let credentials = connection.credentials(&SystemSecrets).map_err(usage)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(|error| (Exit::Connection, format!("cannot start: {error}")))?;
    if let Task::Events { since } = task {
        return Ok(runtime.block_on(watch::run(&address, credentials, since, notices)));
    }
    let client = match runtime.block_on(Client::connect_to(&address, credentials.clone())) {
        Ok(client) => client,
        Err(error) => {
            notices.refusal(&error, Source::NONE);
            return Ok(Exit::from(&error));
        }
    };
    let runner = Runner::new(&request, &output, notices);
    match task {
        Task::Events { .. } => Ok(Exit::Done), // done above, without a session
        Task::Prompt => Ok(Repl::new(&runtime, address, credentials, client, runner).run()),
        Task::Program { text, origin } => runtime.block_on(async {
            let source = Source { program: &text, origin: origin.as_deref() };
            let exit = match runner.run(&client, source).await {
                Ok(_) => Exit::Done,
                Err(ended) => Exit::from(&ended),
            };
            client.close().await;
            Ok(exit)
        }),
    }
}

/// Reads the program that was asked for. Files are read before anything is sent or asked.
fn task(program: Option<String>, command: Option<Command>) -> Result<Task, String> {
    match (program, command) {
        (Some(_), Some(_)) => {
            let problem = "`--command` and a command cannot be given together";
            Arguments::command().error(ErrorKind::ArgumentConflict, problem).exit()
        }
        (Some(text), None) | (None, Some(Command::Query { program: text })) => {
            Ok(Task::Program { text, origin: None })
        }
        (None, Some(Command::Run { file })) if file == Path::new("-") => standard_input(),
        (None, Some(Command::Run { file })) => {
            let origin = file.display().to_string();
            let text = std::fs::read_to_string(&file).map_err(|error| format!("{origin}: {error}"))?;
            Ok(Task::Program { text, origin: Some(origin) })
        }
        (None, Some(Command::Check { .. })) => Err("`check` needs no server".to_owned()),
        (None, Some(Command::Events { since })) => Ok(Task::Events { since }),
        (None, Some(Command::Repl)) if !terminal::can_ask() => {
            Err("a prompt needs a terminal; `stratalog run -` runs standard input".to_owned())
        }
        (None, Some(Command::Repl)) => Ok(Task::Prompt),
        (None, None) if terminal::can_ask() => Ok(Task::Prompt),
        (None, None) => standard_input(),
    }
}

fn standard_input() -> Result<Task, String> {
    let mut text = String::new();
    io::stdin().lock().read_to_string(&mut text).map_err(|error| format!("standard input: {error}"))?;
    Ok(Task::Program { text, origin: Some("<stdin>".to_owned()) })
}
