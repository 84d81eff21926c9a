//! A join by an index: binds columns of the rows that match.

use super::lookup::{Lookup, Matches};
use crate::data::VariableId;
use crate::exec::error::ExecError;
use crate::exec::tables::Tables;
use crate::exec::values::batch::{Bindings, Emit};
use crate::plan::Lookup as Plan;

/// What a probe looks up, and what it binds.
pub(super) struct Probe<'a> {
    lookup: Lookup<'a>,
    equal: &'a [(usize, usize)],
    outputs: &'a [(usize, VariableId)],
    keep: &'a [VariableId],
}

impl<'a> Probe<'a> {
    pub(super) fn open(
        plan: &'a Plan,
        outputs: &'a [(usize, VariableId)],
        keep: &'a [VariableId],
        tables: &'a Tables<'_>,
    ) -> Result<Probe<'a>, ExecError> {
        Ok(Probe { lookup: Lookup::open(plan, tables)?, equal: &plan.equal, outputs, keep })
    }

    pub(super) fn run(
        &self,
        input: &Bindings,
        output: &mut Bindings,
        emit: &mut Emit<'_>,
    ) -> Result<(), ExecError> {
        let mut matches = Matches::default();
        for place in &self.lookup.places {
            let mut hand_on = |matches: &mut Matches| {
                matches.retain(place, self.equal);
                matches.bind(|column| place.column(column), self.outputs, input, self.keep, output);
                emit(output)
            };
            self.lookup.find(place, input, &mut matches, &mut hand_on)?;
            if matches.len() > 0 {
                hand_on(&mut matches)?;
            }
        }
        Ok(())
    }
}
