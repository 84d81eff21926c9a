//! One program from start to end: send it, let a person stop it, write its rows.

use crate::arguments::{OutputArguments, RequestArguments};
use crate::diagnostics::Source;
use crate::exit::Exit;
use crate::interrupts::Interrupts;
use crate::notices::Notices;
use crate::output::{Destination, Expanded, Format, Opened, Pager, Preview, ROWS, RowWriter, Style};
use crate::progress::{Bar, Wait};
use crate::terminal;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use stratalog_client::arrow::error::ArrowError;
use stratalog_client::files::{FileError, FileFormat};
use stratalog_client::{Answer, Client, ClientError, Code, ExecuteOptions, Progress};
use stratalog_engine::Limits;
use stratalog_engine::commands::COMMANDS;
use stratalog_engine::syntax::ast::StatementKind;
use stratalog_engine::syntax::parse;
use tokio::time::sleep;

/// How long a program that was told to stop may take to do so.
const STOPPING: Duration = Duration::from_secs(5);
/// How long it may take where nothing is on its way to the server.
pub(crate) const LEAVING: Duration = Duration::from_millis(200);

/// How programs are run, and how their answers are written.
#[derive(Debug, Clone)]
pub(crate) struct Runner {
    pub options: ExecuteOptions,
    pub style: Style,
    /// Somebody has named the format.
    pub is_named: bool,
    pub destination: Destination,
    /// A person on a terminal gets all of an answer.
    pub all: bool,
    /// Through a pager, where it is longer than the screen.
    pub pager: bool,
    pub at_prompt: bool,
    pub timing: bool,
    pub notices: Notices,
    pub interrupts: Interrupts,
}

impl Runner {
    /// As the command line wants it.
    pub(crate) fn new(
        request: &RequestArguments,
        output: &OutputArguments,
        notices: Notices,
        interrupts: &Interrupts,
    ) -> Result<Runner, String> {
        let options = ExecuteOptions {
            params: request.parameters.iter().cloned().collect(),
            limit: request.limit,
            timeout: request.timeout,
            replace_rules: request.replace_rules,
            place: request.place,
            ..ExecuteOptions::default()
        };
        let destination = output.output.clone().map_or(Destination::Output, Destination::File);
        let of_file = output.output.as_deref().and_then(FileFormat::of).map(Format::of);
        let usual = if terminal::is_watched() { Format::Box } else { Format::Tsv };
        let format = output.rows.format().or(of_file).unwrap_or(usual);
        if format.is_binary() && destination == Destination::Output && terminal::is_watched() {
            return Err("a terminal cannot show this format: write it to a file with -o".to_owned());
        }
        let style = Style {
            format,
            header: !output.rows.no_header,
            null: output.rows.null.clone(),
            width: if destination == Destination::Output { terminal::output_width() } else { None },
            stream: destination == Destination::Output,
            // Who names a format gets that.
            expanded: if output.rows.format().is_some() { Expanded::Off } else { Expanded::Auto },
            colour: notices.colour() && terminal::is_watched(),
            preview: None,
        };
        let is_named = output.rows.format().is_some() || of_file.is_some();
        let (timing, interrupts) = (output.timing || output.verbose, interrupts.clone());
        let (all, pager, at_prompt) = (output.all, !output.no_pager, false);
        Ok(Runner {
            options,
            style,
            is_named,
            destination,
            all,
            pager,
            at_prompt,
            timing,
            notices,
            interrupts,
        })
    }

    /// Runs a program and writes what came of it. The error, if any, has been told already.
    pub(crate) async fn run(&self, client: &Client, source: Source<'_>) -> Result<(), Ended> {
        let pager = self.pager();
        let attempt = self.attempt(client, source.program, pager.as_ref());
        let mut outcome = interruptible(client, &self.interrupts, attempt).await;
        if let Some(pager) = pager
            && let Err(error) = pager.left().await
        {
            outcome = Err(Ended::Unwritten(error));
        }
        let ended = match outcome {
            Ok((header, rows)) => {
                self.notices.about(&header, rows, self.style.format, self.timing);
                return Ok(());
            }
            Err(ended) => ended,
        };
        if ended.is_enough() {
            return Ok(());
        }
        ended.tell(self.notices, source);
        Err(ended)
    }

    /// A pager, if a person on a terminal has asked for everything.
    fn pager(&self) -> Option<Pager> {
        let is_wanted = self.all && self.pager && self.destination == Destination::Output;
        (is_wanted && terminal::is_watched()).then(Pager::default)
    }

