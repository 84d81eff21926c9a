//! `Flow`: a plan whose columns are variables of a rule.

use std::sync::Arc;

use datafusion_common::{Result, ScalarValue};
use datafusion_expr::Operator;
use datafusion_physical_expr::expressions::{BinaryExpr, Column, lit};
use datafusion_physical_expr::{LexOrdering, Partitioning, PhysicalExpr, PhysicalSortExpr};
use datafusion_physical_plan::aggregates::{AggregateExec, AggregateMode, PhysicalGroupBy};
use datafusion_physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion_physical_plan::filter::FilterExec;
use datafusion_physical_plan::projection::ProjectionExec;
use datafusion_physical_plan::repartition::RepartitionExec;
use datafusion_physical_plan::sorts::sort::SortExec;
use datafusion_physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use stratalog_engine::data::{Code, VariableId};

pub(crate) type Plan = Arc<dyn ExecutionPlan>;
pub(crate) type Expr = Arc<dyn PhysicalExpr>;

/// Rows of bindings. Where no variable is bound there is one column all the same, as a row has to be something.
#[derive(Debug, Clone)]
pub(crate) struct Flow {
    pub(crate) plan: Plan,
    /// The variables that the first columns are.
    pub(crate) variables: Vec<VariableId>,
    /// About so many rows.
    pub(crate) rows: usize,
}

impl Flow {
    pub(crate) fn position(&self, variable: VariableId) -> Option<usize> {
        self.variables.iter().position(|other| *other == variable)
    }

    /// The column of a variable that is bound.
    pub(crate) fn column(&self, variable: VariableId) -> Expr {
        column(&self.plan, self.position(variable).expect("a variable that is bound"))
    }

    /// About so many bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.rows.saturating_mul(self.variables.len().max(1) * size_of::<Code>())
    }

    /// The same rows with these variables alone.
    pub(crate) fn keeping(self, keep: impl Fn(VariableId) -> bool) -> Result<Flow> {
        if self.variables.iter().all(|variable| keep(*variable)) {
            return Ok(self);
        }
        let kept: Vec<VariableId> =
            self.variables.iter().copied().filter(|variable| keep(*variable)).collect();
        let columns = kept.iter().map(|variable| self.column(*variable)).collect();
        Ok(Flow { plan: projected(&self.plan, columns)?, variables: kept, rows: self.rows })
    }
}

/// A column of a plan.
pub(crate) fn column(plan: &Plan, position: usize) -> Expr {
    Arc::new(Column::new(plan.schema().field(position).name(), position))
}

/// These columns of a plan.
pub(crate) fn columns(plan: &Plan, positions: &[usize]) -> Vec<Expr> {
    positions.iter().map(|position| column(plan, *position)).collect()
}

/// A constant.
pub(crate) fn constant(code: Code) -> Expr {
    lit(ScalarValue::UInt32(Some(code)))
}

/// Whether two codes are the same.
pub(crate) fn same(left: Expr, right: Expr) -> Expr {
    Arc::new(BinaryExpr::new(left, Operator::Eq, right))
}

/// A plan of these columns; of one that is always the same if there are none.
pub(crate) fn projected(plan: &Plan, mut columns: Vec<Expr>) -> Result<Plan> {
    if columns.is_empty() {
        columns.push(constant(0));
    }
    let named = columns.into_iter().enumerate().map(|(position, column)| (column, format!("c{position}")));
    Ok(Arc::new(ProjectionExec::try_new(named.collect::<Vec<_>>(), Arc::clone(plan))?))
}

/// The rows for which a condition holds.
pub(crate) fn filtered(plan: Plan, condition: Expr) -> Result<Plan> {
    Ok(Arc::new(FilterExec::try_new(condition, plan)?))
}

/// The same rows cut into so many parts by the hash of these columns; as they are, if they are cut so already.
pub(crate) fn parted(plan: Plan, by: Vec<Expr>, parts: usize) -> Result<Plan> {
    if let Partitioning::Hash(known, count) = plan.output_partitioning()
        && (*known == by, *count) == (true, parts)
    {
        return Ok(plan);
    }
    Ok(Arc::new(RepartitionExec::try_new(plan, Partitioning::Hash(by, parts))?))
}

/// The same rows in one part.
pub(crate) fn in_one(plan: Plan) -> Plan {
    match plan.output_partitioning().partition_count() {
        1 => plan,
        _ => Arc::new(CoalescePartitionsExec::new(plan)),
    }
}

/// Each part sorted by these columns; by none, it stays as it is.
pub(crate) fn sorted(plan: Plan, by: &[Expr]) -> Plan {
    let by = by.iter().map(|column| PhysicalSortExpr::new_default(Arc::clone(column)));
    match LexOrdering::new(by) {
        None => plan,
        Some(order) => Arc::new(SortExec::new(order, plan).with_preserve_partitioning(true)),
    }
}

/// Each row once, cut into so many parts by these columns.
pub(crate) fn distinct(plan: Plan, key: &[usize], parts: usize) -> Result<Plan> {
    let all = |plan: &Plan| {
        let schema = plan.schema();
        let named = schema.fields().iter().enumerate();
        PhysicalGroupBy::new_single(
            named.map(|(position, field)| (column(plan, position), field.name().clone())).collect(),
        )
    };
    let once = |mode, plan: Plan, schema| -> Result<Plan> {
        let groups = all(&plan);
        Ok(Arc::new(AggregateExec::try_new(mode, groups, Vec::new(), Vec::new(), plan, schema)?))
    };
    let schema = plan.schema();
    let in_parts = once(AggregateMode::Partial, plan, Arc::clone(&schema))?;
    let by = columns(&in_parts, key);
    once(AggregateMode::FinalPartitioned, parted(in_parts, by, parts)?, schema)
}
