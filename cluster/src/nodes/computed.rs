//! `Computed` and `Holds`: expressions and comparisons of rules, computed by the engine.

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
use stratalog_engine::exec::Computation;

use crate::failure::carried;

/// Where the codes of variables come from.
#[derive(Debug, Clone)]
pub(crate) struct Inputs {
    pub(crate) computation: Computation,
    pub(crate) variables: Vec<VariableId>,
    /// A column a variable.
    pub(crate) columns: Vec<Arc<dyn PhysicalExpr>>,
}

impl Inputs {
    /// Calls `compute` with the columns of a batch.
    fn with<T>(
        &self,
        batch: &RecordBatch,
        compute: impl FnOnce(&[(VariableId, &[Code])]) -> Result<T>,
    ) -> Result<T> {
        let rows = batch.num_rows();
        let arrays = self.columns.iter().map(|column| column.evaluate(batch)?.into_array(rows));
        let arrays: Vec<ArrayRef> = arrays.collect::<Result<_>>()?;
        let codes = arrays.iter().map(|array| &array.as_primitive::<UInt32Type>().values()[..]);
        let columns: Vec<(VariableId, &[Code])> = self.variables.iter().copied().zip(codes).collect();
        compute(&columns)
    }

    fn reading(&self, columns: Vec<Arc<dyn PhysicalExpr>>) -> Inputs {
        Inputs { columns, ..self.clone() }
    }
}

// Which question it belongs to does not tell expressions of one plan apart.
impl PartialEq for Inputs {
    fn eq(&self, other: &Inputs) -> bool {
        self.variables == other.variables && self.columns == other.columns
    }
}

impl Hash for Inputs {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.variables.hash(state);
        self.columns.hash(state);
    }
}

/// The codes of an expression.
#[derive(Debug, PartialEq, Hash)]
pub(crate) struct Computed {
    pub(crate) inputs: Inputs,
    pub(crate) expression: Expression,
}

// A constant that is a float is the same as itself: analysis lets no NaN through.
impl Eq for Computed {}

impl fmt::Display for Computed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.expression.text(&|_| "_"))
    }
}

impl PhysicalExpr for Computed {
    fn data_type(&self, _: &Schema) -> Result<DataType> {
        Ok(DataType::UInt32)
    }

    fn nullable(&self, _: &Schema) -> Result<bool> {
        Ok(false)
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        let codes = self.inputs.with(batch, |columns| {
            self.inputs.computation.codes(&self.expression, columns, batch.num_rows()).map_err(carried)
        })?;
        Ok(ColumnarValue::Array(Arc::new(UInt32Array::from(codes))))
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        self.inputs.columns.iter().collect()
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn PhysicalExpr>>,
    ) -> Result<Arc<dyn PhysicalExpr>> {
        Ok(Arc::new(Computed { inputs: self.inputs.reading(children), expression: self.expression.clone() }))
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Whether a comparison holds.
#[derive(Debug, PartialEq, Hash)]
pub(crate) struct Holds {
    pub(crate) inputs: Inputs,
    pub(crate) test: Test,
    pub(crate) sides: [Expression; 2],
}

impl Eq for Holds {}

impl fmt::Display for Holds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [left, right] = self.sides.each_ref().map(|side| side.text(&|_| "_"));
        write!(f, "{}", self.test.text(&left, &right))
    }
}

impl PhysicalExpr for Holds {
    fn data_type(&self, _: &Schema) -> Result<DataType> {
        Ok(DataType::Boolean)
    }

    fn nullable(&self, _: &Schema) -> Result<bool> {
        Ok(false)
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        let sides = self.sides.each_ref();
        let holds = self.inputs.with(batch, |columns| {
            self.inputs.computation.holds(self.test, sides, columns, batch.num_rows()).map_err(carried)
        })?;
        Ok(ColumnarValue::Array(Arc::new(BooleanArray::from(holds))))
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        self.inputs.columns.iter().collect()
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn PhysicalExpr>>,
    ) -> Result<Arc<dyn PhysicalExpr>> {
        let inputs = self.inputs.reading(children);
        Ok(Arc::new(Holds { inputs, test: self.test, sides: self.sides.clone() }))
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
