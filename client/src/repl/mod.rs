//! The prompt: read a program, run it, show what came of it, until the person leaves.
//!
//! Reading a line blocks, and talking to the server must go on meanwhile (it wants its pings answered), so the prompt
//! has the main thread to itself and hands each program to the runtime.

mod commands;
mod continuation;
mod history;

use crate::diagnostics::Source;
use crate::exit::Exit;
use crate::notices::Notices;
use crate::script::{Ended, Runner};
use crate::terminal;
use commands::{Local, read_command};
use reedline::{Prompt, PromptEditMode, PromptHistorySearch, Reedline, Signal};
use std::borrow::Cow;
use stratalog_client::{Address, Client, ClientError, Credentials};
use tokio::runtime::Runtime;

/// An open prompt.
pub(crate) struct Repl<'a> {
    runtime: &'a Runtime,
    address: Address,
    credentials: Credentials,
    /// `None` after the connection was lost and could not be made again.
    client: Option<Client>,
    runner: Runner,
    prompt: GraphPrompt,
}

impl<'a> Repl<'a> {
    /// A prompt on a session that is open.
    pub(crate) fn new(
        runtime: &'a Runtime,
        address: Address,
        credentials: Credentials,
        client: Client,
        runner: Runner,
    ) -> Repl<'a> {
        let prompt = GraphPrompt { graph: client.session().knowledge_graph.clone() };
        Repl { runtime, address, credentials, client: Some(client), runner, prompt }
    }

    /// Runs until Ctrl-D or `.quit`.
    pub(crate) fn run(mut self) -> Exit {
        let notices = self.runner.notices;
        self.greet(notices);
        let (history, problem) = history::open();
        if let Some(problem) = problem {
            notices.say(&format!("note: lines are not kept for the next time: {problem}"));
        }
        let mut editor = Reedline::create()
            .with_history(history)
            .with_validator(Box::new(continuation::Continuation))
            .with_ansi_colors(terminal::colour())
            .use_bracketed_paste(true);
        let exit = loop {
            match editor.read_line(&self.prompt) {
                Ok(Signal::Success(line)) => {
                    if self.take(&line).is_break() {
                        break Exit::Done;
                    }
                }
                Ok(Signal::CtrlD) => break Exit::Done,
                Ok(_) => {} // Ctrl-C clears the line
                Err(error) => {
                    notices.error(&format!("cannot read from the terminal: {error}"));
                    break Exit::Usage;
                }
            }
        };
        if let Some(client) = self.client {
            self.runtime.block_on(client.close());
        }
        exit
    }

    fn greet(&self, notices: Notices) {
        let Some(session) = self.client.as_ref().map(Client::session) else { return };
        let (version, role) = (&session.version, &session.role);
        notices.say(&format!(
            "Stratalog {version} at {}, as {role}. `.help` helps, Ctrl-D leaves.",
            self.address
        ));
    }

    /// Does what one line asks for.
    fn take(&mut self, line: &str) -> std::ops::ControlFlow<()> {
        if line.trim().is_empty() {
            return std::ops::ControlFlow::Continue(());
        }
        let notices = self.runner.notices;
        match read_command(line) {
            None => self.execute(line, None),
            Some(Ok(Local::Quit)) => return std::ops::ControlFlow::Break(()),
            Some(Ok(Local::Help)) => notices.say(commands::HELP),
            Some(Ok(Local::Timing(on))) => self.runner.timing = on,
            Some(Ok(Local::Format(format))) => self.runner.style.format = format,
            Some(Ok(Local::Load(file))) => match std::fs::read_to_string(&file) {
                Ok(program) => self.execute(&program, Some(&file)),
                Err(error) => notices.error(&format!("{file}: {error}")),
            },
            Some(Err(problem)) => notices.error(&problem),
        }
        std::ops::ControlFlow::Continue(())
    }

    fn execute(&mut self, program: &str, origin: Option<&str>) {
        let notices = self.runner.notices;
        if self.client.is_none() {
            self.reconnect();
        }
        let Some(client) = &self.client else { return };
        self.runner.style.width = terminal::output_width(); // windows change their size
        match self.runtime.block_on(self.runner.run(client, Source { program, origin })) {
            Ok(answer) => {
                if let Some(graph) = answer.switched_graph {
                    self.prompt.graph = graph;
                }
            }
            Err(Ended::Failed(error)) if error.is_disconnect() => {
                self.client = None;
                if self.reconnect() {
                    notices.say(
                        "note: connected again; facts and rules of the session are gone, and the last \
                                 program was not sent again",
                    );
                }
            }
            Err(Ended::Failed(_) | Ended::Interrupted | Ended::Unwritten) => {}
        }
    }

    /// Opens a new session on the graph of the old one.
    fn reconnect(&mut self) -> bool {
        let address = self.address.clone().graph(&self.prompt.graph);
        let connected: Result<Client, ClientError> =
            self.runtime.block_on(Client::connect_to(&address, self.credentials.clone()));
        match connected {
            Ok(client) => {
                self.prompt.graph.clone_from(&client.session().knowledge_graph);
                self.client = Some(client);
                true
            }
            Err(error) => {
                self.runner.notices.refusal(&error, Source::NONE);
                false
            }
        }
    }
}

/// `graph> `, and dots before the further lines of a program.
struct GraphPrompt {
    graph: String,
}

impl Prompt for GraphPrompt {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        crate::output::printable(&self.graph)
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_indicator(&self, _mode: PromptEditMode) -> Cow<'_, str> {
        Cow::Borrowed("> ")
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        Cow::Borrowed("... ")
    }

    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        Cow::Owned(format!(" search `{}`> ", search.term))
    }
}
