//! What operators of one input have in common.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use datafusion_physical_expr::EquivalenceProperties;
use datafusion_physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion_physical_plan::{ExecutionPlan, ExecutionPlanProperties, Partitioning, PlanProperties};

/// What is known of the rows that such an operator makes of each part of its input.
pub(crate) fn properties(schema: SchemaRef, input: &Arc<dyn ExecutionPlan>) -> Arc<PlanProperties> {
    Arc::new(PlanProperties::new(
        EquivalenceProperties::new(schema),
        Partitioning::UnknownPartitioning(input.output_partitioning().partition_count()),
        EmissionType::Incremental,
        Boundedness::Bounded,
    ))
}

/// The parts of an [`ExecutionPlan`] that are the same for all operators that are made anew of another input by `over`.
macro_rules! single_input {
    () => {
        fn properties(&self) -> &Arc<datafusion_physical_plan::PlanProperties> {
            &self.properties
        }

        fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
            vec![&self.input]
        }

        fn apply_expressions(
            &self,
            _: &mut dyn FnMut(
                &Arc<dyn datafusion_physical_expr::PhysicalExpr>,
            ) -> Result<datafusion_common::tree_node::TreeNodeRecursion>,
        ) -> Result<datafusion_common::tree_node::TreeNodeRecursion> {
            Ok(datafusion_common::tree_node::TreeNodeRecursion::Continue)
        }

        fn replace_children(
            self: Arc<Self>,
            children: Vec<Arc<dyn ExecutionPlan>>,
            _: datafusion_physical_plan::execution_plan::ReplaceChildrenOptions,
        ) -> Result<Arc<dyn ExecutionPlan>> {
            let input = children.into_iter().next().expect("it has one input");
            Ok(Arc::new(self.over(input)))
        }

        fn with_new_children(
            self: Arc<Self>,
            children: Vec<Arc<dyn ExecutionPlan>>,
        ) -> Result<Arc<dyn ExecutionPlan>> {
            let input = children.into_iter().next().expect("it has one input");
            Ok(Arc::new(self.over(input)))
        }
    };
}

pub(crate) use single_input;