    /// How much is shown of the answer to a program. Of what commands list nothing is left out, but for the rows of a relation,
    /// nor of what a program reads.
    fn preview(&self, program: &str) -> Option<Preview> {
        let is_shown = self.destination == Destination::Output && terminal::is_watched();
        if self.all || !is_shown || !self.style.format.is_drawn() {
            return None;
        }
        let rows_of = rows_of(program)?;
        // Somebody who sets a limit sees so many rows.
        let by_server = self.options.limit.is_none() && rows_of == RowsOf::Query;
        let rows = self.options.limit.unwrap_or(ROWS);
        Some(Preview { rows, by_server, at_prompt: self.at_prompt })
    }

    /// Writes rows while they come; answers what came beside them, and how many were written.
    async fn attempt(
        &self,
        client: &Client,
        program: &str,
        pager: Option<&Pager>,
    ) -> Result<(Answer, u64), Ended> {
        let mut waiting = Wait::begin(self.notices);
        let preview = self.preview(program);
        let mut options = self.options.clone();
        let is_asked = |preview: &Preview| preview.by_server;
        options.limit = preview.filter(is_asked).map(|preview| preview.rows).or(options.limit);
        let mut batches = client.stream(program, waiting.watching(options)).await?;
        let mut header = batches.header().clone();
        let (destination, mut style) = self.place(&header);
        style.preview = preview;
        let is_drawn_last = preview.is_some_and(|preview| preview.rows <= ROWS);
        let tells_on = match destination {
            Destination::Output => is_drawn_last || terminal::output_is_file(),
            Destination::File(_) | Destination::Log(_) => false, // a file has a bar
        };
        if !tells_on {
            waiting.end();
        }
        let Opened { out, file, goes_on } = destination.open(style.format, &self.interrupts, pager)?;
        style.header &= !goes_on || style.format.is_drawn();
        let bar = match destination {
            Destination::File(path) => Bar::begin(path, self.notices),
            Destination::Output | Destination::Log(_) => Bar::none(),
        };
        let (about, schema) = (header.clone(), Arc::clone(batches.schema()));
        let mut writer = apart(move || RowWriter::begin(out, &about, &schema, style)).await?;
        let (mut rows, total) = (0, Some(header.total_count));
        while let Some(batch) = batches.next().await? {
            rows += batch.num_rows() as u64;
            waiting.tell(rows);
            writer = apart(move || writer.write(&batch).map(|()| writer)).await?;
            bar.tell(Progress { rows, committed: 0, done: rows, total, in_rows: true });
        }
        waiting.end();
        let written = apart(move || writer.finish()).await?;
        if let Some(file) = file {
            file.keep()?;
        }
        // A preview says itself what it leaves out.
        header.truncated &= written == rows && !preview.is_some_and(|preview| preview.by_server);
        Ok((header, written))
    }

    /// Where an answer goes and how it looks: a file that answers are added to gets no messages.
    fn place(&self, header: &Answer) -> (&Destination, Style) {
        match &self.destination {
            Destination::Log(_) if header.is_message() => {
                (&Destination::Output, Style { format: Format::Box, ..self.style.clone() })
            }
            // Rows alone would be the answer to another question.
            destination if !header.proofs.is_empty() && !self.is_named => {
                (destination, Style { format: Format::Box, ..self.style.clone() })
            }
            destination => (destination, self.style.clone()),
        }
    }
}

/// Where the rows of an answer come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RowsOf {
    /// A query, of which the server can be asked for the first rows.
    Query,
    /// One with a limit of its own: a smaller one would hide how many rows it has.
    LimitedQuery,
    /// A command that shows the rows of a relation.
    Command,
}

/// What a program asks; `None` where its answer is what commands and other statements have to say.
fn rows_of(program: &str) -> Option<RowsOf> {
    let (statements, _) = parse(program, &Limits::default());
    let last = statements.iter().rev().find_map(|statement| match &statement.kind {
        StatementKind::Query(query) => Some(query),
        _ => None,
    });
    if let Some(query) = last {
        return Some(if query.limit.is_some() { RowsOf::LimitedQuery } else { RowsOf::Query });
    }
    statements.iter().any(|statement| shows_rows(&statement.kind)).then_some(RowsOf::Command)
}

