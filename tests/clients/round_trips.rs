//! Random rows of random types through every format of files and back: the same rows.

use std::io::BufWriter;
use std::sync::Arc;

use proptest::prelude::*;
use stratalog_client::Value;
use stratalog_client::arrow::array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray, TimestampMillisecondArray,
};
use stratalog_client::arrow::datatypes::{DataType, Field, Float32Type, Int8Type, Schema, TimeUnit};
use stratalog_client::files::{
    Column, ColumnType, FileFormat, FileReader, FileWriter, ReadOptions, WriteOptions, rows,
};

/// A value by what it holds.
#[derive(Debug, Clone)]
struct Cell {
    int: i64,
    float: f64,
    bool: bool,
    time: i64,
    text: String,
    vector: Vec<f32>,
    bytes: Vec<i8>,
    /// Which of these it is in a column of any type.
    kind: usize,
    null: bool,
}

/// Text that is easily taken for something else, and any other.
fn text() -> impl Strategy<Value = String> {
    let odd = [
        "",
        " ",
        "NA",
        "\\N",
        "\\\\N",
        "\"",
        "\"\"",
        "\"x\"",
        "x\"y",
        ",",
        "\t",
        "\n",
        "\r\n",
        "a,\"b\"\n",
        "1",
        "-1",
        "1.5",
        "007",
        "1e5",
        "true",
        "False",
        "[1, 2]",
        "[1 2]",
        "[]",
        "[a]",
        "null",
        "nan",
        "2025-11-21",
        "\u{feff}",
        "日本",
    ];
    prop_oneof![
        proptest::sample::select(odd.to_vec()).prop_map(str::to_owned),
        any::<String>(),
        "[ \t\r\n\"\\\\,NA1]{0,6}"
    ]
}

fn time() -> impl Strategy<Value = i64> {
    prop_oneof![any::<i64>(), -62_200_000_000_000..253_500_000_000_000_i64, -9..9_i64]
}

fn cell() -> impl Strategy<Value = Cell> {
    let finite32 = any::<f32>().prop_filter("vectors are finite", |x| x.is_finite());
    let finite64 = any::<f64>().prop_filter("floats are finite", |x| x.is_finite());
    let numbers = (any::<i64>(), prop_oneof![finite64, Just(1.0), Just(1e16)], any::<bool>(), time());
    let vectors = (proptest::collection::vec(finite32, 0..3), proptest::collection::vec(any::<i8>(), 0..3));
    (numbers, text(), vectors, 0..5_usize, proptest::bool::weighted(0.3)).prop_map(
        |((int, float, bool, time), text, (vector, bytes), kind, null)| Cell {
            int,
            float,
            bool,
            time,
            text,
            vector,
            bytes,
            kind,
            null,
        },
    )
}

const TYPES: [ColumnType; 9] = [
    ColumnType::Int,
    ColumnType::Float,
    ColumnType::Text,
    ColumnType::Bool,
    ColumnType::Timestamp,
    ColumnType::Vector(None),
    ColumnType::VectorInt8(None),
    ColumnType::List,
    ColumnType::Any,
];

