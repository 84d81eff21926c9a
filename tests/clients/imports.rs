//! Files that hold what is easily lost: each value comes in as it is, or is refused with its place.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, Decimal128Array, Float64Array, Int64Array, ListArray, RecordBatch, StringArray,
    TimestampMicrosecondArray,
};
use arrow::datatypes::Float64Type;
use parquet::arrow::ArrowWriter;
use stratalog_tests::cli;
use stratalog_tests::place::Place;

fn parquet(path: &Path, columns: &[(&str, ArrayRef)]) {
    let batch = RecordBatch::try_from_iter(columns.iter().cloned()).unwrap();
    let mut writer = ArrowWriter::try_new(fs::File::create(path).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

/// A parameter of the command line is not rounded either.
#[test]
fn numbers_that_would_be_rounded_stay_text_or_are_refused() {
    let place = Place::new();
    place.write("ids.csv", "id,x\n9007199254740993,1\n9007199254740992,1.10\n2.5,1e5\n");
    let done = place.run(&["import", "ids", "ids.csv"]);
    assert!(done.err.contains("declared ids(id: string, x: float)"), "{}", done.err);
    assert_eq!(place.ok(&["-c", "?count<I> <- ids(I, _)", "--csv", "--no-header"]), "3\n");
    // What comes after the beginning, by which types are guessed, and in columns that are declared.
    let err = place.refused(&["import", "r", "ids.csv", "--columns", "id: float, x: float"]);
    assert!(err.contains("ids.csv:2: `9007199254740993` would be rounded to a float"), "{err}");
    place.write("ids.jsonl", "{\"id\":1.5}\n{\"id\":9007199254740993}\n{\"id\":9007199254740992}\n");
    let done = place.run(&["import", "some", "ids.jsonl"]);
    assert!(
        done.err.contains("declared some(id: any)") && done.err.contains("inserted 3 facts"),
        "{}",
        done.err
    );
    for number in ["123456789012345678901", "-9223372036854775809"] {
        place.write("large.jsonl", &format!("{{\"id\":1}}\n{{\"id\":{number}}}\n"));
        let err = place.refused(&["import", "r", "large.jsonl"]);
        assert!(err.contains(&format!("large.jsonl:2: `{number}` is beyond 64 bits with sign")), "{err}");
    }
    let done = place.run(&["-c", "?ids($n, _)", "--param", "n=123456789012345678901"]);
    assert_eq!(done.code, Some(2));
    assert!(done.err.contains("beyond 64 bits"), "{}", done.err);
}

#[test]
fn json_integers_beyond_63_bits_are_not_rounded_to_floats() {
    let place = Place::new();
    place.write("large.jsonl", "{\"x\":9223372036854775808}\n{\"x\":9223372036854775809}\n");
    let err = place.refused(&["import", "r", "large.jsonl", "--columns", "x: float"]);
    assert!(err.contains("large.jsonl:2: x: `9223372036854775809` would be rounded to a float"), "{err}");
    place.write("exact.jsonl", "{\"x\":9223372036854775808}\n{\"x\":1.5}\n");
    place.ok(&["import", "exact", "exact.jsonl", "--columns", "x: float"]);
    assert_eq!(place.ok(&["-c", "?exact(X:asc)", "--csv"]), "x\n1.5\n9.223372036854776e+18\n");
}

#[test]
fn an_import_in_parts_keeps_what_is_committed() {
    let place = Place::new();
    let lines: String = (0..2500).map(|n| format!("{n}\n")).collect();
    place.write("codes.csv", &format!("code\n{lines}none\n"));
    let import = ["import", "code", "codes.csv", "--columns", "code: int", "--commit-every", "1000"];
    let done = place.run(&import);
    assert_eq!(done.code, Some(1), "{}", done.err);
    assert!(
        done.err
            .contains("the first 2000 rows are committed, the rest is not: codes.csv:2502: `none` is no int"),
        "{}",
        done.err
    );
    let count = ["-c", "?count<X> <- code(X)", "--csv", "--no-header"];
    assert_eq!(place.ok(&count), "2000\n");
    let done = place.run(&[&import[..], &["--on-error", "skip"]].concat());
    assert!(
        done.err.contains("inserted 500 facts into code, 2000 known before, 1 record skipped"),
        "{}",
        done.err
    );
    assert_eq!(place.ok(&count), "2500\n");
    assert_eq!(place.run(&["import", "code", "codes.csv", "--commit-every", "0"]).code, Some(2));
}

#[test]
fn times_finer_than_milliseconds_are_cut_with_a_warning_or_refused() {
    let place = Place::new();
    place.write("t.csv", "at\n2025-11-21T10:00:00.123456Z\n2025-11-21T10:00:00.123457Z\n");
    let err = place.refused(&["import", "t", "t.csv", "--exact"]);
    assert!(err.contains("`2025-11-21T10:00:00.123456Z` is finer than milliseconds"), "{err}");
    let done = place.run(&["import", "t", "t.csv"]);
    assert!(done.err.contains("declared t(at: timestamp)"), "{}", done.err);
    let warning = "warning: t.csv: column `at`: 2 values, as in `2025-11-21T10:00:00.123456Z`, are finer than milliseconds";
    assert!(done.err.contains(warning), "{}", done.err);
    assert!(done.err.contains("inserted 1 fact into t, 1 known before"), "{}", done.err);
    place.write("u.jsonl", "{\"at\":\"2025-11-21T10:00:00.120Z\"}\n{\"at\":\"2025-11-21T10:00:00.1234Z\"}\n");
    let declared = ["import", "r", "u.jsonl", "--columns", "at: timestamp", "--exact"];
    let err = place.refused(&declared);
    assert!(err.contains("u.jsonl:2: at: `2025-11-21T10:00:00.1234Z` is finer than milliseconds"), "{err}");
    let done = place.run(&declared[..5]);
    assert!(done.err.contains("1 value, `2025-11-21T10:00:00.1234Z`"), "{}", done.err);
    place.ok(&["-c", ".rel drop r"]);
    let done = place.run(&declared[..3]);
    assert!(done.err.contains("declared r(at: string)"), "{}", done.err);
    place.ok(&["-c", ".rel drop r"]);
    let times: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![1_000, 1_001]));
    parquet(&place.path("t.parquet"), &[("at", times)]);
    let err = place.refused(&["import", "r", "t.parquet", "--exact"]);
    assert!(err.contains("t.parquet: row 2, column `at`: `1970-01-01T00:00:00.001001`"), "{err}");
    let done = place.run(&["import", "r", "t.parquet"]);
    assert!(done.err.contains("is finer than milliseconds"), "{}", done.err);
    assert_eq!(place.ok(&["-c", "?count<A> <- r(A)", "--csv", "--no-header"]), "1\n");
    place.ok(&["import", "s", "t.parquet", "--columns", "at: string"]);
    assert_eq!(place.ok(&["-c", "?count<A> <- s(A)", "--csv", "--no-header"]), "2\n");
}

