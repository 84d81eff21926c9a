//! How a recursion goes on once there is much to do: one file a strategy, and the list of them.
//!
//! A strategy is recognised by the shape of the rules alone. The executor says from when on it pays.

pub(crate) mod edges;

pub(crate) mod walk;

pub(crate) mod matrices;

pub(crate) mod relaxation;

pub(crate) mod partitions;

pub(crate) mod plain;

use self::matrices::{Matrices, Matrix, Mixed, matrices, mixed};
use self::partitions::Partitions;
use self::relaxation::{Relaxation, relaxation};
use self::walk::{Walk, walk};
use crate::analysis::program::{Program, Stratum};

/// What takes the place of a recursion's rounds when there is much to do.
#[derive(Debug, Clone)]
pub enum Strategy {
    /// Nothing: it goes on in rounds of tuples.
    Tuples,
    /// A walk through a graph.
    Walk(Walk),
    /// Products of bit matrices.
    Matrices(Matrices),
    /// Relaxation of edges.
    Relaxation(Relaxation),
    /// Rounds apart for each part of a column's values.
    Partitions(Partitions),
}

impl Strategy {
    /// The best that the shape of a recursion allows.
    pub fn of(stratum: &Stratum, program: &Program) -> Strategy {
        None.or_else(|| walk(stratum, program).map(Strategy::Walk))
            .or_else(|| matrices(stratum, program).map(Strategy::Matrices))
            .or_else(|| relaxation(stratum, program).map(Strategy::Relaxation))
            .or_else(|| Partitions::of(stratum, program).map(Strategy::Partitions))
            .unwrap_or(Strategy::Tuples)
    }

    /// The same, where each row has to be found in the first round in which all that it follows from is known.
    pub(super) fn in_time(stratum: &Stratum, program: &Program) -> Strategy {
        let matrices = matrices(stratum, program).map(Strategy::Matrices).filter(Strategy::finds_in_time);
        let others = || Partitions::of(stratum, program).map(Strategy::Partitions);
        matrices.or_else(others).unwrap_or(Strategy::Tuples)
    }

    /// Whether each row is found in the first round in which all that it follows from is known, where it goes on in rounds.
    pub fn finds_in_time(&self) -> bool {
        match self {
            Strategy::Tuples | Strategy::Partitions(_) => true,
            // What is a part of chains, or composed of generators, comes to be a round later.
            Strategy::Matrices(Matrices { matrices, .. }) => {
                matrices.iter().all(|matrix| matches!(matrix, Matrix::Own(_) | Matrix::Complete(_)))
            }
            Strategy::Walk(_) | Strategy::Relaxation(_) => false,
        }
    }

    /// The products that there are among the rules where these stay tuples.
    pub(super) fn mixed(&self, stratum: &Stratum, program: &Program) -> Option<Mixed> {
        match self {
            Strategy::Tuples | Strategy::Partitions(_) => mixed(stratum, program),
            Strategy::Walk(_) | Strategy::Matrices(_) | Strategy::Relaxation(_) => None,
        }
    }
}
