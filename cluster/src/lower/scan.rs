//! The rows of a relation, and those that match an atom.

use std::sync::Arc;

use datafusion_common::Result;
use datafusion_datasource::PartitionedFile;
use datafusion_datasource::file_groups::FileGroup;
use datafusion_datasource::file_scan_config::FileScanConfigBuilder;
use datafusion_datasource::memory::MemorySourceConfig;
use datafusion_datasource::source::DataSourceExec;
use datafusion_datasource_parquet::source::ParquetSource;
use datafusion_physical_expr::expressions::Column;
use datafusion_physical_expr::{Partitioning, conjunction};
use datafusion_physical_plan::union::UnionExec;
use stratalog_engine::analysis::program::{Argument, Atom};
use stratalog_engine::data::VariableId;

use super::Lowering;
use super::flow::{Expr, Flow, Plan, column, constant, filtered, projected, same};
use crate::batches::schema;
use crate::failure::carried;
use crate::scratch::Scratch;
use crate::store::Store;
use crate::table::{Layer, Table};

/// All rows of a relation. Those in files keep their parts, where there are no others.
pub(crate) fn scan(table: &Table, scratch: &Scratch, parts: usize) -> Result<Plan> {
    let in_memory = || -> Result<Plan> {
        Ok(match scratch.published(&table.runs, parts)? {
            Some(layer) if layer.rows() > 0 => files(scratch.store(), table.arity, &[layer], None, parts),
            _ => MemorySourceConfig::try_new_exec(&table.heaps(parts), schema(table.arity), None)?,
        })
    };
    let in_files = || files(scratch.store(), table.arity, &table.layers, Some(&table.key), parts);
    match (table.runs.is_empty(), table.layers.is_empty()) {
        (_, true) => in_memory(),
        (true, false) => Ok(in_files()),
        (false, false) => UnionExec::try_new(vec![in_memory()?, in_files()]),
    }
}

/// The rows of layers, part by part. If they are cut by a key, that has to be said: else a part that has read its files reads those of
/// others, and what is joined part by part does not meet.
fn files(store: &Store, arity: usize, layers: &[Layer], key: Option<&[usize]>, parts: usize) -> Plan {
    let mut groups: Vec<Vec<PartitionedFile>> = vec![Vec::new(); parts];
    for (part, file) in layers.iter().flat_map(|layer| &layer.files) {
        groups[part % parts].push(PartitionedFile::new(file.object.clone(), file.bytes));
    }
    let schema = schema(arity);
    let of_key = |position: &usize| Arc::new(Column::new(schema.field(*position).name(), *position)) as Expr;
    let cut = key.map(|key| Partitioning::Hash(key.iter().map(of_key).collect(), parts));
    let source = Arc::new(ParquetSource::new(Arc::clone(&schema)));
    let config = FileScanConfigBuilder::new(store.url.clone(), source)
        .with_file_groups(groups.into_iter().map(FileGroup::new).collect())
        .with_output_partitioning(cut)
        .build();
    DataSourceExec::from_data_source(config)
}

impl Lowering<'_> {
    /// The rows that match an atom: a column a variable.
    pub(super) fn matches(&self, atom: &Atom, table: &Table) -> Result<Flow> {
        let plan = scan(table, self.scratch, self.settings.partitions)?;
        let mut variables: Vec<VariableId> = Vec::new();
        let mut firsts: Vec<Expr> = Vec::new();
        let mut conditions: Vec<Expr> = Vec::new();
        for (position, argument) in atom.arguments.iter().enumerate() {
            let codes = column(&plan, position);
            match argument {
                Argument::Any => {}
                Argument::Constant(value) => {
                    let code = self.computation.codec().encode(value.as_ref());
                    let code = code.map_err(|full| carried(full.into()))?;
                    conditions.push(same(codes, constant(code)));
                }
                Argument::Variable(variable) => match variables.iter().position(|other| other == variable) {
                    Some(first) => conditions.push(same(codes, Arc::clone(&firsts[first]))),
                    None => {
                        variables.push(*variable);
                        firsts.push(codes);
                    }
                },
            }
        }
        let selects = conditions.len() as u32;
        let plan = if conditions.is_empty() { plan } else { filtered(plan, conjunction(conditions))? };
        let rows = table.rows() >> (3 * selects).min(12);
        let is_as_it_was = firsts.len() == atom.arguments.len();
        let plan = if is_as_it_was { plan } else { projected(&plan, firsts)? };
        Ok(Flow { plan, variables, rows })
    }
}
