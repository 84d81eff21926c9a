//! What is wrong with a text, in words of the relations that there are.

use super::error::{SyntaxError, SyntaxFault};
use super::foreign;
use crate::aggregates::Aggregate;
use crate::diagnostic::{Diagnose, Diagnostic};

/// The error, with advice that names relations and columns where one of them is meant. `known` tells how a relation is
/// called in truth, and its columns.
pub(crate) fn explain(
    error: &SyntaxError,
    program: &str,
    known: impl Fn(&str) -> Option<(String, Vec<String>)>,
) -> Diagnostic {
    let diagnostic = error.diagnose();
    match &error.fault {
        SyntaxFault::Foreign(foreign) => diagnostic.help(foreign.help(known)),
        SyntaxFault::UnquotedWord { .. } | SyntaxFault::Unexpected { .. } => {
            match advice(error, program, known) {
                Some(help) => Diagnostic { fixes: Vec::new(), ..diagnostic.help(help) },
                None => diagnostic,
            }
        }
        _ => diagnostic,
    }
}

/// What to write where the arguments of a relation or of an aggregate went wrong, or where either has none.
fn advice(
    error: &SyntaxError,
    program: &str,
    known: impl Fn(&str) -> Option<(String, Vec<String>)>,
) -> Option<String> {
    let before = program.get(..error.span.start as usize)?;
    let found = program.get(error.span.start as usize..error.span.end as usize)?;
    let behind = program.get(error.span.end as usize..)?.trim_start();
    let asked = |name: &str| known(name).map(|(name, columns)| (foreign::atom(&name, &columns), columns));
    let around = enclosing(before);
    if let Some((atom, columns)) = asked(found).filter(|_| !behind.starts_with('(')) {
        let first = columns.first().map_or_else(|| "X".to_owned(), |column| foreign::variable(column));
        return Some(match around.and_then(Aggregate::named) {
            Some(aggregate) => format!("write `?{}<{first}> <- {atom}`", aggregate.name()),
            None => format!("write `?{atom}` for its rows"),
        });
    }
    if let Some(aggregate) = around.and_then(Aggregate::named).or_else(|| Aggregate::named(found)) {
        let name = aggregate.name();
        return Some(format!(
            "an aggregate has its variable in angle brackets, and is alone in its column: `{name}<X>`"
        ));
    }
    let bare = before.trim_end().rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next()?;
    if let (SyntaxFault::Unexpected { expected, .. }, Some((atom, _))) = (&error.fault, asked(bare))
        && expected.starts_with("`(` or")
    {
        return Some(format!("write `?{atom}` to ask, `+{bare}(..)` for a fact"));
    }
    let (atom, columns) = asked(around?)?;
    let by_name = match &error.fault {
        SyntaxFault::UnquotedWord { word } => columns.contains(word),
        SyntaxFault::Unexpected { .. } => matches!(found, "*" | "."),
        _ => false,
    };
    by_name.then(|| format!("columns go by their places, and `_` may be anything: `{atom}`"))
}

/// The name before the parenthesis that is open at the end of this text, in its last line.
fn enclosing(text: &str) -> Option<&str> {
    let line = text.rsplit('\n').next()?;
    let mut closed = 0;
    let open = line.char_indices().rev().find_map(|(at, c)| {
        match c {
            ')' => closed += 1,
            '(' if closed == 0 => return Some(at),
            '(' => closed -= 1,
            _ => {}
        }
        None
    })?;
    let name = line[..open].rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next()?;
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::explain;
    use crate::limits::Limits;
    use crate::syntax::parse;

    #[test]
    fn relations_and_aggregates_are_named() {
        let known = |name: &str| {
            let columns = ["owner", "owned"].map(str::to_owned).to_vec();
            (name == "owns").then(|| (name.to_owned(), columns))
        };
        let help = |text: &str| {
            let (_, errors) = parse(text, &Limits::default());
            explain(&errors[0], text, known).help.unwrap_or_default()
        };
        for (text, expected) in [
            ("?owns", "write `?owns(Owner, Owned)` for its rows"),
            ("owns", "write `?owns(Owner, Owned)` to ask"),
            ("?count(owns)", "write `?count<Owner> <- owns(Owner, Owned)`"),
            ("+n(count(*)) <- owns(_, _)", "`count<X>`"),
            ("+n(count) <- owns(_, _)", "`count<X>`"),
            ("?owns(*)", "`owns(Owner, Owned)`"),
            ("?owns(X, ...)", "`owns(Owner, Owned)`"),
            ("?owns(owner: X)", "`owns(Owner, Owned)`"),
            ("?owns(owner = \"ann\")", "`owns(Owner, Owned)`"),
            ("?owns(ann, X)", "write \"ann\" if it is text"),
            ("?owns(X Y)", "separate what stands in brackets by commas"),
            ("?other(owner: X)", "write \"owner\" if it is text"),
        ] {
            assert!(help(text).contains(expected), "{text}: {}", help(text));
        }
    }
}
