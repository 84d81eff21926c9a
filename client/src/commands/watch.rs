//! `stratalog watch`: an answer, and then the rows that come and go.
//!
//! One query is a live query: the server tells what has changed. Rows that were written are kept all the same, as after a restart
//! of the server all rows come anew, of which only those are written that are new.

use super::asking::Asking;
use super::reading::only_asks;
use super::watched::{CHANGE, Changes, News, Row, Seen, VERSION};
use crate::diagnostics::Source;
use crate::exit::Exit;
use crate::output::{Format, Opened, RowWriter};
use crate::script::{Ended, LEAVING, Runner, apart};
use crate::settings::Settings;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::pin::pin;
use stratalog_client::files::{FileError, NewFile};
use stratalog_client::{Answer, ClientError, Code, Failure, Live, LiveOptions};
use stratalog_engine::Limits;
use stratalog_engine::syntax::ast::StatementKind;
use stratalog_engine::syntax::parse;
use tokio::time::timeout;

/// What to watch, and how to tell of it.
pub(crate) struct Watch<'a> {
    pub program: &'a str,
    pub runner: &'a Runner,
    pub place: Place,
}

/// Where in the changes to go on.
#[derive(Debug, Clone, Default)]
pub(crate) struct Place {
    /// After what this stands for; nothing is at the beginning.
    pub token: Option<String>,
    /// A file that always has the token of what was written last.
    pub file: Option<PathBuf>,
}

impl Place {
    /// As the command line wants it: a file that has nothing yet begins at the beginning.
    pub(crate) fn read(since: Option<String>, file: Option<PathBuf>) -> Result<Place, String> {
        let Some(path) = &file else { return Ok(Place { token: since, file }) };
        let token = match fs::read_to_string(path) {
            Ok(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(format!("{}: {error}", path.display())),
        };
        Ok(Place { token, file })
    }
}

/// Where changes come from.
enum Changing {
    Live(Box<Live>),
    Asking(Box<Asking>),
}

/// What is told of an answer.
struct Told {
    columns: Vec<String>,
    version: Option<u64>,
    news: News,
    /// What to go on with afterwards.
    token: Option<String>,
}

impl Watch<'_> {
    /// Watches until a person ends it, or nobody reads any more.
    pub(crate) async fn run(&self, settings: &Settings) -> Exit {
        let mut written = None;
        let ended = {
            let mut following = pin!(self.follow(settings, &mut written));
            tokio::select! {
                biased; // what ends by the same Ctrl-C has nothing to say
                () = self.runner.interrupts.requested() => {
                    let _ = timeout(LEAVING, following).await; // what is just written is noted
                    Ok(())
                }
                ended = &mut following => ended,
            }
        };
        let exit = match ended {
            _ if self.runner.interrupts.is_requested() => {
                self.runner.notices.end_line();
                Exit::Interrupted
            }
            Ok(()) => return Exit::Done,
            Err(ended) if ended.is_enough() => return Exit::Done,
            Err(ended) => {
                ended.tell(self.runner.notices, Source { program: self.program, origin: None });
                if let Ended::Failed(ClientError::Refused(_)) = ended {
                    written = None; // there is no answer any more
                }
                Exit::from(&ended)
            }
        };
        if let Some(token) = written
            && self.place.file.is_none()
            && !self.runner.at_prompt
        {
            self.runner.notices.note(&format!("go on with --since {token}"));
        }
        exit
    }

    /// Writes what is told, and notes up to where that was done.
    async fn follow(&self, settings: &Settings, written: &mut Option<String>) -> Result<(), Ended> {
        let format = self.runner.style.format;
        if format.is_whole() || matches!(format, Format::Nt | Format::Nq) {
            return Err(refused(
                Code::InvalidParameter,
                "changes cannot be written in this format",
                "choose jsonl, csv, tsv, line or box",
            ));
        }
        only_asks(
            self.program,
            "what is watched only asks, and this may change something",
            "watch a query: `?edge(X, Y)`",
        )?;
        let mut changing = self.begin(settings).await?;
        let mut seen = self.place.token.is_none().then(Seen::default);
        let mut first = true;
        loop {
            let told = tokio::select! {
                told = changing.next() => told?,
                () = self.runner.interrupts.requested() => None,
            };
            let Some(told) = told else { return Ok(()) };
            let changes = match (&mut seen, told.news) {
                (Some(seen), news) => seen.take(news),
                (None, News::Some { added, removed }) => Seen::unknown(added, removed),
                (None, News::All(_)) => {
                    return Err(refused(
                        Code::NotFound,
                        "what has changed since then is not known any more",
                        "watch it from the beginning: all rows come, and then what changes",
                    ));
                }
            };
            if first || !changes.is_empty() {
                self.write(&told.columns, told.version, &changes, first).await?;
            }
            first = false;
            if let (Some(token), Some(file)) = (&told.token, &self.place.file) {
                let (token, file) = (token.clone(), file.clone());
                apart(move || Ok(save(&token, &file))).await??;
            }
            *written = told.token;
        }
    }

