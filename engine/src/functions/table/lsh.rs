//! Locality-sensitive hashing.

use crate::data::DataType;
use crate::functions::lsh;
use crate::functions::{Family, Gives, Parameter, ScalarFunction, Takes};

pub(super) const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "lsh_bucket",
        family: Family::Lsh,
        parameters: &[
            Parameter { name: "v", takes: Takes::Vector },
            Parameter { name: "table", takes: Takes::Int },
            Parameter { name: "planes", takes: Takes::Int },
        ],
        variadic: false,
        gives: Gives::Always(DataType::Int),
        doc: "The bucket of a vector: bit h is set if it lies above plane h of the table. At most 62 planes.",
        example: ("lsh_bucket([3, 4], 0, 8)", "136"),
        evaluate: lsh::lsh_bucket,
    },
    ScalarFunction {
        name: "lsh_probes",
        family: Family::Lsh,
        parameters: &[
            Parameter { name: "bucket", takes: Takes::Int },
            Parameter { name: "planes", takes: Takes::Int },
            Parameter { name: "count", takes: Takes::Int },
        ],
        variadic: false,
        gives: Gives::Always(DataType::Vector(None)),
        doc: "A bucket and its neighbours, as many as asked for: first those that differ in one bit, then in two, then in three.",
        example: ("lsh_probes(5, 3, 4)", "[5.0, 4.0, 7.0, 1.0]"),
        evaluate: lsh::lsh_probes,
    },
    ScalarFunction {
        name: "lsh_multi_probe",
        family: Family::Lsh,
        parameters: &[
            Parameter { name: "v", takes: Takes::Vector },
            Parameter { name: "table", takes: Takes::Int },
            Parameter { name: "planes", takes: Takes::Int },
            Parameter { name: "count", takes: Takes::Int },
        ],
        variadic: false,
        gives: Gives::Always(DataType::Vector(None)),
        doc: "The bucket of a vector and its neighbours; bits of planes that lie near the vector change first.",
        example: ("lsh_multi_probe([3, 4], 0, 8, 1)", "[136.0]"),
        evaluate: lsh::lsh_multi_probe,
    },
];
