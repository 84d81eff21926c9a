//! `stratalog check`: the engine's own front end, here, so that an editor or a commit hook needs no server; or that of a database.

use super::programs::{programs, read};
use crate::arguments::ConnectionArguments;
use crate::database;
use crate::diagnostics::Source;
use crate::exit::Exit;
use crate::notices::Notices;
use crate::output::Format;
use serde_json::{Value as Json, json};
use std::io::{self, Write};
use std::path::PathBuf;
use stratalog_client::{Annotation, Client, Code, Failure, Severity};
use stratalog_server::annotations;

/// Checks each file by itself, or where it would run, if the command line names a database. Refused if any has an error; warnings
/// alone do not count.
pub(crate) fn run(
    files: &[PathBuf],
    connection: &ConnectionArguments,
    format: Option<Format>,
    notices: Notices,
) -> Result<Exit, String> {
    let mut read_files = Vec::new();
    for file in programs(files)? {
        read_files.push(read(&file)?);
    }
    let there = database::ask(connection, async |client: &Client| {
        let mut found = Vec::new();
        for (_, text) in &read_files {
            found.push(client.check(text).await?);
        }
        Ok(found)
    });
    let found = match there {
        Ok(there) => there.unwrap_or_else(|| read_files.iter().map(|(_, text)| here(text)).collect()),
        Err(why) => {
            notices.error(&why.to_string());
            return Ok(Exit::from(&why));
        }
    };
    let mut exit = Exit::Done;
    let mut all = Vec::new();
    for ((name, text), found) in read_files.iter().zip(found) {
        if found.iter().any(|one| one.severity == Severity::Error) {
            exit = Exit::Refused;
        }
        if matches!(format, Some(Format::Json | Format::Jsonl)) {
            all.extend(found.iter().map(|one| as_json(name, one)));
        } else if !found.is_empty() {
            show(found, Source { program: text, origin: Some(name) }, notices);
        }
    }
    let written = match format {
        Some(Format::Json) => Json::Array(all).to_string() + "\n",
        Some(Format::Jsonl) => all.iter().map(|one| one.to_string() + "\n").collect(),
        _ => String::new(),
    };
    let mut out = io::stdout().lock();
    Ok(match Exit::of_writing(out.write_all(written.as_bytes()).and_then(|()| out.flush()), notices) {
        Exit::Done => exit,
        unwritten => unwritten,
    })
}

/// What is found in a program by itself.
fn here(text: &str) -> Vec<Annotation> {
    annotations(&stratalog_engine::check(text), text)
}

/// Shows what was found in a program.
pub(super) fn show(found: Vec<Annotation>, source: Source<'_>, notices: Notices) {
    let mut failure = Failure::new(Code::ParseError, "");
    failure.diagnostics = found;
    notices.report(&failure, source);
}

fn as_json(file: &str, found: &Annotation) -> Json {
    let mut json = serde_json::to_value(found).unwrap_or_else(|_| json!({"message": found.message}));
    json["file"] = json!(file);
    json
}

#[cfg(test)]
mod tests {
    use super::{as_json, here};

    #[test]
    fn findings_keep_code_place_and_file() {
        let text = "+e[(1, 2)]\n+p(X) <- e(X, Y)\n?q(X)\n";
        let found: Vec<_> = here(text).iter().map(|one| as_json("a.dl", one)).collect();
        assert_eq!(found.len(), 2);
        assert_eq!(found[0]["code"], "unused_variable");
        assert_eq!(found[0]["severity"], "warning");
        assert_eq!(found[0]["span"]["line"], 2);
        assert_eq!(found[1]["code"], "unknown_relation");
        assert_eq!(found[1]["severity"], "error");
        assert_eq!(found[1]["file"], "a.dl");
    }
}
