//! `check`: what running a program would complain about, as far as that can be said without evaluating anything.
//!
//! Facts, schemas and rules go into an engine without rows, one statement after the other; what would evaluate is only
//! analysed. So a program is judged by itself, what it reads and does not define counting as unknown, or by the definitions
//! of a graph.

mod checker;
mod commands;

use std::collections::HashSet;

use self::checker::{Checker, defined, is_definition};
use crate::budget::Budget;
use crate::catalog::Catalog;
use crate::commands::CommandFamily;
use crate::diagnostic::{Diagnose, Diagnostic};
use crate::error::Error;
use crate::graph::{SessionState, SessionView};
use crate::limits::Limits;
use crate::syntax;

/// What is known of a program before it runs.
#[derive(Debug, Default)]
pub struct Checked {
    /// All errors and warnings, in the order of its statements.
    pub found: Vec<Diagnostic>,
    /// What is defined where it ends.
    pub catalog: Catalog,
}

/// All errors and warnings of a program, in the order of its statements. Parameters may have any value.
pub fn check(program: &str) -> Vec<Diagnostic> {
    check_among(program, []).found
}

/// The same where it stands among others: what it does not define itself is as they define it. Of a text that is wrong
/// only that is told.
pub fn check_among<'t>(program: &str, others: impl IntoIterator<Item = &'t str>) -> Checked {
    let limits = Limits::default();
    let (statements, errors) = syntax::parse(program, &limits);
    let judge = || -> Result<Checked, Error> {
        let mut checker = Checker::new(&[], &limits, &Budget::unlimited())?;
        let own: HashSet<String> = statements.iter().flat_map(defined).cloned().collect();
        for other in others {
            let (mut definitions, _) = syntax::parse(other, &limits);
            definitions.retain_mut(|statement| is_definition(statement, &own));
            checker.learn(&mut definitions, other)?;
        }
        checker.judge(program, statements)
    };
    let mut checked =
        judge().unwrap_or_else(|error| Checked { found: error.diagnostics(), ..Checked::default() });
    if !errors.is_empty() {
        checked.found = errors.iter().map(Diagnose::diagnose).collect();
    }
    checked
}

/// The same where it would run: in a session on a graph, with these commands beside those of the engine. An error is no fault of
/// the program.
pub(crate) fn check_in(
    session: &SessionState,
    program: &str,
    commands: &'static [CommandFamily],
    limits: &Limits,
    budget: &Budget,
) -> Result<Vec<Diagnostic>, Error> {
    let (statements, errors) = syntax::parse(program, limits);
    if !errors.is_empty() {
        let view = SessionView::new(session.graph.snapshot(), session.overlay.clone());
        let known = |name: &str| view.catalog().columns_of(name);
        return Ok(errors.iter().map(|error| syntax::explain(error, program, known)).collect());
    }
    let mut checker = Checker::new(commands, limits, budget)?;
    checker.define(session.graph.snapshot().catalog(), session.overlay.own().catalog())?;
    let found = checker.judge(program, statements)?.found;
    budget.check().map_err(Error::Stopped)?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::check;

    fn found(program: &str) -> Vec<(usize, &'static str)> {
        check(program).iter().map(|found| (found.statement.unwrap_or(99), found.code.as_str())).collect()
    }

    #[test]
    fn statements_are_judged_by_what_stands_before_them() {
        let program = "+e[(1, 2)]\n+p(X) <- e(X, Y)\n?p(X, Y)\n?q(X)\n-e(X, _) <- e(X, X)\n\
            -e(X, Y), +f(X) <- e(X, Y), X > $low\n?f(X)\n.nonsense\n+e(1)\n?e(X, Y), e(Z, $a)";
        assert_eq!(
            found(program),
            [
                (1, "unused_variable"),
                (2, "arity_mismatch"),
                (3, "unknown_relation"),
                (7, "parse_error"),
                (8, "arity_mismatch"),
                (9, "cross_product")
            ]
        );
        assert_eq!(
            found("+e(1, 2)\nn(Y) <- n(X), Y = X + 1\nn(1)\n?n(X)\n?e(X, Y)"),
            [(1, "parse_error"); 0]
        );
    }

    #[test]
    fn rules_may_read_what_is_defined_below_them() {
        let program = "+far(X, Z) <- near(X, Y), far(Y, Z)\n+far(X, Y) <- near(X, Y)\n+near(X, Y) <- road(X, Y)\n+road(1, 2)";
        assert_eq!(found(program), [(0, ""); 0]);
        assert_eq!(found("+far(X, Y) <- naer(X, Y)\n+near(1, 2)"), [(0, "unknown_relation")]);
        // Queries are answered last, wherever they stand.
        assert_eq!(found("?near(X, Y)\n+near(1, 2)"), [(0, ""); 0]);
        assert_eq!(found(".explain ?near(X, Y)\n+near(1, 2)"), [(0, "unknown_relation")]);
    }

    #[test]
    fn what_is_attached_is_known_and_its_columns_are_not() {
        let program = ".rel attach far \"/facts/*.parquet\"\n?far(X, Y), road(X, Y)\n+both(X) <- far(X, X)";
        assert_eq!(found(program), [(1, "unknown_relation")]);
    }

    #[test]
    fn only_the_text_counts_where_it_is_wrong() {
        assert_eq!(found("+e(1\n?q(X)"), [(0, "parse_error")]);
        assert_eq!(found(""), [(99, "parse_error")]);
    }
}
