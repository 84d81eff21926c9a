//! What belongs to a client and not to the server: each says so.

use super::{CommandEntry, CommandFamily};
use crate::context::{Context, Outcome};
use crate::diagnostic::{Code, Diagnostic};
use crate::error::Error;
use crate::graph::SessionState;
use crate::need::Need;
use crate::syntax::ast::Name;

pub(super) const COMMANDS: CommandFamily = CommandFamily {
    title: "What belongs to clients",
    entries: &[
        CommandEntry {
            words: &["quit|exit|q"],
            usage: "",
            doc: "Ends a client; the server only says how to leave.",
            example: ".quit",
            need: Need::Nothing,
            arguments: 0,
            run: quit,
        },
        CommandEntry {
            words: &["load"],
            usage: "FILE",
            doc: "Runs a file in a client; the server reads no files.",
            example: ".load graph.dl",
            need: Need::Nothing,
            arguments: 0,
            run: load,
        },
        CommandEntry {
            words: &["agent"],
            usage: "",
            doc: "Does not exist here.",
            example: ".agent",
            need: Need::Nothing,
            arguments: 0,
            run: agent,
        },
    ],
};

fn quit(_: &[Name], _: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    Ok(Outcome::Message("close the connection to leave; the session ends with it".to_owned()))
}

fn load(_: &[Name], _: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    Err(refuse(
        "the server reads no files",
        "load it with a client: `stratalog run FILE`, or `.load FILE` at its prompt",
    ))
}

fn agent(_: &[Name], _: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    Err(refuse("there is no `.agent`", "`.help` lists the commands"))
}

fn refuse(message: &str, help: &str) -> Error {
    Error::refused(Diagnostic::error(Code::ParseError, message).help(help))
}