#[test]
fn decimals_are_not_rounded() {
    let place = Place::new();
    let decimals = |values: &[i128], precision, scale| -> ArrayRef {
        let array = Decimal128Array::from_iter_values(values.iter().copied());
        Arc::new(array.with_precision_and_scale(precision, scale).unwrap())
    };
    let (id, price) =
        (decimals(&[9_007_199_254_740_993, 9_007_199_254_740_992], 38, 0), decimals(&[110, 111], 9, 2));
    parquet(&place.path("d.parquet"), &[("id", id), ("price", price)]);
    let done = place.run(&["import", "d", "d.parquet"]);
    assert!(done.err.contains("declared d(id: int, price: float)"), "{}", done.err);
    assert_eq!(
        place.ok(&["-c", "?d(I:asc, P)", "--csv", "--no-header"]),
        "9007199254740992,1.11\n9007199254740993,1.1\n"
    );
    parquet(
        &place.path("large.parquet"),
        &[("id", decimals(&[1, 10_i128.pow(30), 10_i128.pow(30) + 1], 38, 0))],
    );
    let err = place.refused(&["import", "r", "large.parquet"]);
    assert!(
        err.contains("row 2, column `id`: `1000000000000000000000000000000` is no integer of 64 bits"),
        "{err}"
    );
    place.ok(&["import", "r", "large.parquet", "--columns", "id: string"]);
    assert_eq!(place.ok(&["-c", "?count<I> <- r(I)", "--csv", "--no-header"]), "3\n");
}

