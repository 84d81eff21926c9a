//! Look-ups in one column for what stands beside it in another: without a detour over the numbers of rows.

use std::borrow::Cow;
use std::sync::Arc;

use super::batch::Bindings;
use super::error::ExecError;
use super::pipeline::BATCH;
use super::stratum::View;
use crate::data::{Code, EMPTY, Mapping, Neighbours, Pairing, Run, VariableId};
use crate::plan::{Access, KeyPart};

/// The column that is looked up, and what stands beside its codes.
pub(super) struct Beside {
    key: Key,
    to: VariableId,
    codes: Codes,
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

impl Beside {
    /// What a step looks up, if that is one column and it binds one other, of rows that all count and do not grow.
    pub(super) fn of(
        access: Access,
        key: &[(usize, KeyPart)],
        equal: &[(usize, usize)],
        outputs: &[(usize, VariableId)],
        view: &View<'_>,
    ) -> Result<Option<Beside>, ExecError> {
        let ([(from, part)], [], [(column, to)]) = (key, equal, outputs) else { return Ok(None) };
        let runs = view.runs(access);
        if view.growing.contains_key(&access.relation) || runs.iter().any(|run| run.live().is_some()) {
            return Ok(None);
        }
        let key = match part {
            KeyPart::Variable(variable) => Key::Variable(*variable),
            // The rows of one code lie side by side.
            KeyPart::Constant(_) if *from == 0 && runs.iter().all(Run::is_sorted) => return Ok(None),
            KeyPart::Constant(value) => Key::Constant(view.codec.encode(value.as_ref())?),
        };
        let one = match runs.as_slice() {
            [run] => {
                let cost = run.beside_cost(*from, *column, Pairing::Mapping);
                let mapping = view.budget.build(cost, |go_on| run.mapping(*from, *column, go_on))?;
                Some(mapping).filter(|mapping| mapping.is_some())
            }
            _ => None,
        };
        let codes = match one {
            Some(mapping) => Codes::One(mapping),
            // With more columns each pair of them would have its own edges, where one index serves all.
            None if view.arity(access.relation) == 2 && !runs.iter().any(|run| run.is_indexed_by(*from)) => {
                let neighbours = |run: &Run| {
                    let cost = run.beside_cost(*from, *column, Pairing::Neighbours);
                    view.budget.build(cost, |go_on| run.neighbours(*from, *column, go_on))
                };
                Codes::Many(runs.iter().map(neighbours).collect::<Result<_, _>>()?)
            }
            None => return Ok(None),
        };
        Ok(Some(Beside { key, to: *to, codes }))
    }

    /// Binds the other column for each binding. `emit` takes what is in `output`, whenever there is enough for a batch.
    pub(super) fn join(
        &self,
        input: &Bindings,
        keep: &[VariableId],
        output: &mut Bindings,
        mut emit: impl FnMut(&mut Bindings) -> Result<(), ExecError>,
    ) -> Result<(), ExecError> {
        let codes = match &self.key {
            Key::Variable(from) => Cow::Borrowed(input.column(*from)),
            Key::Constant(code) => Cow::Owned(vec![*code; input.len]),
        };
        match &self.codes {
            Codes::One(mapping) => {
                output.clear();
                if let Some(mapping) = mapping.as_ref() {
                    self.map(mapping, &codes, input, keep, output);
                }
                emit(output)
            }
            Codes::Many(runs) => {
                runs.iter().try_for_each(|run| self.expand(run, &codes, input, keep, output, &mut emit))
            }
        }
    }

    fn map(
        &self,
        mapping: &Mapping,
        codes: &[Code],
        input: &Bindings,
        keep: &[VariableId],
        output: &mut Bindings,
    ) {
        if mapping.apply(codes, output.column_mut(self.to)) {
            output.copy(input, keep);
            return;
        }
        let mapped = output.column_mut(self.to);
        let is_found = |position: &u32| mapped[*position as usize] != EMPTY;
        let positions: Vec<u32> = (0..input.len as u32).filter(is_found).collect();
        mapped.retain(|code| *code != EMPTY);
        output.gather(input, keep, &positions);
    }

    fn expand(
        &self,
        run: &Neighbours,
        codes: &[Code],
        input: &Bindings,
        keep: &[VariableId],
        output: &mut Bindings,
        emit: &mut impl FnMut(&mut Bindings) -> Result<(), ExecError>,
    ) -> Result<(), ExecError> {
        let mut positions: Vec<u32> = Vec::with_capacity(BATCH);
        let mut outcome = Ok(());
        output.clear();
        run.of_all(codes, |position, beside| {
            for beside in beside.chunks(BATCH) {
                output.column_mut(self.to).extend_from_slice(beside);
                positions.extend(std::iter::repeat_n(position as u32, beside.len()));
                if positions.len() >= BATCH {
                    output.gather(input, keep, &positions);
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
        output.gather(input, keep, &positions);
        emit(output)
    }
}
