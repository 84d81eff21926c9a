//! The prompt: read a program, run it, show what came of it, until the person leaves.
//!
//! Reading a line blocks, and talking to the server must go on meanwhile (it wants its pings answered), so the prompt
//! has the main thread to itself and hands each program to the runtime.

mod commands;
mod completer;
mod editor;
mod highlighter;
mod history;

mod validator;
mod words;

use crate::commands::export;
use crate::commands::import::Import;
use crate::commands::watch::{Place, Watch};
use crate::diagnostics::Source;
use crate::exit::Exit;
use crate::names::Names;
use crate::output::{Destination, Expanded, Format};
use crate::script::Runner;
use crate::settings::Settings;
use crate::terminal;
use commands::{Local, read_command};
use reedline::{
    ColumnarMenu, Emacs, KeyCode, KeyModifiers, MenuBuilder, Prompt, PromptEditMode, PromptHistorySearch,
    Reedline, ReedlineEvent, ReedlineMenu, Signal, default_emacs_keybindings,
};
use std::borrow::Cow;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use stratalog_client::files::{FileFormat, NewFile};
use stratalog_client::{Client, ClientError};
use tokio::runtime::Runtime;

/// An open prompt.
pub(crate) struct Repl<'a> {
    runtime: &'a Runtime,
    settings: Settings,
    client: Arc<Client>,
    runner: Runner,
    /// The width that tables are fitted into; `None` is that of the terminal.
    width: Option<u16>,
    /// The format that comes back when rows are shown again.
    shown: Option<Format>,
    names: Names,
    /// What asking for names found out: the session is gone, or on another graph.
    moved: Arc<Mutex<Option<ClientError>>>,
    /// The program that was run last, for `.edit`.
    last: String,
}