/// NaN is how many programs write that there is no number. An infinity is a mistake.
#[test]
fn what_is_no_number_is_told_and_infinities_are_refused() {
    let place = Place::new();
    let floats = |values: Vec<f64>| -> ArrayRef { Arc::new(Float64Array::from(values)) };
    parquet(&place.path("nan.parquet"), &[("x", floats(vec![1.0, f64::NAN, 2.0]))]);
    let warning = "warning: nan.parquet: 1 value was NaN, and is null";
    assert!(place.run(&["import", "p", "nan.parquet"]).err.contains(warning));
    place.write("nan.csv", "x,y\n1.5,a\nNaN,b\nnan,c\n");
    let done = place.run(&["import", "c", "nan.csv", "--columns", "x: float, y: string"]);
    assert!(done.err.contains("warning: nan.csv: 2 values were NaN, and are null"), "{}", done.err);
    assert_eq!(place.ok(&["-c", "?c(X, \"b\")", "--csv", "--no-header"]), ",b\n");
    parquet(
        &place.path("inf.parquet"),
        &[("y", floats(vec![0.0; 3])), ("x", floats(vec![1.0, 2.0, f64::INFINITY]))],
    );
    let err = place.refused(&["import", "r", "inf.parquet"]);
    assert!(err.contains("inf.parquet: row 3, column `x`: an infinite number cannot be stored"), "{err}");
    place.write("inf.csv", "x\n1.5\ninf\n");
    assert!(
        place
            .refused(&["import", "r", "inf.csv", "--columns", "x: float"])
            .contains("inf.csv:3: `inf` is no float")
    );
    let lists =
        ListArray::from_iter_primitive::<Float64Type, _, _>([Some(vec![Some(1.0)]), Some(vec![Some(1e300)])]);
    parquet(&place.path("v.parquet"), &[("v", Arc::new(lists))]);
    assert!(
        place
            .refused(&["import", "r", "v.parquet"])
            .contains("v.parquet: row 2, column `v`: a vector has a number")
    );
    place.write("v.jsonl", "{\"v\":[1]}\n{\"v\":[1e300]}\n");
    // What no vector holds is a list.
    let done = place.run(&["import", "r", "v.jsonl"]);
    assert!(done.err.contains("declared r(v: list)"), "{}", done.err);
}

#[test]
fn a_declaration_that_cannot_follow_is_refused_before_anything_is_sent() {
    let place = Place::new();
    place.write("r.csv", "1,2\n");
    for (columns, part) in [
        ("a b: int, c: int", "the column `a b` cannot be declared"),
        ("a: int, a: int", "two columns of r are called `a`"),
        ("1a: int, b: int", "cannot be declared"),
    ] {
        let err = place.refused(&["import", "r", "r.csv", "--no-header", "--columns", columns]);
        assert!(err.contains("r.csv: ") && err.contains(part), "{err}");
    }
    let err = place.refused(&["import", "_invalid_r", "r.csv", "--no-header"]);
    assert!(err.contains("r.csv: `_invalid_r` begins with `_invalid_`"), "{err}");
    let columns = |names: [&'static str; 2]| -> [(&'static str, ArrayRef); 2] {
        let ints = |n: i64| -> ArrayRef { Arc::new(Int64Array::from(vec![n])) };
        [(names[0], ints(1)), (names[1], ints(2))]
    };
    parquet(&place.path("odd.parquet"), &columns(["People (2020)", "b c"]));
    let done = place.run(&["import", "odd", "odd.parquet"]);
    assert!(done.err.contains("declared odd(People_2020: int, b_c: int)"), "{}", done.err);
    // Names and types that are asked for count for Parquet as for text, and those of a relation do.
    let done = place.run(&["import", "named", "odd.parquet", "--columns", "n: float, s: string"]);
    assert!(done.err.contains("declared named(n: float, s: string)"), "{}", done.err);
    assert_eq!(place.ok(&["-c", "?named(N, S)", "--format", "jsonl"]), "{\"n\":1.0,\"s\":\"2\"}\n");
    let err = place.refused(&["import", "r", "odd.parquet", "--columns", "n: bool, s: string"]);
    assert!(err.contains("the column `People (2020)` is of type int, which is no bool"), "{err}");
    let err = place.refused(&["import", "r", "odd.parquet", "--columns", "n: int"]);
    assert!(err.contains("odd.parquet: 2 columns, expected 1"), "{err}");
    parquet(&place.path("swapped.parquet"), &columns(["TO", "From"]));
    place.ok(&["-c", "+way(from: int, to: int)"]);
    place.ok(&["import", "way", "swapped.parquet"]);
    assert_eq!(place.ok(&["-c", "?way(F, T)", "--csv"]), "from,to\n2,1\n");
}

