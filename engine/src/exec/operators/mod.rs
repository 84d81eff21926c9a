//! The operators of a rule's pipeline, one file each with its state, and the pipeline that runs them.

pub(crate) mod bar;

pub(crate) mod scan;

mod lookup;

mod probe;

mod range_probe;

mod adjacency;

mod merge;

mod semijoin;

mod intersect;

mod filter;

mod compute;

mod unnest;

mod operator;

pub(crate) mod pipeline;
