//! `Computed`: what rules say of values, computed by the engine.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BooleanArray, RecordBatch, UInt32Array};
use arrow::datatypes::{DataType, Schema, UInt32Type};
use datafusion_common::Result;
use datafusion_expr::ColumnarValue;
use datafusion_physical_expr::PhysicalExpr;
use stratalog_engine::analysis::program::{Expression, Test};
use stratalog_engine::data::{Code, VariableId};
use stratalog_engine::exec::{Computation, ExecError};

use crate::failure::carried;

/// What is computed for each row.
#[derive(Debug, Clone, PartialEq, Hash)]
pub(crate) enum Wanted {
    /// The code of a value.
    Code(Expression),
    /// Whether a comparison of two values holds.
    Holds(Test, [Expression; 2]),
}

/// A column that the engine computes.
#[derive(Debug, Clone)]
pub(crate) struct Computed {
    pub(crate) computation: Computation,
    pub(crate) wanted: Wanted,
    /// The variables that it reads, and a column of codes for each.
    pub(crate) variables: Vec<VariableId>,
    pub(crate) columns: Vec<Arc<dyn PhysicalExpr>>,
}

impl Computed {
    fn compute(&self, columns: &[(VariableId, &[Code])], rows: usize) -> Result<ArrayRef, ExecError> {
        Ok(match &self.wanted {
            Wanted::Code(expression) => {
                Arc::new(UInt32Array::from(self.computation.codes(expression, columns, rows)?))
            }
            Wanted::Holds(test, sides) => Arc::new(BooleanArray::from(self.computation.holds(
                *test,
                sides.each_ref(),
                columns,
                rows,
            )?)),
        })
    }
}

// Expressions of one plan belong to one question: its values do not tell them apart.
impl PartialEq for Computed {
    fn eq(&self, other: &Computed) -> bool {
        (&self.wanted, &self.variables, &self.columns) == (&other.wanted, &other.variables, &other.columns)
    }
}

impl Eq for Computed {}

impl Hash for Computed {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.wanted, &self.variables, &self.columns).hash(state);
    }
}

impl fmt::Display for Computed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |expression: &Expression| expression.text(&|_| "_");
        match &self.wanted {
            Wanted::Code(expression) => f.write_str(&text(expression)),
            Wanted::Holds(test, [left, right]) => f.write_str(&test.text(&text(left), &text(right))),
        }
    }
}

impl PhysicalExpr for Computed {
    fn data_type(&self, _: &Schema) -> Result<DataType> {
        Ok(match self.wanted {
            Wanted::Code(_) => DataType::UInt32,
            Wanted::Holds(..) => DataType::Boolean,
        })
    }

    fn nullable(&self, _: &Schema) -> Result<bool> {
        Ok(false)
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        let rows = batch.num_rows();
        let arrays = self.columns.iter().map(|column| column.evaluate(batch)?.into_array(rows));
        let arrays: Vec<ArrayRef> = arrays.collect::<Result<_>>()?;
        let codes = arrays.iter().map(|array| &array.as_primitive::<UInt32Type>().values()[..]);
        let columns: Vec<(VariableId, &[Code])> = self.variables.iter().copied().zip(codes).collect();
        Ok(ColumnarValue::Array(self.compute(&columns, rows).map_err(carried)?))
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        self.columns.iter().collect()
    }

    fn with_new_children(
        self: Arc<Self>,
        columns: Vec<Arc<dyn PhysicalExpr>>,
    ) -> Result<Arc<dyn PhysicalExpr>> {
        Ok(Arc::new(Computed { columns, ..(*self).clone() }))
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
