//! Attached relations: what is in their files is put aside as codes, each row once and cut into parts, and is a table like others.

use std::sync::Arc;

use stratalog_engine::data::RelationId;
use stratalog_engine::exec::ExecError;

use super::Evaluation;
use crate::nodes::AttachedExec;
use crate::table::Table;

impl Evaluation<'_> {
    /// Reads the attached relations of the program, unless they are in memory.
    pub(crate) fn read_attached(&mut self) -> Result<(), ExecError> {
        for (id, relation) in
            self.program.relations.iter().enumerate().filter(|(_, relation)| relation.stored)
        {
            let Some(files) = self.relations.files(&relation.name) else { continue };
            if !self.relations.runs(&relation.name).is_empty() {
                continue;
            }
            let (arity, parts) = (relation.arity, self.settings.threads);
            let groups = files.groups(self.computation.budget())?;
            let read = AttachedExec::new(files.clone(), arity, groups, parts, self.computation.clone());
            // Whatever column has few values, parts are about equally large.
            let key: Vec<usize> = (0..arity).collect();
            let layers = match self.distinct(vec![Arc::new(read)], &key)? {
                Some(rows) => vec![self.written(rows, &key)?],
                None => Vec::new(),
            };
            self.tables.insert(RelationId::new(id), Table::of_layers(arity, key, layers));
        }
        Ok(())
    }
}
