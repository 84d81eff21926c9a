//! One program from start to end: send it, let a person stop it, write its rows.

use crate::arguments::{OutputArguments, RequestArguments};
use crate::diagnostics::Source;
use crate::exit::Exit;
use crate::notices::Notices;
use crate::output::{self, Format, Style};
use crate::terminal;
use std::io::{self, BufWriter, Write};
use std::time::Duration;
use stratalog_client::{Answer, Client, ClientError, Code, ExecuteOptions};
use tokio::time::sleep;

/// How long a program that was told to stop may take to do so.
const STOPPING: Duration = Duration::from_secs(5);

/// How programs are run, and how their answers are written.
#[derive(Debug, Clone)]
pub(crate) struct Runner {
    pub options: ExecuteOptions,
    pub style: Style,
    pub timing: bool,
    pub notices: Notices,
}

impl Runner {
    /// As the command line wants it.
    pub(crate) fn new(request: &RequestArguments, output: &OutputArguments, notices: Notices) -> Runner {
        let options = ExecuteOptions {
            params: request.parameters.iter().cloned().collect(),
            limit: request.limit,
            timeout: request.timeout,
            ..ExecuteOptions::default()
        };
        let usual = if terminal::is_watched() { Format::Table } else { Format::Tsv };
        let style = Style {
            format: output.format.unwrap_or(usual),
            header: !output.no_header,
            null: output.null.clone(),
            width: terminal::output_width(),
        };
        Runner { options, style, timing: output.timing, notices }
    }

    /// Runs a program and writes what came of it. The error, if any, has been told already.
    pub(crate) async fn run(&self, client: &Client, source: Source<'_>) -> Result<Answer, Ended> {
        let answer = match self.execute(client, source.program).await {
            Ok(answer) => answer,
            Err(ended) => {
                match &ended {
                    Ended::Failed(error) => self.notices.refusal(error, source),
                    Ended::Interrupted | Ended::Unwritten => self.notices.interrupted(),
                }
                return Err(ended);
            }
        };
        match self.write(&answer) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                self.notices.error(&format!("cannot write the rows: {error}"));
                return Err(Ended::Unwritten);
            }
            Ok(()) | Err(_) => {} // a closed pipe is a reader who has seen enough
        }
        self.notices.about(&answer, self.style.format, self.timing);
        Ok(answer)
    }

    fn write(&self, answer: &Answer) -> io::Result<()> {
        let mut out = BufWriter::new(io::stdout().lock());
        output::write_answer(&mut out, answer, &self.style)?;
        out.flush()
    }

    /// The first Ctrl-C asks the server to stop the program, the second stops waiting for it.
    async fn execute(&self, client: &Client, program: &str) -> Result<Answer, Ended> {
        let running = client.start(program, self.options.clone()).await?;
        let id = running.id();
        let mut answer = std::pin::pin!(running.answer());
        tokio::select! {
            answer = &mut answer => return Ok(answer?),
            Ok(()) = tokio::signal::ctrl_c() => {}
        }
        let stopped = async {
            let _ = client.cancel(id).await; // the answer tells how it went
            answer.await
        };
        tokio::select! {
            answer = stopped => match answer {
                Err(error) if error.code() == Some(Code::Cancelled) => Err(Ended::Interrupted),
                other => Ok(other?), // it was quicker
            },
            Ok(()) = tokio::signal::ctrl_c() => Err(Ended::Interrupted),
            () = sleep(STOPPING) => Err(Ended::Interrupted),
        }
    }
}

/// Why the rows of a program were not written.
#[derive(Debug)]
pub(crate) enum Ended {
    /// A person stopped it.
    Interrupted,
    /// The server or the connection did.
    Failed(ClientError),
    /// There are rows, but no room for them.
    Unwritten,
}

impl From<ClientError> for Ended {
    fn from(error: ClientError) -> Ended {
        Ended::Failed(error)
    }
}

impl From<&Ended> for Exit {
    fn from(ended: &Ended) -> Exit {
        match ended {
            Ended::Interrupted => Exit::Interrupted,
            Ended::Failed(error) => error.into(),
            Ended::Unwritten => Exit::Refused,
        }
    }
}
