//! What commands do to the definitions by which a program is judged.

use crate::syntax::ast::{Command, Statement, StatementKind};

/// Commands about people and what they do are the server's own: how they are to be written is not known without it.
pub(super) fn is_of_the_server(command: &Command) -> bool {
    let own: [&[&str]; 8] = [
        &["user"],
        &["apikey"],
        &["kg", "acl"],
        &["query"],
        &["live"],
        &["metrics"],
        &["session", "open"],
        &["session", "kill"],
    ];
    begins(command, &own)
}

/// Whether a command says what a relation or an index is.
pub(super) fn defines(command: &Command) -> bool {
    const RELATIONS: [&str; 2] = ["rel", "relation"];
    INDEXES.iter().any(|word| begins(command, &[&[word, "create"]]))
        || RELATIONS.iter().any(|word| begins(command, &[&[word, "add"], &[word, "rename"]]))
}

/// The relation that a statement makes of files.
pub(super) fn attached(statement: &Statement) -> Option<&str> {
    let StatementKind::Command(command) = &statement.kind else { return None };
    let name =
        command.words.get(2).filter(|_| begins(command, &[&["rel", "attach"], &["relation", "attach"]]))?;
    Some(&name.text)
}

/// Whether a command takes definitions away.
pub(super) fn undefines(command: &Command) -> bool {
    let of_rules: [&[&str]; 3] = [&["rule", "drop"], &["rule", "remove"], &["rule", "clear"]];
    begins(command, &of_rules)
        || begins(command, &[&["session", "clear"], &["session", "forget"]])
        || begins(command, &[&["rel", "drop"], &["relation", "drop"]])
        || INDEXES.iter().any(|word| begins(command, &[&[word, "drop"]]))
}

const INDEXES: [&str; 2] = ["index", "idx"];

/// Whether what comes behind a statement is about another graph.
pub(super) fn goes_elsewhere(statement: &Statement) -> bool {
    matches!(&statement.kind, StatementKind::Command(command) if begins(command, &[&["kg", "use"], &["kg", "create"]]))
}

/// Whether the rules behind a statement take the place of those of the same heads.
pub(super) fn is_replacing(statement: &Statement) -> bool {
    matches!(&statement.kind, StatementKind::Command(command) if begins(command, &[&["rule", "replace"]]))
}

fn begins(command: &Command, beginnings: &[&[&str]]) -> bool {
    beginnings.iter().any(|beginning| {
        let words = beginning.iter().zip(&command.words);
        beginning.len() <= command.words.len()
            && words.into_iter().all(|(a, b)| a.eq_ignore_ascii_case(&b.text))
    })
}