    /// Subscribes, where that is possible.
    async fn begin(&self, settings: &Settings) -> Result<Changing, Ended> {
        let options = &self.runner.options;
        if let Some(query) = one_query(self.program, options.limit) {
            let live = LiveOptions {
                params: options.params.clone(),
                resume: self.place.token.clone(),
                ..LiveOptions::default()
            };
            let connecting = Live::connect(&settings.address, settings.credentials.clone(), &query, live);
            let connected = match options.timeout {
                None => connecting.await,
                Some(time) => timeout(time, connecting).await.unwrap_or(Err(ClientError::TimedOut(time))),
            };
            match connected {
                // It has never heard of such a message.
                Err(ClientError::Refused(failure)) if failure.code == Code::InvalidMessage => {
                    self.runner
                        .notices
                        .note("note: this server has no live queries: it is asked again and again");
                }
                connected => {
                    let live = connected?;
                    live.warnings().iter().for_each(|warning| self.runner.notices.warning(warning));
                    return Ok(Changing::Live(Box::new(live)));
                }
            }
        }
        if self.place.token.is_some() || self.place.file.is_some() {
            return Err(refused(
                Code::NotLive,
                "this is asked again and again, and has no token to go on with",
                "watch one query, without statements before it; store its rules in the graph",
            ));
        }
        Ok(Changing::Asking(Box::new(Asking::begin(self.program, options.clone(), settings).await?)))
    }

    async fn write(
        &self,
        columns: &[String],
        version: Option<u64>,
        changes: &Changes,
        first: bool,
    ) -> Result<(), Ended> {
        let Runner { destination, interrupts, .. } = self.runner;
        let mut style = self.runner.style.clone();
        let Opened { out, goes_on, .. } = destination.open(style.format, interrupts, None)?;
        style.header &= first && !goes_on || style.format.is_drawn();
        let version = (style.format == Format::Jsonl).then_some(version);
        let before = [Some(CHANGE), version.map(|_| VERSION)];
        let names: Vec<&str> =
            before.into_iter().flatten().chain(columns.iter().map(String::as_str)).collect();
        let header = Answer::new(&names, Vec::new());
        let batch = changes.batch(columns, version)?;
        apart(move || {
            let mut writer = RowWriter::begin(out, &header, &batch.schema(), style)?;
            writer.write(&batch)?;
            writer.finish()
        })
        .await?;
        Ok(())
    }
}

impl Changing {
    /// What is told next; nothing where nothing comes any more.
    async fn next(&mut self) -> Result<Option<Told>, Ended> {
        Ok(match self {
            Changing::Asking(asking) => {
                let (header, rows) = asking.next().await?;
                let Answer { columns, version, .. } = header;
                Some(Told { columns, version, news: News::All(rows), token: None })
            }
            Changing::Live(live) => {
                let Some(change) = live.next().await? else { return Ok(None) };
                let added = Row::of(&change.added)?;
                let news = match change.reset {
                    true => News::All(added),
                    false => News::Some { added, removed: Row::of(&change.removed)? },
                };
                Some(Told {
                    columns: change.columns,
                    version: Some(change.version),
                    news,
                    token: live.token(),
                })
            }
        })
    }
}

/// The program, if it is one query; with a limit, if it has none that is smaller.
fn one_query(program: &str, limit: Option<u64>) -> Option<String> {
    let (statements, _) = parse(program, &Limits::default());
    let [statement] = statements.as_slice() else { return None };
    let StatementKind::Query(query) = &statement.kind else { return None };
    let own = query.limit.as_ref();
    let Some(limit) = limit.filter(|limit| own.is_none_or(|own| own.count > *limit)) else {
        return Some(program.to_owned());
    };
    // The last one counts.
    let offset = own.map_or(0, |own| own.offset);
    let (before, after) = program.split_at_checked(statement.span.end as usize)?;
    Some(format!("{before}, limit({limit}, {offset}){after}"))
}

/// The file has either the token of before or this one, whatever happens.
fn save(token: &str, file: &Path) -> Result<(), FileError> {
    let (new, mut out) = NewFile::create(file)?;
    let written = writeln!(out, "{token}").and_then(|()| out.flush());
    written.map_err(|error| FileError::new(&file.display().to_string(), error))?;
    new.keep()
}

fn refused(code: Code, message: &str, help: &str) -> Ended {
    ClientError::Refused(Box::new(Failure::new(code, message).help(help))).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_query_may_get_a_smaller_limit() {
        let query = |program, limit| one_query(program, limit);
        assert_eq!(query("// all\n?p(X)", None).as_deref(), Some("// all\n?p(X)"));
        assert_eq!(query("?p(X) // all\n", Some(3)).as_deref(), Some("?p(X), limit(3, 0) // all\n"));
        assert_eq!(query("?p(X), limit(5, 2)", Some(3)).as_deref(), Some("?p(X), limit(5, 2), limit(3, 2)"));
        assert_eq!(query("?p(X), limit(2)", Some(3)).as_deref(), Some("?p(X), limit(2)"));
        assert_eq!(query("?X <- p(X) or q(X)", Some(1)).as_deref(), Some("?X <- p(X) or q(X), limit(1, 0)"));
        assert_eq!(query("q(X) <- p(X)\n?q(X)", None), None);
    }
}
