//! A recursion that falls apart: part by part, without rounds.

use foldhash::HashMap;
use stratalog_engine::analysis::program::{Rule, Stratum};
use stratalog_engine::data::RelationId;
use stratalog_engine::exec::ExecError;
use stratalog_engine::plan::Partitions;

use super::Evaluation;
use crate::inputs::Inputs;
use crate::lower::Way;
use crate::table::Table;

impl Evaluation<'_> {
    /// Along which column a recursion falls apart, if each part can read all else that it reads.
    pub(super) fn falls_apart(&self, stratum: &Stratum) -> Option<Partitions> {
        let partitions = Partitions::of(stratum, self.program).filter(|_| stratum.recursive)?;
        let bytes: usize = self.read_besides(stratum).iter().map(|read| self.table(*read).bytes()).sum();
        (bytes <= self.settings.carried_bytes).then_some(partitions)
    }

    /// What the rules of a recursion read that is complete.
    fn read_besides(&self, stratum: &Stratum) -> Vec<RelationId> {
        let is_own = |relation: RelationId| stratum.relations.contains(&relation);
        let recursive = stratum.rules.iter().filter(|rule| rule.reads().any(is_own));
        let mut read: Vec<RelationId> =
            recursive.flat_map(Rule::reads).filter(|read| !is_own(*read)).collect();
        read.sort_unstable();
        read.dedup();
        read
    }

    /// Evaluates a recursion that falls apart: part by part, without rounds.
    pub(super) fn in_parts(
        &self,
        stratum: &Stratum,
        partitions: Partitions,
        way: Way,
    ) -> Result<HashMap<RelationId, Table>, ExecError> {
        let Partitions { relation, column } = partitions;
        let (arity, key) = (self.program.relations[relation.index()].arity, vec![column]);
        let mut others = Inputs::default();
        for read in self.read_besides(stratum) {
            others.0.insert(self.program.relations[read.index()].name.clone(), self.runs(read)?);
        }
        let layers = match self.exits(relation, stratum, &key, way)? {
            None => Vec::new(),
            Some(seeds) => {
                let lowering = self.lowering(way);
                let parts = lowering.in_parts(seeds, stratum, self.program, partitions, others);
                let layer = self.written(parts, &key)?;
                self.computation.budget().note_rows(layer.rows());
                vec![layer]
            }
        };
        Ok([(relation, Table::of_layers(arity, key, layers))].into_iter().collect())
    }
}
