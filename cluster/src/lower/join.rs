//! Two flows, joined by the variables that they share; and rows without others.

use std::sync::Arc;

use arrow::compute::SortOptions;
use datafusion_common::{JoinType, NullEquality, Result};
use datafusion_physical_plan::ExecutionPlanProperties;
use datafusion_physical_plan::joins::{HashJoinExec, JoinOn, PartitionMode, SortMergeJoinExec};
use stratalog_engine::data::VariableId;

use super::Lowering;
use super::flow::{Expr, Flow, Plan, column, constant, in_one, parted, projected, sorted};

impl Lowering<'_> {
    /// The pairs of rows that agree in what they share.
    pub(super) fn joined(&self, left: Flow, right: Flow) -> Result<Flow> {
        let shared: Vec<VariableId> =
            left.variables.iter().copied().filter(|variable| right.position(*variable).is_some()).collect();
        // The smaller side is the one that is held.
        let (held, passing) = if left.bytes() <= right.bytes() { (left, right) } else { (right, left) };
        let is_new = |variable: &VariableId| held.position(*variable).is_none();
        let added: Vec<VariableId> = passing.variables.iter().copied().filter(is_new).collect();
        let rows = held.rows.max(passing.rows);
        let variables: Vec<VariableId> =
            held.variables.iter().copied().chain(added.iter().copied()).collect();
        let (held_key, passing_key);
        let (held_plan, passing_plan);
        if shared.is_empty() {
            // All rows agree in a column that is the same everywhere.
            (held_plan, held_key) = with_constant(&held)?;
            (passing_plan, passing_key) = with_constant(&passing)?;
        } else {
            held_key = shared.iter().map(|variable| held.column(*variable)).collect::<Vec<_>>();
            passing_key = shared.iter().map(|variable| passing.column(*variable)).collect::<Vec<_>>();
            (held_plan, passing_plan) = (Arc::clone(&held.plan), Arc::clone(&passing.plan));
        }
        let width = held_plan.schema().fields().len();
        let of_held = held.variables.iter().filter_map(|variable| held.position(*variable));
        let of_passing = added.iter().filter_map(|variable| passing.position(*variable)).map(|at| width + at);
        let output: Vec<usize> = of_held.chain(of_passing).collect();
        let is_shared = held.bytes() <= self.settings.shared_bytes;
        let sides = Sides { held: held_plan, passing: passing_plan, held_key, passing_key };
        let plan = self.pairs(sides, JoinType::Inner, is_shared)?;
        let columns = output.iter().map(|position| column(&plan, *position)).collect();
        Ok(Flow { plan: projected(&plan, columns)?, variables, rows })
    }

    /// The rows of a flow that agree with no row of another one in what they share.
    pub(super) fn absent(&self, flow: Flow, other: Flow) -> Result<Flow> {
        let shared = other.variables.clone();
        let is_shared = other.bytes() <= self.settings.shared_bytes;
        let (held, held_key, passing, passing_key);
        if shared.is_empty() {
            (held, held_key) = with_constant(&other)?;
            (passing, passing_key) = with_constant(&flow)?;
        } else {
            held_key = shared.iter().map(|variable| other.column(*variable)).collect();
            passing_key = shared.iter().map(|variable| flow.column(*variable)).collect();
            (held, passing) = (other.plan, Arc::clone(&flow.plan));
        }
        let plan =
            self.pairs(Sides { held, passing, held_key, passing_key }, JoinType::RightAnti, is_shared)?;
        let columns = (0..flow.variables.len()).map(|position| column(&plan, position)).collect();
        Ok(Flow { plan: projected(&plan, columns)?, ..flow })
    }

    /// `Inner`: the columns of what is held, then those of what passes. `RightAnti`: the latter alone.
    fn pairs(&self, sides: Sides, join: JoinType, is_shared: bool) -> Result<Plan> {
        let Sides { held, passing, held_key, passing_key } = sides;
        let on: JoinOn = held_key.iter().cloned().zip(passing_key.iter().cloned()).collect();
        if is_shared {
            return hashed(in_one(held), passing, on, join, PartitionMode::CollectLeft);
        }
        let parts = self.settings.partitions;
        let held = parted(held, held_key.clone(), parts)?;
        let passing = parted(passing, passing_key.clone(), parts)?;
        if self.way.sorts {
            return merged(sorted(held, &held_key), sorted(passing, &passing_key), on, join);
        }
        hashed(held, passing, on, join, PartitionMode::Partitioned)
    }
}

/// What is joined.
struct Sides {
    held: Plan,
    passing: Plan,
    held_key: Vec<Expr>,
    passing_key: Vec<Expr>,
}

/// The rows of a flow with one more column, in which all agree.
fn with_constant(flow: &Flow) -> Result<(Plan, Vec<Expr>)> {
    let width = flow.plan.schema().fields().len();
    let mut columns: Vec<Expr> = (0..width).map(|position| column(&flow.plan, position)).collect();
    columns.push(constant(0));
    let plan = projected(&flow.plan, columns)?;
    let key = vec![column(&plan, width)];
    Ok((plan, key))
}

/// The rows of one plan that another one does not have. Both are cut into parts in the same way.
pub(crate) fn without(rows: Plan, known: Plan, holds_known: bool, sorts: bool) -> Result<Plan> {
    debug_assert_eq!(
        rows.output_partitioning().partition_count(),
        known.output_partitioning().partition_count()
    );
    let all = |plan: &Plan| -> Vec<Expr> {
        (0..plan.schema().fields().len()).map(|position| column(plan, position)).collect()
    };
    let (of_rows, of_known) = (all(&rows), all(&known));
    if sorts {
        let on = of_rows.iter().cloned().zip(of_known.iter().cloned()).collect();
        return merged(sorted(rows, &of_rows), sorted(known, &of_known), on, JoinType::LeftAnti);
    }
    match holds_known {
        true => {
            let on = of_known.into_iter().zip(of_rows).collect();
            hashed(known, rows, on, JoinType::RightAnti, PartitionMode::Partitioned)
        }
        false => {
            let on = of_rows.into_iter().zip(of_known).collect();
            hashed(rows, known, on, JoinType::LeftAnti, PartitionMode::Partitioned)
        }
    }
}

fn hashed(left: Plan, right: Plan, on: JoinOn, join: JoinType, mode: PartitionMode) -> Result<Plan> {
    // No code is null.
    let equality = NullEquality::NullEqualsNothing;
    Ok(Arc::new(HashJoinExec::try_new(left, right, on, None, &join, None, mode, equality, false)?))
}

fn merged(left: Plan, right: Plan, on: JoinOn, join: JoinType) -> Result<Plan> {
    let (order, equality) = (vec![SortOptions::default(); on.len()], NullEquality::NullEqualsNothing);
    Ok(Arc::new(SortMergeJoinExec::try_new(left, right, on, None, join, order, equality)?))
}
