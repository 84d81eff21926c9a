//! `stratalog fmt`: programs in the one layout that all have.

use super::check::show;
use super::programs::{is_standard_input, programs, read};
use crate::diagnostics::Source;
use crate::exit::Exit;
use crate::notices::Notices;
use std::io::{self, Write};
use std::path::PathBuf;
use stratalog_client::files::NewFile;
use stratalog_engine::SourceMap;
use stratalog_language::format;
use stratalog_server::annotations;

/// Writes each file anew where its layout is another one; with `check` only says which these are. Standard input goes to
/// standard output. Refused if a file cannot be read as a program, or with `check` if one would change.
pub(crate) fn run(files: &[PathBuf], check: bool, width: usize, notices: Notices) -> Result<Exit, String> {
    let mut exit = Exit::Done;
    let (mut all, mut changed) = (0, 0);
    for file in programs(files)? {
        let (name, text) = read(&file)?;
        all += 1;
        let formatted = match format(&text, width) {
            Ok(formatted) => formatted,
            Err(found) => {
                show(annotations(&found, &text), Source { program: &text, origin: Some(&name) }, notices);
                exit = Exit::Refused;
                continue;
            }
        };
        let map = SourceMap::new(&text);
        for kept in formatted.kept.iter().map(|span| map.place(*span)) {
            notices.note(&format!(
                "{name}:{}: left as it is: its comments have no place in the layout",
                kept.line
            ));
        }
        let formatted = formatted.text;
        let differs = formatted != text;
        changed += usize::from(differs);
        if check && differs {
            notices.note(&format!("{name} would change"));
            exit = Exit::Refused;
        } else if !check && is_standard_input(&file) {
            let mut out = io::stdout().lock();
            let written = out.write_all(formatted.as_bytes()).and_then(|()| out.flush());
            match Exit::of_writing(written, notices) {
                Exit::Done => {}
                unwritten => return Ok(unwritten),
            }
        } else if !check && differs {
            let (kept, mut out) = NewFile::create(&file).map_err(|error| error.to_string())?;
            let written = out.write_all(formatted.as_bytes()).and_then(|()| out.flush());
            written.map_err(|error| format!("{name}: {error}"))?;
            drop(out);
            kept.keep().map_err(|error| error.to_string())?;
        }
    }
    let (files, verb) =
        (if all == 1 { "file" } else { "files" }, if check { "would change" } else { "changed" });
    notices.note(&format!("{all} {files}, {changed} {verb}"));
    Ok(exit)
}