impl<'a> Repl<'a> {
    /// A prompt on a session that is open.
    pub(crate) fn new(runtime: &'a Runtime, settings: Settings, client: Client, runner: Runner) -> Repl<'a> {
        let runner = Runner { at_prompt: true, ..runner };
        let (client, names) = (Arc::new(client), Names::default());
        let (moved, last) = (Arc::default(), String::new());
        Repl { runtime, settings, client, runner, width: None, shown: None, names, moved, last }
    }

    /// Runs until Ctrl-D or `.quit`.
    pub(crate) fn run(mut self) -> Exit {
        let notices = self.runner.notices;
        self.greet();
        self.refresh_names();
        let (history, problem) = history::open();
        if let Some(problem) = problem {
            notices.note(&format!("note: lines are not kept for the next time: {problem}"));
        }
        let mut editor = Reedline::create()
            .with_history(history)
            .with_validator(Box::new(validator::Continuation))
            .with_completer(Box::new(completer::Completion(self.names.clone())))
            .with_menu(ReedlineMenu::EngineCompleter(Box::new(ColumnarMenu::default().with_name(MENU))))
            .with_edit_mode(Box::new(Emacs::new(keys())))
            .with_quick_completions(true)
            .with_partial_completions(true)
            .with_ansi_colors(notices.colour())
            .use_bracketed_paste(true);
        if notices.colour() {
            editor = editor.with_highlighter(Box::new(highlighter::Colours));
        }
        let exit = loop {
            match editor.read_line(&GraphPrompt { graph: self.client.graph() }) {
                Ok(Signal::Success(line)) => {
                    if self.take(&line, &editor).is_break() {
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
        if let Ok(client) = Arc::try_unwrap(self.client) {
            self.runtime.block_on(client.close());
        }
        exit
    }

    fn greet(&self) {
        let session = self.client.session();
        let (version, role, address) = (&session.version, &session.role, &self.settings.address);
        self.runner.notices.note(&format!(
            "Stratalog {version} at {address}, as {role}. `.help` helps, Tab completes, Ctrl-D leaves."
        ));
    }

    /// Does what one line asks for.
    fn take(&mut self, line: &str, editor: &Reedline) -> ControlFlow<()> {
        if line.trim().is_empty() {
            return ControlFlow::Continue(());
        }
        // Typed under a prompt that did not know better, so it is not done.
        let moved = self.moved.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(moved) = moved {
            self.runner.notices.refusal(&moved, Source::NONE);
            return ControlFlow::Continue(());
        }
        self.runner.interrupts = self.runner.interrupts.anew();
        match read_command(line) {
            None => self.execute(line, None),
            Some(Ok(Local::Quit)) => return ControlFlow::Break(()),
            Some(Ok(Local::History(part))) => self.show_history(editor, part.as_deref()),
            Some(Ok(local)) => {
                if let Err(problem) = self.carry_out(local) {
                    self.runner.notices.error(&problem);
                }
            }
            Some(Err(problem)) => self.runner.notices.error(&problem),
        }
        ControlFlow::Continue(())
    }

    /// Does what a command of the prompt asks for; the error is for the person.
    fn carry_out(&mut self, local: Local) -> Result<(), String> {
        let runner = &mut self.runner;
        match local {
            Local::Quit | Local::History(_) => {} // need the loop's editor
            Local::Help => {
                self.execute(".help", None);
                self.runner.notices.say(&commands::help());
            }
            Local::Timing(on) => runner.timing = on,
            Local::Mode(format) => {
                if format.is_binary() && runner.destination == Destination::Output {
                    return Err("a terminal cannot show this format: `.output FILE` first".to_owned());
                }
                runner.style.format = format;
            }
            Local::Output(None) => {
                runner.destination = Destination::Output;
                if let Some(format) = self.shown.take() {
                    runner.style.format = format;
                }
            }
            Local::Output(Some(file)) => self.output(file)?,
            Local::About(text) => runner.notices.say(&text),
            Local::Width(width) => self.width = width,
            Local::Null(text) => runner.style.null = text,
            Local::Headers(on) => runner.style.header = on,
            Local::All(on) => runner.all = on,
            Local::Pager(on) => runner.pager = on,
            Local::Expanded(expanded) => {
                let other = match runner.style.expanded {
                    Expanded::On => Expanded::Auto,
                    Expanded::Auto | Expanded::Off => Expanded::On,
                };
                runner.style.expanded = expanded.unwrap_or(other);
            }
            Local::Limit(rows) => runner.options.limit = rows,
            Local::Timeout(time) => runner.options.timeout = time,
            Local::Run(file) => {
                let name = file.display().to_string();
                let program = std::fs::read_to_string(&file).map_err(|error| format!("{name}: {error}"))?;
                self.execute(&program, Some(&name));
            }
            Local::Server(command) => self.execute(&command, None),
            Local::Cancel(None) => {
                return Err("nothing runs here; Ctrl-C stops what does, `.query list` shows what others run"
                    .to_owned());
            }
            Local::Cancel(Some(id)) => self.execute(&format!(".query kill {id}"), None),
            Local::Edit(file) => {
                let program = editor::edit(file.as_deref(), &self.last)?;
                self.runner.interrupts = self.runner.interrupts.anew(); // those before were the editor's
                if !program.trim().is_empty() {
                    let origin = file.map(|file| file.display().to_string());
                    self.execute(&program, origin.as_deref());
                }
            }
            Local::Import(import) => self.import(&import?),
            Local::Export { what, file } => self.export(&what, file)?,
            Local::Watch(program) => {
                runner.style.width = self.width.or_else(terminal::output_width);
                let mut settings = self.settings.clone();
                settings.address = settings.address.graph(&self.client.graph());
                let watch = Watch { program: &program, runner, place: Place::default() };
                self.runtime.block_on(watch.run(&settings));
            }
        }
        Ok(())
    }

    fn execute(&mut self, program: &str, origin: Option<&str>) {
        self.runner.style.width = match self.runner.destination {
            Destination::Output => self.width.or_else(terminal::output_width), // windows change their size
            Destination::File(_) | Destination::Log(_) => self.width,
        };
        if origin.is_none() && !program.starts_with('.') {
            program.clone_into(&mut self.last);
        }
        // Failures are told where they happen; the client connects again with the next program.
        let _ = self.runtime.block_on(self.runner.run(&self.client, Source { program, origin }));
        self.refresh_names();
    }

    /// Adds rows to a file from now on, in the format of its name or else as they are shown.
    fn output(&mut self, file: PathBuf) -> Result<(), String> {
        // What cannot be written to is told now, and not when there are rows for it. Nothing is left behind; pipes wait.
        if std::fs::metadata(&file).map_or(true, |found| found.is_file() || found.is_dir()) {
            NewFile::create(&file).map_err(|error| error.to_string())?;
        }
        let style = &mut self.runner.style;
        self.shown.get_or_insert(style.format);
        if let Some(format) = FileFormat::of(&file) {
            style.format = Format::of(format);
        }
        style.stream = false;
        self.runner.destination = Destination::Log(file);
        Ok(())
    }

    /// The first file that fails ends it.
    fn import(&mut self, import: &Import) {
        for file in &import.files {
            let Runner { notices, interrupts, .. } = &self.runner;
            let done = self.runtime.block_on(import.run(&self.client, file, *notices, interrupts));
            if let Err(ended) = done {
                ended.tell(*notices, Source::NONE);
                break;
            }
        }
        self.refresh_names();
    }

    fn export(&mut self, what: &str, file: PathBuf) -> Result<(), String> {
        let format = FileFormat::of(&file)
            .ok_or_else(|| format!("{}: what to write is not known by the file's name", file.display()))?;
        let mut runner = self.runner.clone();
        runner.style.format = Format::of(format);
        runner.style.stream = false;
        runner.destination = Destination::File(file);
        self.runtime.block_on(async {
            match export::program(&self.client, what).await {
                // What goes wrong then is told where it happens.
                Ok(program) => {
                    let _ = runner.run(&self.client, Source { program: &program, origin: None }).await;
                }
                Err(error) => runner.notices.refusal(&error, Source { program: what, origin: None }),
            }
        });
        self.refresh_names();
        Ok(())
    }

    fn show_history(&self, editor: &Reedline, part: Option<&str>) {
        for line in history::lines(editor.history(), part) {
            self.runner.notices.say(&crate::output::printable(&line));
        }
    }

    /// Finds out in the background what can be completed.
    fn refresh_names(&self) {
        let (names, client) = (self.names.clone(), Arc::clone(&self.client));
        let moved = Arc::clone(&self.moved);
        self.runtime.spawn(async move {
            let done = names.refresh(&client).await;
            if let Err(error @ (ClientError::SessionLost | ClientError::GraphChanged { .. })) = done {
                *moved.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            }
        });
    }
}

/// The name of the menu that Tab opens.
const MENU: &str = "names";

/// The keys of Emacs, as in a shell, and Tab.
fn keys() -> reedline::Keybindings {
    let mut keys = default_emacs_keybindings();
    let complete =
        ReedlineEvent::UntilFound(vec![ReedlineEvent::Menu(MENU.to_owned()), ReedlineEvent::MenuNext]);
    keys.add_binding(KeyModifiers::NONE, KeyCode::Tab, complete);
    keys
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
