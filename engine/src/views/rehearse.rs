//! What steps of views need that lasts is made while nobody waits.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::kept::View;
use super::{Reading, Views};
use crate::analysis::program::{Program, Stratum};
use crate::budget::Budget;
use crate::data::RelationId;
use crate::exec::ExecError;
use crate::maintain::{self, Means, Named, Ordered, Step};

/// A state of the relations of a stratum, and of those that it reads.
type State = (Named, BTreeMap<String, Ordered>);

impl Views {
    /// Makes what the first steps would have to make of the views that a program reads, and changes nothing else.
    pub(crate) fn rehearse(
        &self,
        reading: &Reading,
        program: &Program,
        means: Means<'_>,
        budget: &Budget,
    ) -> Result<(), ExecError> {
        for stratum in &program.strata {
            self.rehearse_stratum(reading, program, stratum, means, budget)?;
        }
        Ok(())
    }

    fn rehearse_stratum(
        &self,
        reading: &Reading,
        program: &Program,
        stratum: &Stratum,
        means: Means<'_>,
        budget: &Budget,
    ) -> Result<(), ExecError> {
        let Some(first) = stratum.relations.first().filter(|first| !self.is_rehearsed(reading, **first))
        else {
            return Ok(());
        };
        let of_first = |view: &View| Some((Arc::clone(view.inputs.as_ref()?), view.cost.worth()));
        let Some((inputs, time)) = self.of_all(reading, *first, of_first).flatten() else { return Ok(()) };
        let rows = stratum.relations.iter().map(|relation| {
            let name = program.relations[relation.index()].name.clone();
            Some((name, self.current(reading, *relation)?))
        });
        let Some(rows) = rows.collect::<Option<Vec<_>>>() else { return Ok(()) };
        let old = rows.into_iter().map(|(name, rows)| (name, rows.in_order())).collect();
        let present: State = (inputs.relations(), old);
        let step = |before: Option<&State>, now: &Named, budget: &Budget| {
            let (before, old) = before.unwrap_or(&present);
            let step = Step { program, stratum, before, now, old, means };
            let advanced = maintain::advance(&step, budget)?;
            Ok(advanced.map(|advanced| (now.clone(), advanced.into_rows())))
        };
        maintain::rehearse(&present.0, time, budget, step)?;
        self.be_rehearsed(reading, stratum);
        Ok(())
    }

    /// Whether what steps of a view need is there.
    pub(super) fn is_rehearsed(&self, reading: &Reading, relation: RelationId) -> bool {
        self.of_all(reading, relation, |view| view.is_rehearsed).unwrap_or_default()
    }

    /// Something of the view of a relation that all see, whatever state it stands at.
    fn of_all<T>(&self, reading: &Reading, relation: RelationId, what: impl FnOnce(&View) -> T) -> Option<T> {
        let origin = reading.origin(relation).filter(|origin| !reading.is_own(origin))?;
        self.kept.read().get(&origin.meaning).map(what)
    }

    fn be_rehearsed(&self, reading: &Reading, stratum: &Stratum) {
        let mut kept = self.kept.write();
        for relation in &stratum.relations {
            let view = reading.origin(*relation).and_then(|origin| kept.get_mut(&origin.meaning));
            if let Some(view) = view {
                view.is_rehearsed = true;
                view.cost.be_prepared();
            }
        }
    }
}