/// Whether it is `.rel NAME`, `.rule NAME`, or asks of a query's rows.
fn shows_rows(statement: &StatementKind) -> bool {
    let StatementKind::Command(command) = statement else { return false };
    let is = |words: &str, word: &str| words.split('|').any(|known| known.eq_ignore_ascii_case(word));
    if command.words.first().is_some_and(|first| is("why|what_if", &first.text)) {
        return true;
    }
    let [first, second] = command.words.as_slice() else { return false };
    let is_another = |words: &[&str]| match words {
        [one, other, ..] => is(one, &first.text) && is(other, &second.text),
        _ => false,
    };
    is("rel|relation|relations|rule", &first.text)
        && !COMMANDS.iter().flat_map(|family| family.entries).any(|entry| is_another(entry.words))
}

/// Writes on a thread of its own: whoever waits for it can be interrupted, even where nobody reads what is written.
pub(crate) async fn apart<T: Send + 'static>(
    write: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    tokio::task::spawn_blocking(write).await.map_err(io::Error::other)?
}

/// Does something with a server until a person stops it: the first Ctrl-C asks the server to stop, the second stops
/// waiting for it.
pub(crate) async fn interruptible<T>(
    client: &Client,
    interrupts: &Interrupts,
    work: impl Future<Output = Result<T, Ended>>,
) -> Result<T, Ended> {
    if interrupts.is_requested() {
        return Err(Ended::Interrupted { uncertain: false }); // nothing has begun
    }
    let mut work = std::pin::pin!(work);
    tokio::select! {
        done = &mut work => return done,
        () = interrupts.requested() => {}
    }
    let stopped = async {
        loop {
            // What is on its way is stopped, and the work ends by that. Otherwise it gets a moment to take what it has.
            let is_idle = !client.is_waiting();
            let stop = async {
                if !is_idle {
                    let _ = client.cancel_running().await; // how that went is told by how the work ends
                }
                sleep(LEAVING).await;
            };
            tokio::select! {
                done = &mut work => return done,
                () = stop => {}
            }
            if is_idle && !client.is_waiting() {
                return Err(Ended::Interrupted { uncertain: false });
            }
        }
    };
    let unconfirmed = || Err(Ended::Interrupted { uncertain: client.is_writing() });
    tokio::select! {
        done = stopped => match done {
            Err(Ended::Failed(error)) if error.code() == Some(Code::Cancelled) => {
                Err(Ended::Interrupted { uncertain: false })
            }
            Err(Ended::Unwritten(_)) => Err(Ended::Interrupted { uncertain: false }),
            other => other, // it was quicker
        },
        () = interrupts.again() => unconfirmed(),
        () = sleep(STOPPING) => unconfirmed(),
    }
}

/// Why the rows of a program were not written.
#[derive(Debug)]
pub(crate) enum Ended {
    /// A person stopped it.
    Interrupted {
        /// A write was on its way, and nobody knows what became of it.
        uncertain: bool,
    },
    /// The server, the connection or a file did.
    Failed(ClientError),
    /// There are rows, but no room for them.
    Unwritten(io::Error),
}

impl Ended {
    /// Says so.
    pub(crate) fn tell(&self, notices: Notices, source: Source<'_>) {
        match self {
            Ended::Failed(error) => notices.refusal(error, source),
            Ended::Interrupted { uncertain } => notices.interrupted(*uncertain),
            Ended::Unwritten(error) => notices.error(&format!("cannot write the rows: {error}")),
        }
    }

    /// Whether a reader has seen enough, which is no error.
    pub(crate) fn is_enough(&self) -> bool {
        matches!(self, Ended::Unwritten(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl From<ClientError> for Ended {
    fn from(error: ClientError) -> Ended {
        Ended::Failed(error)
    }
}

impl From<FileError> for Ended {
    fn from(error: FileError) -> Ended {
        Ended::Failed(error.into())
    }
}

impl From<io::Error> for Ended {
    fn from(error: io::Error) -> Ended {
        Ended::Unwritten(error)
    }
}

impl From<ArrowError> for Ended {
    fn from(error: ArrowError) -> Ended {
        Ended::Unwritten(io::Error::other(error))
    }
}

impl From<&Ended> for Exit {
    fn from(ended: &Ended) -> Exit {
        match ended {
            Ended::Interrupted { .. } => Exit::Interrupted,
            Ended::Failed(error) => error.into(),
            Ended::Unwritten(_) => Exit::Refused,
        }
    }
}

impl From<Result<(), Ended>> for Exit {
    fn from(outcome: Result<(), Ended>) -> Exit {
        outcome.map_or_else(|ended| Exit::from(&ended), |()| Exit::Done)
    }
}
