//! `Schema`: the declared columns of a relation.

use super::DataType;

/// Named, typed columns, as declared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schema {
    /// The columns in order.
    pub columns: Vec<SchemaColumn>,
}

/// One declared column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaColumn {
    /// Its name.
    pub name: String,
    /// Its type.
    pub data_type: DataType,
}

impl Schema {
    /// The number of columns.
    pub fn arity(&self) -> usize {
        self.columns.len()
    }
}