fn array(column_type: ColumnType, cells: &[&Cell]) -> ArrayRef {
    fn some<'c, T>(cells: &[&'c Cell], value: impl Fn(&'c Cell) -> T) -> Vec<Option<T>> {
        cells.iter().map(|cell| (!cell.null).then(|| value(cell))).collect()
    }
    match column_type {
        ColumnType::Int => Arc::new(Int64Array::from(some(cells, |cell| cell.int))),
        ColumnType::Float => Arc::new(Float64Array::from(some(cells, |cell| cell.float))),
        ColumnType::Text => Arc::new(StringArray::from(some(cells, |cell| cell.text.as_str()))),
        ColumnType::Bool => Arc::new(BooleanArray::from(some(cells, |cell| cell.bool))),
        ColumnType::Timestamp => {
            let times = TimestampMillisecondArray::from(some(cells, |cell| cell.time));
            Arc::new(times.with_timezone("UTC"))
        }
        ColumnType::Vector(_) => {
            let vectors = some(cells, |cell| cell.vector.iter().map(|x| Some(*x)));
            Arc::new(stratalog_client::arrow::array::ListArray::from_iter_primitive::<Float32Type, _, _>(
                vectors,
            ))
        }
        ColumnType::VectorInt8(_) => {
            let vectors = some(cells, |cell| cell.bytes.iter().map(|x| Some(*x)));
            Arc::new(stratalog_client::arrow::array::ListArray::from_iter_primitive::<Int8Type, _, _>(
                vectors,
            ))
        }
        ColumnType::List => Arc::new(StringArray::from(some(cells, |cell| {
            format!("[{}, [{}], {}]", json(cell), cell.int, cell.bool)
        }))),
        ColumnType::Any => Arc::new(StringArray::from(some(cells, json))),
    }
}

/// The JSON of a value, as it stands in a column of any type.
fn json(cell: &Cell) -> String {
    let value = match cell.kind {
        0 => Value::Int(cell.int),
        1 => Value::Float(cell.float),
        2 => Value::Bool(cell.bool),
        3 => Value::Vector(cell.vector.iter().map(|x| f64::from(*x)).collect()),
        _ => Value::Text(cell.text.clone()),
    };
    serde_json::to_string(&value).unwrap()
}

fn field(name: &str, column_type: ColumnType, array: &ArrayRef) -> Field {
    let data_type = match column_type {
        ColumnType::Timestamp => DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into())),
        _ => array.data_type().clone(),
    };
    let field = Field::new(name, data_type, true);
    match column_type {
        ColumnType::List | ColumnType::Any => {
            field.with_metadata([("stratalog.type".to_owned(), "any".to_owned())].into())
        }
        _ => field,
    }
}

/// The rows of a batch after they were in a file.
fn through(
    batch: &RecordBatch,
    columns: &[Column],
    format: FileFormat,
    null: Option<&str>,
) -> Vec<Vec<Value>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f").with_extension(format.name());
    let null = null.map(str::to_owned);
    let options = WriteOptions { null: null.clone(), ..WriteOptions::default() };
    let out = BufWriter::new(std::fs::File::create(&path).unwrap());
    let mut writer = FileWriter::new(out, format, &batch.schema(), &options).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    let options = ReadOptions { columns: Some(columns.to_vec()), null, ..ReadOptions::default() };
    let reader = FileReader::open(&path, &options).unwrap();
    let text = || String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
    reader
        .flat_map(|batch| rows(&batch.unwrap_or_else(|error| panic!("{error}\n{}", text()))).unwrap())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn what_is_written_is_read_back(
        types in proptest::collection::vec(proptest::sample::select(TYPES.to_vec()), 1..4),
        cells in proptest::collection::vec(proptest::collection::vec(cell(), 3), 1..6),
        null in proptest::sample::select(vec![None, Some("NA"), Some("\\N"), Some("")]),
    ) {
        let names = ["name", "x \"y\"", "NA"];
        let column = |(at, column_type): (usize, &ColumnType)| Column { name: names[at].to_owned(), column_type: *column_type };
        let columns: Vec<Column> = types.iter().enumerate().map(column).collect();
        let arrays: Vec<ArrayRef> = (0..columns.len())
            .map(|at| array(types[at], &cells.iter().map(|row| &row[at]).collect::<Vec<_>>()))
            .collect();
        let fields: Vec<Field> =
            columns.iter().zip(&arrays).map(|(column, array)| field(&column.name, column.column_type, array)).collect();
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap();
        let expected = rows(&batch).unwrap();
        for format in [FileFormat::Csv, FileFormat::Tsv, FileFormat::JsonLines, FileFormat::Parquet, FileFormat::Arrow] {
            let found = through(&batch, &columns, format, null);
            prop_assert_eq!(&found, &expected, "{}", format);
        }
    }
}