#[test]
fn columns_find_each_other_in_capitals_or_not() {
    let place = Place::new();
    place.ok(&["-c", "+owns(owner: string, owned: string)"]);
    place.write("a.csv", "Owned,Owner\nacme,ada\n");
    let done = place.run(&["import", "owns", "a.csv"]);
    assert!(!done.err.contains("warning"), "{}", done.err);
    place.write("b.csv", "who,what\nbob,bolts\n");
    let done = place.run(&["import", "owns", "b.csv"]);
    let warning =
        "warning: b.csv: the columns who, what have other names than owner, owned: they went by position";
    assert!(done.err.contains(warning), "{}", done.err);
    assert_eq!(place.ok(&["-c", "?owns(A:asc, B)", "--csv"]), "owner,owned\nada,acme\nbob,bolts\n");
}

#[test]
fn one_column_comes_back_with_its_nulls() {
    let place = Place::new();
    place.ok(&["-c", "+one(s: string)\n+one[(null), (\"\"), (\"a\")]\n+v(v: vector_int8, w: any)"]);
    place.ok(&["-c", "+v[([1, -2], [0.5, 1.0]), (null, \"[0.5 1.0]\"), ([3, 4], \"\")]"]);
    for name in ["f.csv", "f.tsv"] {
        for (relation, count) in [("one", 3), ("v", 3)] {
            place.ok(&["export", relation, name]);
            let done = place.run(&["import", relation, name]);
            let known = format!("inserted 0 facts into {relation}, {count} known before");
            assert!(done.err.contains(&known), "{name}: {}\n{}", done.err, place.read(name));
        }
    }
}

#[test]
fn quotes_and_keys_that_hide_something_are_refused() {
    let place = Place::new();
    let types = ["--columns", "a: string, b: string"];
    for (text, line, part) in [
        ("a,b\n1,\"x\"y\n", 2, "text follows a closing quote"),
        ("a,b\n1,x\n1,\"x\"\"", 3, "a quote is opened here and never closed"),
    ] {
        place.write("q.csv", text);
        let err = place.refused(&[&["import", "r", "q.csv"][..], &types].concat());
        assert!(err.contains(&format!("q.csv:{line}: {part}")), "{err}");
    }
    // It would take all that follows with it.
    place.write("q.csv", "a,b\n1,x\n2,\"y\n3,z\n4,z\n");
    let err = place.refused(&[&["import", "r", "q.csv", "--on-error", "skip"][..], &types].concat());
    assert!(err.contains("q.csv:3: a quote is opened here and never closed"), "{err}");
    place.write("k.jsonl", "{\"a\":1}\n{\"a\":1,\"a\":2}\n");
    assert!(place.refused(&["import", "r", "k.jsonl"]).contains("k.jsonl:2: the key `a` comes twice"));
}

#[test]
fn what_the_server_refuses_names_the_file() {
    let place = Place::new();
    place.ok(&["-c", "+r(a: int)"]);
    parquet(&place.path("r.parquet"), &[("a", Arc::new(StringArray::from(vec!["1", "x"])))]);
    let err = place.run(&["import", "r", "r.parquet"]).err;
    assert!(err.contains("r.parquet: row 2, column `a`: `x` is no int"), "{err}");
    place.ok(&["-c", "+d(X) <- r(X)"]);
    place.write("d.csv", "A\n1\n");
    let err = place.run(&["import", "d", "d.csv"]).err;
    assert!(err.contains("]: d.csv: "), "{err}");
}

