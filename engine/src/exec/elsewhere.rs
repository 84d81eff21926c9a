//! Where programs are evaluated that are not evaluated here.

use std::fmt;

use super::error::ExecError;
use super::outcome::Outcome;
use super::profile::Profile;
use super::relations::Relations;
use crate::analysis::program::Program;
use crate::budget::Budget;
use crate::data::Codec;

/// Another evaluator: one that needs less memory than there are rows, say. It gives the same rows as [`super::execute`].
pub trait Elsewhere: fmt::Debug + Send + Sync {
    /// Evaluates a program. Values that it computes get codes of `codec`.
    fn execute(
        &self,
        program: &Program,
        relations: &dyn Relations,
        codec: &Codec,
        budget: &Budget,
        profile: Option<&mut Profile>,
    ) -> Result<Outcome, ExecError>;
}
