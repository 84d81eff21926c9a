//! Ids are types: a `RelationId` never stands where a `VariableId` belongs.

/// Declares a dense id: a `u32` in a type of its own, which counts from 0.
macro_rules! id_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(u32);

        impl $name {
            /// The id with this number.
            pub fn new(index: usize) -> Self {
                Self(u32::try_from(index).expect("fewer than 2^32 of a kind"))
            }

            /// The number, for use as a position.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id_type! {
    /// A relation within one [`crate::analysis::Program`].
    RelationId
}
id_type! {
    /// A variable within one rule.
    VariableId
}
