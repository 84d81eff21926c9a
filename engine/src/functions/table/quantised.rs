//! Quantised vectors.

use crate::data::DataType;
use crate::functions::quantise;
use crate::functions::{Family, Gives, Parameter, ScalarFunction, Takes};

pub(super) const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "quantize_linear",
        family: Family::Quantised,
        parameters: &[Parameter { name: "v", takes: Takes::Vector }],
        variadic: false,
        gives: Gives::Always(DataType::VectorInt8(None)),
        doc: "The smallest element becomes -128, the largest 127; all are 0 where they are equal.",
        example: ("quantize_linear([1, 2, 3])", "[-128, -1, 127]"),
        evaluate: quantise::quantize_linear,
    },
    ScalarFunction {
        name: "quantize_symmetric",
        family: Family::Quantised,
        parameters: &[Parameter { name: "v", takes: Takes::Vector }],
        variadic: false,
        gives: Gives::Always(DataType::VectorInt8(None)),
        doc: "The element farthest from zero becomes 127 or -127, and 0 stays 0.",
        example: ("quantize_symmetric([1, 2, 3])", "[42, 85, 127]"),
        evaluate: quantise::quantize_symmetric,
    },
    ScalarFunction {
        name: "dequantize",
        family: Family::Quantised,
        parameters: &[Parameter { name: "q", takes: Takes::VectorInt8 }],
        variadic: false,
        gives: Gives::Always(DataType::Vector(None)),
        doc: "The integers as floats.",
        example: ("dequantize(quantize_symmetric([1, 2, 3]))", "[42.0, 85.0, 127.0]"),
        evaluate: quantise::dequantize,
    },
    ScalarFunction {
        name: "dequantize_scaled",
        family: Family::Quantised,
        parameters: &[
            Parameter { name: "q", takes: Takes::VectorInt8 },
            Parameter { name: "scale", takes: Takes::Number },
        ],
        variadic: false,
        gives: Gives::Always(DataType::Vector(None)),
        doc: "The integers times a number.",
        example: ("dequantize_scaled(quantize_symmetric([1, -1]), 0.5)", "[63.5, -63.5]"),
        evaluate: quantise::dequantize_scaled,
    },
    ScalarFunction {
        name: "euclidean_int8",
        family: Family::Quantised,
        parameters: &[
            Parameter { name: "q", takes: Takes::VectorInt8 },
            Parameter { name: "r", takes: Takes::VectorInt8 },
        ],
        variadic: false,
        gives: Gives::Always(DataType::Float),
        doc: "The distance; null if the lengths differ.",
        example: (
            "euclidean_int8(quantize_symmetric([3, 0]), quantize_symmetric([0, 3]))",
            "179.60512242138307",
        ),
        evaluate: quantise::euclidean_int8,
    },
    ScalarFunction {
        name: "manhattan_int8",
        family: Family::Quantised,
        parameters: &[
            Parameter { name: "q", takes: Takes::VectorInt8 },
            Parameter { name: "r", takes: Takes::VectorInt8 },
        ],
        variadic: false,
        gives: Gives::Always(DataType::Float),
        doc: "The sum of the distances in each dimension; null if the lengths differ.",
        example: ("manhattan_int8(quantize_symmetric([3, 0]), quantize_symmetric([0, 3]))", "254.0"),
        evaluate: quantise::manhattan_int8,
    },
    ScalarFunction {
        name: "dot_int8",
        family: Family::Quantised,
        parameters: &[
            Parameter { name: "q", takes: Takes::VectorInt8 },
            Parameter { name: "r", takes: Takes::VectorInt8 },
        ],
        variadic: false,
        gives: Gives::Always(DataType::Float),
        doc: "The inner product; 0 if the lengths differ.",
        example: ("dot_int8(quantize_symmetric([1, 2, 3]), quantize_symmetric([1, 0, 0]))", "5334.0"),
        evaluate: quantise::dot_int8,
    },
    ScalarFunction {
        name: "cosine_int8",
        family: Family::Quantised,
        parameters: &[
            Parameter { name: "q", takes: Takes::VectorInt8 },
            Parameter { name: "r", takes: Takes::VectorInt8 },
        ],
        variadic: false,
        gives: Gives::Always(DataType::Float),
        doc: "One minus the cosine of the angle; 1 for a zero vector, null if the lengths differ.",
        example: ("cosine_int8(quantize_symmetric([1, 0]), quantize_symmetric([0, 1]))", "1.0"),
        evaluate: quantise::cosine_int8,
    },
];
