//! The facts of a workload: a folder with a tab-separated file for each relation.

use std::path::PathBuf;

/// The folder.
pub struct Facts {
    folder: PathBuf,
}

impl Facts {
    /// The facts in a folder.
    pub fn of(folder: impl Into<PathBuf>) -> Facts {
        Facts { folder: folder.into() }
    }

    /// All rows of a relation.
    pub fn read<R: Fields>(&self, relation: &str) -> Vec<R> {
        let path = self.folder.join(relation).with_extension("tsv");
        let text = std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
        text.lines().map(R::of).collect()
    }
}

/// A row that can be read from a line.
pub trait Fields {
    /// The row with the fields of this line.
    fn of(line: &str) -> Self;
}

impl Fields for u32 {
    fn of(line: &str) -> u32 {
        line.parse().expect("a small integer")
    }
}

macro_rules! fields {
    ($($($column:ident)+;)+) => { $(
        impl Fields for ($(number!($column),)+) {
            fn of(line: &str) -> Self {
                let mut fields = line.split('\t').map(u32::of);
                ($({
                    let $column = fields.next().expect("a field for each column");
                    $column
                },)+)
            }
        }
    )+ };
}

macro_rules! number {
    ($column:ident) => {
        u32
    };
}

fields! {
    a;
    a b;
    a b c;
    a b c d;
    a b c d e;
    a b c d e f;
}
