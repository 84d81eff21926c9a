//! Vectors.

use crate::data::DataType;
use crate::functions::vector;
use crate::functions::{Family, Gives, Parameter, ScalarFunction, Takes};

pub(super) const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "euclidean",
        family: Family::Vector,
        parameters: &[
            Parameter { name: "v", takes: Takes::Vector },
            Parameter { name: "w", takes: Takes::Vector },
        ],
        variadic: false,
        gives: Gives::Always(DataType::Float),
        doc: "The distance; null if the lengths differ.",
        example: ("euclidean([1, 0], [0, 2])", "2.23606797749979"),
        evaluate: vector::euclidean,
    },
    ScalarFunction {
        name: "manhattan",
        family: Family::Vector,
        parameters: &[
            Parameter { name: "v", takes: Takes::Vector },
            Parameter { name: "w", takes: Takes::Vector },
        ],
        variadic: false,
        gives: Gives::Always(DataType::Float),
        doc: "The sum of the distances in each dimension; null if the lengths differ.",
        example: ("manhattan([1, 0], [0, 2])", "3.0"),
        evaluate: vector::manhattan,
    },
    ScalarFunction {
        name: "cosine",
        family: Family::Vector,
        parameters: &[
            Parameter { name: "v", takes: Takes::Vector },
            Parameter { name: "w", takes: Takes::Vector },
        ],
        variadic: false,
        gives: Gives::Always(DataType::Float),
        doc: "One minus the cosine of the angle, from 0 to 2; 1 for a zero vector, null if the lengths differ.",
        example: ("cosine([3, 4], [1, 0])", "0.4"),
        evaluate: vector::cosine,
    },
    ScalarFunction {
        name: "dot",
        family: Family::Vector,
        parameters: &[
            Parameter { name: "v", takes: Takes::Vector },
            Parameter { name: "w", takes: Takes::Vector },
        ],
        variadic: false,
        gives: Gives::Always(DataType::Float),
        doc: "The inner product: a similarity, not a distance; 0 if the lengths differ.",
        example: ("dot([1, 2], [3, 4])", "11.0"),
        evaluate: vector::dot,
    },
    ScalarFunction {
        name: "normalize",
        family: Family::Vector,
        parameters: &[Parameter { name: "v", takes: Takes::Vector }],
        variadic: false,
        gives: Gives::Always(DataType::Vector(None)),
        doc: "The vector of length 1 in the same direction; a zero vector stays.",
        example: ("normalize([0, 5])", "[0.0, 1.0]"),
        evaluate: vector::normalize,
    },
    ScalarFunction {
        name: "vec_dim",
        family: Family::Vector,
        parameters: &[Parameter { name: "v", takes: Takes::Vector }],
        variadic: false,
        gives: Gives::Always(DataType::Int),
        doc: "The number of dimensions.",
        example: ("vec_dim([1, 2, 3])", "3"),
        evaluate: vector::vec_dim,
    },
    ScalarFunction {
        name: "vec_add",
        family: Family::Vector,
        parameters: &[
            Parameter { name: "v", takes: Takes::Vector },
            Parameter { name: "w", takes: Takes::Vector },
        ],
        variadic: false,
        gives: Gives::Always(DataType::Vector(None)),
        doc: "The sum; null if the lengths differ.",
        example: ("vec_add([1, 2], [3, 4])", "[4.0, 6.0]"),
        evaluate: vector::vec_add,
    },
    ScalarFunction {
        name: "vec_scale",
        family: Family::Vector,
        parameters: &[
            Parameter { name: "v", takes: Takes::Vector },
            Parameter { name: "factor", takes: Takes::Number },
        ],
        variadic: false,
        gives: Gives::Always(DataType::Vector(None)),
        doc: "Every element times a number.",
        example: ("vec_scale([1, 2], 2.5)", "[2.5, 5.0]"),
        evaluate: vector::vec_scale,
    },
];
