//! What somebody else has brought forward, as one who follows a question does with all that it derives: it is there for all.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::{Reading, Views, inputs_of};
use crate::analysis::program::Program;
use crate::data::RelationId;
use crate::graph::SessionView;
use crate::maintain::KeptRows;

impl Views {
    /// Whether there are views, at the state of a question, of those among these relations that can be kept, and there are such.
    pub(crate) fn have_all(&self, reading: &Reading, wanted: &HashSet<RelationId>) -> bool {
        let mut kept = wanted.iter().filter(|relation| reading.may_keep(**relation)).peekable();
        kept.peek().is_some() && kept.all(|relation| self.current(reading, *relation).is_some())
    }

    /// What somebody has brought to the state of a question is in the place of the views of an earlier one.
    pub(crate) fn put(
        &self,
        reading: &Reading,
        program: &Program,
        rows: &BTreeMap<String, Arc<KeptRows>>,
        view: &SessionView,
    ) {
        let rows_of = |name: &str| rows.get(name).or_else(|| reading.rows.get(name)).cloned();
        for stratum in &program.strata {
            let others = stratum.relations.iter().filter_map(|relation| {
                let rows = rows.get(&program.relations[relation.index()].name)?;
                self.has_others(reading, *relation, rows).then_some((*relation, rows))
            });
            let others: Vec<(RelationId, &Arc<KeptRows>)> = others.collect();
            let Some((first, _)) = others.first() else { continue };
            // Without what it follows from nobody could bring it further.
            let Some(inputs) = inputs_of(*first, reading, program, view, rows_of) else { continue };
            others.iter().for_each(|(relation, rows)| self.replace(reading, *relation, rows, &inputs, view));
        }
    }

    /// Whether there is a view of a relation that all see, of other rows than these.
    fn has_others(&self, reading: &Reading, relation: RelationId, rows: &Arc<KeptRows>) -> bool {
        let origin = reading.origin(relation).filter(|origin| !reading.is_own(origin));
        let kept = self.kept.read();
        let known = origin.and_then(|origin| kept.get(&origin.meaning));
        known.is_some_and(|known| !Arc::ptr_eq(&known.rows, rows))
    }
}
