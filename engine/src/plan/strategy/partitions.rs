//! Along which column a recursion falls apart.

use crate::analysis::program::{Argument, Expression, HeadTerm, Program, Stratum};
use crate::data::RelationId;

/// A recursion that falls apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Partitions {
    /// Its only relation.
    pub relation: RelationId,
    /// By the values of this column.
    pub column: usize,
}

impl Partitions {
    /// The column along which a recursion falls apart: every recursive rule is linear and hands it through unchanged, as
    /// `t(X, Z) <- t(X, Y), e(Y, Z)` does with the first (Wolfson and Silberschatz, Distributed processing of logic
    /// programs, 1988). A relation that keeps its best rows is never cut.
    pub fn of(stratum: &Stratum, program: &Program) -> Option<Partitions> {
        let [relation] = *stratum.relations.as_slice() else { return None };
        if program.relations[relation.index()].best.is_some() {
            return None;
        }
        let mut columns: Option<Vec<usize>> = None;
        for rule in &stratum.rules {
            let mut own = rule.atoms().filter(|atom| atom.relation == relation);
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
        Some(Partitions { relation, column: columns?.first().copied()? })
    }
}