#[test]
fn blank_nodes_are_of_one_file_as_it_is() {
    let place = Place::new();
    let count = |expected: &str| {
        let found = place.ok(&["-c", "?count_distinct<S> <- g(S, _, _)", "--csv", "--no-header"]);
        assert_eq!(found.trim(), expected);
    };
    let text = "_:b <http://e/p> \"x\" .\n";
    for folder in ["one", "two"] {
        fs::create_dir(place.path(folder)).unwrap();
        place.write(&format!("{folder}/d.nt"), text);
        let mut command = place.command();
        command.current_dir(place.path(folder));
        assert_eq!(cli::run(command, &["import", "g", "d.nt"], "").code, Some(0));
    }
    count("2");
    // Once more, by another name, it is the same file.
    place.ok(&["import", "g", "one/../one/d.nt"]);
    count("2");
    place.write("one/d.nt", "_:b <http://e/p> \"xy\" .\n");
    place.ok(&["import", "g", "one/d.nt"]);
    count("3");
    for _ in 0..2 {
        let done = cli::run(place.command(), &["import", "g", "-", "--format", "nt"], text);
        assert_eq!(done.code, Some(0), "{}", done.err);
    }
    count("5");
    fs::write(place.path("mark.ttl"), "\u{feff}@prefix e: <http://e/> .\ne:a e:p 1 .\n").unwrap();
    place.ok(&["import", "g", "mark.ttl"]);
    count("6");
}

#[test]
fn predicates_are_checked_before_anything_is_sent() {
    let place = Place::new();
    let names: String = (0..40_000).map(|n| format!("<http://e/{n}> <http://e/age> {n} .\n")).collect();
    place.write("a.ttl", &format!("{names}<http://e/x> <http://e/name> \"Ada\" .\n"));
    place.ok(&["-c", "+pp_name(subject: string, object: int)"]);
    let done = place.run(&["import", "pp_*", "a.ttl"]);
    assert_eq!(done.code, Some(1));
    assert!(done.err.contains("a.ttl: an object of `pp_name`: `\"Ada\"` is no int"), "{}", done.err);
    assert_eq!(place.run(&["-c", "?pp_age(_, _)"]).code, Some(1));
    // What fits goes in, as what the relation holds.
    place.ok(&["-c", ".rel drop pp_name\n+pp_name(who: string, what: any)\n+pp_age(s: string, o: float)"]);
    place.ok(&["import", "pp_*", "a.ttl"]);
    assert_eq!(place.ok(&["-c", "?pp_name(W, N)", "--csv"]), "who,what\n<http://e/x>,Ada\n");
    assert_eq!(place.ok(&["-c", "?max<A> <- pp_age(_, A)", "--csv", "--no-header"]), "39999.0\n");
    // A pipe comes but once.
    assert!(Command::new("mkfifo").arg(place.path("pipe.nt")).status().unwrap().success());
    for file in ["pipe.nt", "-"] {
        let done = place.run(&["import", "pp_*", file, "--format", "nt"]);
        assert_eq!(done.code, Some(1));
        assert!(done.err.contains("it is read more than once, which only a file can be"), "{}", done.err);
    }
}

/// However wide rows are, no more than some mebibytes of them are in memory at once.
#[test]
fn wide_rows_are_sent_a_few_at_a_time() {
    let place = Place::new();
    let import = |name: &str, rows: usize| {
        let texts: Vec<String> = (0..rows).map(|row| format!("{row}{}", "x".repeat(100 << 10))).collect();
        let texts: ArrayRef = Arc::new(StringArray::from(texts));
        parquet(&place.path(name), &[("text", texts)]);
        let (peak, err) = place.watched(&["import", "wide", name]);
        assert!(err.contains("facts into wide"), "{err}");
        peak
    };
    let growth = import("many.parquet", 2000).saturating_sub(import("few.parquet", 100));
    assert!(growth < 64 << 20, "memory grew by {growth}");
}
