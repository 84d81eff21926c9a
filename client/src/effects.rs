//! What a program may change, so that a client knows what it may send twice. In doubt a program changes everything.

use stratalog_engine::Limits;
use stratalog_engine::syntax::ast::{Scope, StatementKind};
use stratalog_engine::syntax::parse;

/// What a program leaves behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Effects {
    /// Something others can see. Running it twice is perhaps not running it once.
    pub writes: bool,
    /// Facts or rules of the session.
    pub touches_session: bool,
    /// Whether there is a query, whose rows are the answer.
    pub asks: bool,
}

/// Looks at the statements of a program. Those of a session serve only the program where that asks something, and are
/// kept where it does not.
pub(crate) fn of(program: &str) -> Effects {
    let (statements, errors) = parse(program, &Limits::default());
    let broken = !errors.is_empty();
    let mut found = Effects { writes: broken, touches_session: broken, asks: false };
    for statement in &statements {
        let scope = match &statement.kind {
            StatementKind::Query(_) => {
                found.asks = true;
                continue;
            }
            StatementKind::Insert(insert) => insert.scope,
            StatementKind::Rule(rule) => rule.scope,
            StatementKind::Declare(declare) => declare.scope,
            StatementKind::Delete(_)
            | StatementKind::DeleteWhere(_)
            | StatementKind::Update(_)
            | StatementKind::DropRule(_)
            | StatementKind::DeclareType(_)
            | StatementKind::Command(_) => Scope::Persistent,
        };
        match scope {
            Scope::Persistent => found.writes = true,
            Scope::Session => found.touches_session = true,
        }
    }
    found.touches_session &= !found.asks;
    found.writes |= found.touches_session || !found.asks;
    found
}

/// True when a program asks something, and changes nothing that lasts. In doubt it is false.
///
/// ```
/// use stratalog_client::only_reads;
///
/// assert!(only_reads("?edge(X, Y)"));
/// assert!(!only_reads("+edge(1, 2)"));
/// ```
pub fn only_reads(program: &str) -> bool {
    !of(program).writes
}

#[cfg(test)]
mod tests {
    use super::{Effects, of};

    #[test]
    fn questions_change_nothing() {
        for program in ["?p(X)", "// first\n?p(X), X > 1", "q(X) <- p(X)\n?q(X)", "?p(\"\n+x\")"] {
            let asks = Effects { writes: false, touches_session: false, asks: true };
            assert_eq!(of(program), asks, "{program}");
        }
    }

    #[test]
    fn everything_else_may_write() {
        for program in
            ["+p(1)\n?p(X)", "?p(X)\n+p(1)", "-p(1)", ".rel drop p\n?p(X)", "type A: int\n?p(X)", "?p(", ""]
        {
            assert!(of(program).writes, "{program}");
        }
    }

    #[test]
    fn what_the_session_keeps_is_known() {
        for program in ["p(1)", "p(X) <- q(X)", "p(x: int)", "+q(1)\np(1)"] {
            assert!(of(program).touches_session, "{program}");
        }
        for program in ["+p(1)", "-p(1)", ".rel", "type A: int", "q(X) <- p(X)\n?q(X)"] {
            assert!(!of(program).touches_session, "{program}");
        }
    }
}
