//! Pivoting: a recursion that hands a column through unchanged falls apart along it, so it can be run to its fixpoint
//! apart for each part of the column's values.

use crate::analysis::program::{Argument, Expression, HeadTerm, Literal, Stratum};
use crate::data::{RelationId, Rows, Run};

/// A fixpoint with so many known rows, and so many new ones in a round, goes on in parts if it can.
pub(super) const PIVOT_ROWS: usize = 1 << 18;
pub(super) const PIVOT_DELTA: usize = 1 << 16;
const PIVOT_PARTS: usize = 512;

/// The column along which a recursion falls apart: every recursive rule is linear and hands it through unchanged, as
/// `t(X, Z) <- t(X, Y), e(Y, Z)` does with the first (Wolfson and Silberschatz, Distributed processing of logic
/// programs, 1988).
pub(super) fn pivot_column(stratum: &Stratum) -> Option<(RelationId, usize)> {
    let [relation] = *stratum.relations.as_slice() else { return None };
    let mut columns: Option<Vec<usize>> = None;
    for rule in &stratum.rules {
        let mut own = rule.body.iter().filter_map(|literal| match literal {
            Literal::Atom(atom) if atom.relation == relation => Some(atom),
            Literal::Atom(_) | Literal::Negated(_) | Literal::Filter { .. } | Literal::Assign { .. } => None,
        });
        let Some(atom) = own.next() else { continue };
        if own.next().is_some() {
            return None;
        }
        let carried: Vec<usize> = (0..atom.arguments.len())
            .filter(|column| match (&rule.head_terms[*column], &atom.arguments[*column]) {
                (HeadTerm::Expression(Expression::Variable(out)), Argument::Variable(variable)) => {
                    out == variable
                }
                _ => false,
            })
            .filter(|column| columns.as_ref().is_none_or(|columns| columns.contains(column)))
            .collect();
        columns = Some(carried);
    }
    Some((relation, columns?.first().copied()?))
}

/// Rows by the part of a column's value.
pub(super) fn split(runs: &[Run], column: usize, arity: usize) -> Vec<Rows> {
    let mut parts = vec![Rows::empty(arity); PIVOT_PARTS];
    for run in runs {
        let rows = run.live_rows();
        for row in 0..rows.len {
            let hash = rows.columns[column][row].wrapping_mul(0x9E37_79B9);
            let part = &mut parts[(hash >> 16) as usize % PIVOT_PARTS];
            part.len += 1;
            for (to, from) in part.columns.iter_mut().zip(&rows.columns) {
                to.push(from[row]);
            }
        }
    }
    parts
}
