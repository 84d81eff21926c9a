//! A join by adjacency: looks codes up in one column for what stands beside them in another, without a detour over the
//! numbers of rows. Where each code has one at most, the other column is a mapping of the first.

use std::borrow::Cow;
use std::sync::Arc;

use crate::data::{Code, EMPTY, Mapping, Neighbours, Pairing, Run, VariableId};
use crate::exec::error::ExecError;
use crate::exec::tables::Tables;
use crate::exec::values::batch::{BATCH, Bindings, Emit};
use crate::plan::{KeyPart, Lookup, LookupBy, edges_serve};

/// The column that is looked up, and what stands beside its codes.
pub(super) struct Adjacency<'a> {
    key: Key,
    to: VariableId,
    codes: Codes,
    keep: &'a [VariableId],
}

enum Key {
    Variable(VariableId),
    Constant(Code),
}

enum Codes {
    /// One code at most beside each.
    One(Arc<Option<Mapping>>),
    /// The codes beside each, in each run.
    Many(Vec<Arc<Neighbours>>),
}

impl<'a> Adjacency<'a> {
    /// `None` where one column was taken for a mapping of the other and is not, and edges would not serve either.
    pub(super) fn open(
        plan: &Lookup,
        outputs: &[(usize, VariableId)],
        keep: &'a [VariableId],
        tables: &Tables<'_>,
    ) -> Result<Option<Adjacency<'a>>, ExecError> {
        let ([(from, part)], [(column, to)]) = (plan.key.as_slice(), outputs) else { return Ok(None) };
        let key = match part {
            KeyPart::Variable(variable) => Key::Variable(*variable),
            KeyPart::Constant(value) => Key::Constant(tables.codec.encode(value.as_ref())?),
        };
        let runs = tables.runs(plan.access)?;
        if let (LookupBy::Mapping, [run]) = (plan.by, runs.as_slice()) {
            let cost = run.beside_cost(*from, *column, Pairing::Mapping);
            let mapping = tables.budget.build(cost, |go_on| run.mapping(*from, *column, go_on))?;
            if mapping.is_some() {
                return Ok(Some(Adjacency { key, to: *to, codes: Codes::One(mapping), keep }));
            }
            let relation = plan.access.relation;
            if !edges_serve(relation, *from, tables.arity(relation), tables) {
                return Ok(None);
            }
        }
        let neighbours = |run: &Run| {
            let cost = run.beside_cost(*from, *column, Pairing::Neighbours);
            tables.budget.build(cost, |go_on| run.neighbours(*from, *column, go_on))
        };
        let codes = Codes::Many(runs.iter().map(neighbours).collect::<Result<_, _>>()?);
        Ok(Some(Adjacency { key, to: *to, codes, keep }))
    }

    /// Binds the other column for each binding.
    pub(super) fn run(
        &self,
        input: &Bindings,
        output: &mut Bindings,
        emit: &mut Emit<'_>,
    ) -> Result<(), ExecError> {
        let codes = match &self.key {
            Key::Variable(from) => Cow::Borrowed(input.column(*from)),
            Key::Constant(code) => Cow::Owned(vec![*code; input.len]),
        };
        match &self.codes {
            Codes::One(mapping) => {
                output.clear();
                if let Some(mapping) = mapping.as_ref() {
                    self.map(mapping, &codes, input, output);
                }
                emit(output)
            }
            Codes::Many(runs) => {
                runs.iter().try_for_each(|run| self.expand(run, &codes, input, output, emit))
            }
        }
    }

    fn map(&self, mapping: &Mapping, codes: &[Code], input: &Bindings, output: &mut Bindings) {
        if mapping.apply(codes, output.column_mut(self.to)) {
            output.copy(input, self.keep);
            return;
        }
        let mapped = output.column_mut(self.to);
        let is_found = |position: &u32| mapped[*position as usize] != EMPTY;
        let positions: Vec<u32> = (0..input.len as u32).filter(is_found).collect();
        mapped.retain(|code| *code != EMPTY);
        output.gather(input, self.keep, &positions);
    }

    fn expand(
        &self,
        run: &Neighbours,
        codes: &[Code],
        input: &Bindings,
        output: &mut Bindings,
        emit: &mut Emit<'_>,
    ) -> Result<(), ExecError> {
        let mut positions: Vec<u32> = Vec::with_capacity(BATCH);
        let mut outcome = Ok(());
        output.clear();
        run.of_all(codes, |position, beside| {
            for beside in beside.chunks(BATCH) {
                output.column_mut(self.to).extend_from_slice(beside);
                positions.extend(std::iter::repeat_n(position as u32, beside.len()));
                if positions.len() >= BATCH {
                    output.gather(input, self.keep, &positions);
                    outcome = emit(output);
                    output.clear();
                    positions.clear();
                }
                if outcome.is_err() {
                    return false;
                }
            }
            true
        });
        outcome?;
        output.gather(input, self.keep, &positions);
        emit(output)
    }
}
