//! Files as others write them: JSON arrays, compressed files, other encodings, quads, types that are named, numbers
//! that are times. What is exported is imported as the same relation, without a declaration before it.

use std::fs;
use std::process::Command;
use std::sync::Arc;

use parquet::arrow::ArrowWriter;
use stratalog_client::arrow::array::{ArrayRef, Int64Array, ListArray, RecordBatch};
use stratalog_client::arrow::datatypes::Int64Type;
use stratalog_tests::place::Place;

const EVERYTHING: &str = "\
+q(name: string, n: int, x: float, yes: bool, at: timestamp, v: vector(2))
+q[(\"ada\", 1, 2.0, true, 1763722625250, [0.5, 1.0]),
 (\"日本, \\\"quoted\\\"\\nline\", -5, 0.1, false, -4861036800000, [1.0, 2.5]),
 (\"\", 9007199254740993, 1.0e300, null, 1763722625000, null),
 (null, null, null, null, null, null)]";

fn columns(place: &Place, relation: &str) -> String {
    place.ok(&["-c", &format!(".rel describe {relation}"), "--csv", "--no-header"])
}

fn rows(place: &Place, relation: &str) -> String {
    place.ok(&["-c", &format!("?{relation}(Name:asc, N, X, Yes, At, V)"), "--format", "jsonl"])
}

/// Columns, types, nulls, vectors and times, in every format that holds tables, compressed or not.
#[test]
fn what_is_exported_is_imported_as_the_same_relation() {
    let place = Place::new();
    place.ok(&["-c", EVERYTHING]);
    let (columns_before, rows_before) = (columns(&place, "q"), rows(&place, "q"));
    let plain = ["csv", "tsv", "json", "jsonl", "parquet", "arrow"].map(str::to_owned);
    let text = ["csv", "tsv", "json", "jsonl"];
    let compressed = text.iter().flat_map(|format| ["gz", "zst"].map(|ending| format!("{format}.{ending}")));
    for (at, ending) in plain.into_iter().chain(compressed).enumerate() {
        let (file, copy) = (format!("q.{ending}"), format!("q_{at}"));
        place.ok(&["export", "q", &file]);
        place.ok(&["import", &copy, &file]);
        assert_eq!(columns(&place, &copy), columns_before, "{file}");
        assert_eq!(rows(&place, &copy), rows_before, "{file}");
    }
    // Other programs read what is compressed, and what they compress is read, whatever its name.
    let unpacked = Command::new("gzip").args(["-dc", "q.csv.gz"]).current_dir(place.folder.path()).output();
    assert_eq!(String::from_utf8(unpacked.unwrap().stdout).unwrap(), place.read("q.csv"));
    let packed = Command::new("gzip").args(["-c", "q.jsonl"]).current_dir(place.folder.path()).output();
    fs::write(place.path("packed.jsonl"), packed.unwrap().stdout).unwrap();
    place.ok(&["import", "packed", "packed.jsonl"]);
    assert_eq!(rows(&place, "packed"), rows_before);
}

/// Strings that look like something else come back as strings; files of others that put everything into quotes are guessed.
#[test]
fn quotes_tell_strings_that_look_like_numbers() {
    let place = Place::new();
    place.ok(&["-c", "+q(zip: string, day: string, yes: string, n: int)\n+q[(\"1234\", \"2025-11-21\", \"true\", 1), (\"5\", \"2025-11-22\", \"false\", 2)]"]);
    for (at, ending) in ["csv", "tsv", "csv.gz", "jsonl", "parquet"].into_iter().enumerate() {
        let (file, copy) = (format!("q.{ending}"), format!("q_{at}"));
        place.ok(&["export", "q", &file]);
        place.ok(&["import", &copy, &file]);
        assert_eq!(columns(&place, &copy), columns(&place, "q"), "{file}");
    }
    assert!(place.read("q.csv").contains("\"1234\",\"2025-11-21\",\"true\",1"));
    // A pipe is cut up by others.
    assert!(place.ok(&["-c", "?q(A, B, C, 1)"]).contains("1234\t2025-11-21\ttrue"));
    place.write("all.csv", "\"a\",\"b\"\n1,\"2\"\n");
    place.ok(&["import", "all", "all.csv"]);
    assert_eq!(columns(&place, "all"), "a,int\nb,int\n");
    // Names that need their quotes say nothing of values.
    place.write("odd.csv", "\"a,b\"\n\"1\"\n");
    place.ok(&["import", "odd", "odd.csv"]);
    assert_eq!(columns(&place, "odd"), "a_b,string\n");
}

/// Also where all values look like numbers, which would become the same ones.
#[test]
fn versions_stay_strings() {
    let place = Place::new();
    place.ok(&["-c", "+ver(version: string)\n+ver[\"1.10\", \"1.1\", \"2.0\"]"]);
    for (file, more) in
        [("v.csv", ""), ("v.tsv", ""), ("bare.csv", "--no-header"), ("bare.tsv", "--no-header")]
    {
        let copy = file.replace('.', "_");
        let line = |what: [&str; 3]| {
            what.into_iter().chain([more]).filter(|word| !word.is_empty()).map(str::to_owned).collect()
        };
        for line in [line(["export", "ver", file]), line(["import", &copy, file])] as [Vec<String>; 2] {
            place.ok(&line.iter().map(String::as_str).collect::<Vec<_>>());
        }
        assert!(columns(&place, &copy).contains(",string"), "{file}");
        let same = format!("?count<V> <- ver(V), {copy}(V)");
        assert_eq!(place.ok(&["-c", &same, "--csv", "--no-header"]), "3\n", "{file}");
    }
}

/// How many facts a relation of this declaration has after a file was imported into it, and how many of them the other has.
fn both(place: &Place, copy: &str, declaration: &str, file: &str, other: &str) -> String {
    place.ok(&["-c", declaration]);
    place.ok(&["import", copy, file]);
    let ask = format!("?count<X> <- {copy}(X)\n");
    let all = place.ok(&["-c", &ask, "--csv", "--no-header"]);
    let same = place.ok(&["-c", &format!("?count<X> <- {copy}(X), {other}(X)"), "--csv", "--no-header"]);
    format!("{} {}", all.trim(), same.trim())
}

/// A list and a vector of the same numbers are two values.
#[test]
fn lists_and_vectors_come_back_as_what_they_were() {
    let place = Place::new();
    let lists = "(list(9007199254740993)), (list(9007199254740992)), (list(\"k, \\\"q\\\"\", list(16777217))), (list())";
    let mixed = "(list(1, 2)), ([1.0, 2.0]), (list(1.0, 2.0)), (list()), (1), (\"list(1)\"), (\"[1 2]\"), (list([0.5], list(0.5))), \
                 (list(\"a\\tb\\n\\\\\", null, true))";
    for (name, kind, values, count) in
        [("la", "any", lists, "4"), ("mx", "any", mixed, "9"), ("li", "list", lists, "4")]
    {
        place.ok(&["-c", &format!("+{name}(a: {kind})\n+{name}[{values}]")]);
        for format in ["csv", "tsv", "json", "jsonl", "parquet", "arrow"] {
            let (file, copy) = (format!("{name}.{format}"), format!("{name}_{format}"));
            place.ok(&["export", name, &file]);
            let found = both(&place, &copy, &format!("+{copy}(a: {kind})"), &file, name);
            assert_eq!(found, format!("{count} {count}"), "{file}");
        }
    }
    // What is declared to hold anything is described so, also when it holds but lists.
    assert_eq!(columns(&place, "la"), "a,any\n");
}

/// Integers that no 32-bit float holds are no elements of a vector.
#[test]
fn arrays_of_large_integers_are_lists() {
    let place = Place::new();
    place.write(
        "i.jsonl",
        "{\"id\":1,\"ids\":[16777217,123456789]}\n{\"id\":1,\"ids\":[16777216,123456792]}\n{\"id\":2,\"ids\":[1,2]}\n",
    );
    let done = place.run(&["import", "i", "i.jsonl"]);
    assert!(done.err.contains("declared i(id: int, ids: list)"), "{}", done.err);
    assert!(done.err.contains("inserted 3 facts"), "{}", done.err);
    assert_eq!(
        place.ok(&["-c", "?i(1, L), X = element(L, 0)", "--csv", "--no-header"]).matches("1677721").count(),
        4
    );
    let told = place.refused(&["import", "r", "i.jsonl", "--types", "ids=vector"]);
    assert!(
        told.contains("i.jsonl:1: ids: `[16777217,123456789]` has a number") && told.contains("rounded"),
        "{told}"
    );
    place.write("i.csv", "id,ids\n1,\"[16777217, 1]\"\n");
    place.ok(&["import", "c", "i.csv"]);
    assert!(columns(&place, "c").contains("ids,list"));
    place.write("v.jsonl", "{\"v\":[0.1,16777216,1]}\n");
    place.ok(&["import", "v", "v.jsonl"]);
    assert!(columns(&place, "v").contains("v,vector(3)"));
    // In Parquet they are refused, and taken as lists on request.
    let numbers = [Some(vec![Some(16_777_217), Some(1)]), None];
    let lists: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>(numbers));
    let batch = RecordBatch::try_from_iter([("ids", lists)]).unwrap();
    let file = fs::File::create(place.path("i.parquet")).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let told = place.refused(&["import", "r", "i.parquet"]);
    assert!(told.contains("row 1, column `ids`: `[16777217, 1]`") && told.contains("`list`"), "{told}");
    place.ok(&["import", "p", "i.parquet", "--types", "ids=list"]);
    assert_eq!(place.ok(&["-c", "?p(L), X in L", "--csv", "--no-header"]).matches("16777217").count(), 3);
}

#[test]
fn a_file_under_a_wrong_name_is_told_by_what_it_is() {
    let place = Place::new();
    place.ok(&["-c", "+q(a: int)\n+q[(1), (2)]"]);
    place.ok(&["export", "q", "q.parquet"]);
    place.ok(&["export", "q", "q.arrow"]);
    place.ok(&["export", "q", "q.csv.gz"]);
    place.ok(&["export", "q", "q.csv.zst"]);
    for (file, name, found, help) in [
        ("q.parquet", "r.csv", "this is a Parquet file", "--format parquet"),
        ("q.arrow", "r.jsonl", "this is an Arrow file", "--format arrow"),
        ("q.arrow", "r.parquet", "this is an Arrow file", "--format arrow"),
        ("q.parquet", "r.arrow", "this is a Parquet file", "--format parquet"),
        ("q.csv.gz", "r.parquet", "compressed by gzip", "decompress"),
        ("q.csv.zst", "r.arrow", "compressed by Zstandard", "decompress"),
    ] {
        fs::copy(place.path(file), place.path(name)).unwrap();
        let told = place.refused(&["import", "r", name]);
        assert!(told.contains(found) && told.contains(help), "{name}: {told}");
    }
}

#[test]
fn a_broken_or_doubly_compressed_file_is_refused() {
    let place = Place::new();
    place.ok(&["-c", "+q(a: int)\n+q[(1), (2), (3)]"]);
    place.ok(&["export", "q", "q.csv.gz"]);
    let whole = fs::read(place.path("q.csv.gz")).unwrap();
    fs::write(place.path("half.csv.gz"), &whole[..whole.len() - 9]).unwrap();
    assert!(place.refused(&["import", "r", "half.csv.gz"]).contains("half.csv.gz: "));
    for line in [["export", "q", "q.parquet.gz"], ["import", "r", "q.arrow.zst"]] {
        assert!(place.refused(&line).contains("leave out the second ending"), "{line:?}");
    }
    assert_eq!(place.names(), ["half.csv.gz", "q.csv.gz"]);
    // Answers are added to a compressed file, too, and a full disk is told.
    let done = place.run(&["export", "q", "/dev/full", "--format", "json"]);
    assert!(done.code == Some(1) && done.err.contains("No space left on device"), "{}", done.err);
}

#[test]
fn json_is_an_array_over_any_lines() {
    let place = Place::new();
    place.write("a.json", "[\n  {\"name\": \"Ada, ]}\",\n   \"born\": \"1815-12-10T00:00:00Z\",\n   \"v\": [1, 2.5]},\n  {\"name\": null}\n]\n");
    place.ok(&["import", "a", "a.json"]);
    assert_eq!(
        columns(&place, "a").lines().map(|line| line.split(',').nth(1).unwrap()).collect::<Vec<_>>(),
        ["string", "timestamp", "vector(2)"]
    );
    // Text that is no time as we write it is text.
    place.write("b.json", "[{\"day\": \"2025-11-21\"}]");
    place.ok(&["import", "b", "b.json"]);
    assert!(columns(&place, "b").contains("day,string"));
    for (text, problem) in [
        ("[{\"a\": 1},\n{\"a\": 2", "r.json:2: what begins here is not closed"),
        ("[{\"a\": 1}", "the array is not closed"),
        ("[{\"a\": 1},\n7]", "r.json:2: invalid type: integer `7`"),
        ("[{\"a\": 1}]\n[", "r.json:2: something follows the array"),
    ] {
        place.write("r.json", text);
        let told = place.refused(&["import", "r", "r.json"]);
        assert!(told.contains(problem), "{told}");
    }
    place.write("r.jsonl", "[\n{\"a\": 1}\n]\n");
    assert!(place.refused(&["import", "r", "r.jsonl"]).contains("a file of one array is read as `json`"));
}

#[test]
fn nested_json_is_refused_with_a_way_out() {
    let place = Place::new();
    for (name, text) in [
        ("r.json", "[{\"a\": {\"b\": 1}}]"),
        ("r.json", "[{\"a\": 1},\n{\"a\": {\"b\": 1}}]"),
        ("r.jsonl", "{\"a\": [{\"b\": 1}]}"),
    ] {
        place.write(name, text);
        let told = place.refused(&["import", "r", name]);
        assert!(
            told.contains("a: ") && told.contains("a column of its own") && told.contains("tojson"),
            "{told}"
        );
    }
}

#[test]
fn arrays_of_json_are_lists() {
    let place = Place::new();
    place.write("r.jsonl", "{\"a\": [\"x\", \"y\"]}\n{\"a\": [\"z\", [1, null]]}");
    place.ok(&["import", "r", "r.jsonl"]);
    assert_eq!(
        place.ok(&["-c", "?r(L), X = element(L, 0)", "--json"]),
        "[\n  {\"L\":[\"x\",\"y\"],\"X\":\"x\"},\n  {\"L\":[\"z\",[1,null]],\"X\":\"z\"}\n]\n"
    );
}

#[test]
fn lists_keep_their_numbers_in_every_format() {
    let place = Place::new();
    place.write(
        "r.jsonl",
        "{\"k\":1,\"l\":[1,9007199254740993]}\n{\"k\":2,\"l\":[\"a b\",[0.5]]}\n{\"k\":3,\"l\":[]}",
    );
    place.ok(&["import", "all", "r.jsonl", "--types", "l=list"]);
    for format in ["csv", "tsv", "json", "jsonl", "parquet", "arrow"] {
        let (file, relation) = (format!("r.{format}"), format!("of_{format}"));
        place.ok(&["export", "all", &file]);
        place.ok(&["import", &relation, &file, "--types", "l=list"]);
        assert_eq!(
            place.ok(&["-c", &format!(".rel describe {relation}"), "--csv"]),
            "column,type\nk,int\nl,list\n"
        );
        let same = format!("?count<K> <- all(K, L), {relation}(K, L)");
        assert_eq!(place.ok(&["-c", &same, "--csv", "--no-header"]), "3\n", "{format}");
    }
    place.write("no.csv", "k,l\n1,x\n");
    assert!(place.refused(&["import", "no", "no.csv", "--types", "l=list"]).contains("`x` is no list"));
}

#[test]
fn quads_go_in_and_come_out() {
    let place = Place::new();
    let quads =
        "<http://e/a> <http://e/p> \"text\" <http://e/g> .\n<http://e/a> <http://e/p> <http://e/b> .\n";
    place.write("g.nq", quads);
    place.ok(&["import", "g", "g.nq"]);
    assert_eq!(
        place.ok(&["-c", "?g(S, P, O:asc, G)", "--csv", "--no-header"]),
        "<http://e/a>,<http://e/p>,<http://e/b>,\n<http://e/a>,<http://e/p>,text,<http://e/g>\n"
    );
    place.ok(&["export", "?g(S, P, O:desc, G)", "out.nq.gz"]);
    place.ok(&["import", "h", "out.nq.gz"]);
    assert_eq!(place.ok(&["export", "?h(S, P, O:desc, G)", "-", "--format", "nq"]), quads);
    let told = place.run(&["export", "?X, X, X, Y <- g(X, _, _, _), Y = 7", "-", "--format", "nq"]).err;
    assert!(told.contains("7 is no graph"), "{told}");
    // What is not read is told by name.
    place.write("r.rdf", "<?xml version=\"1.0\"?>\n");
    assert!(place.refused(&["import", "r", "r.rdf"]).contains("RDF/XML is not read: make it Turtle"));
    place.write("r.xlsx", "PK");
    assert!(place.refused(&["import", "r", "r.xlsx"]).contains("save it as CSV"));
    // Predicates as relations would lose the graphs.
    assert!(place.refused(&["import", "r_*", "g.nq"]).contains("only triples of RDF"));
}

#[test]
fn text_that_is_not_utf_8_is_told_by_name_and_read_on_request() {
    let place = Place::new();
    fs::write(place.path("c.csv"), b"name,people\nOslo,717710\nZ\xfcrich,447082\n").unwrap();
    let told = place.refused(&["import", "r", "c.csv"]);
    assert!(told.contains("c.csv:3: this is not UTF-8") && told.contains("--encoding latin-1"), "{told}");
    place.ok(&["import", "c", "c.csv", "--encoding", "latin-1"]);
    assert_eq!(place.ok(&["-c", "?c(\"Zürich\", N)", "--csv", "--no-header"]), "Zürich,447082\n");
    let wide: Vec<u8> = "\u{feff}name\nÅse\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    fs::write(place.path("w.csv"), wide).unwrap();
    let told = place.refused(&["import", "r", "w.csv"]);
    assert!(told.contains("--encoding utf-16"), "{told}");
    place.ok(&["import", "w", "w.csv", "--encoding", "utf-16"]);
    assert_eq!(place.ok(&["-c", "?w(X)", "--csv", "--no-header"]), "Åse\n");
    fs::write(place.path("l.jsonl"), b"{\"a\": \"Z\xfcrich\"}\n").unwrap();
    assert!(place.refused(&["import", "r", "l.jsonl"]).contains("--encoding latin-1"));
    let done = place.run(&["import", "r", "c.csv", "--encoding", "klingon"]);
    assert!(done.code == Some(2) && done.err.contains("`klingon` is not known"), "{}", done.err);
}

#[test]
fn a_header_without_rows_declares_its_columns() {
    let place = Place::new();
    place.write("e.csv", "name,people\n");
    let done = place.run(&["import", "e", "e.csv", "--types", "people=int"]);
    assert!(done.err.contains("declared e(name: any, people: int)"), "{}", done.err);
    assert!(done.err.contains("inserted 0 facts"), "{}", done.err);
    place.ok(&["export", "e", "e.parquet"]);
    place.ok(&["import", "f", "e.parquet"]);
    assert!(columns(&place, "f").contains("people,int"));
    place.write("nothing.csv", "");
    assert_eq!(place.run(&["import", "r", "nothing.csv"]).code, Some(0));
    assert_eq!(place.run(&["-c", ".rel describe r"]).code, Some(1));
}

#[test]
fn a_type_is_named_for_one_column() {
    let place = Place::new();
    place.write("z.csv", "Post Code,name,n\n1234,Oslo,7\n");
    place.ok(&["import", "z", "z.csv", "--types", "Post Code=string"]);
    place.ok(&["import", "y", "z.csv", "--types", "Post_Code=string,n=float"]);
    assert_eq!(
        place.ok(&["-c", "?y(A, B, C)", "--json"]),
        "[\n  {\"Post_Code\":\"1234\",\"name\":\"Oslo\",\"n\":7.0}\n]\n"
    );
    assert!(columns(&place, "z").contains("Post_Code,string"));
    let told = place.refused(&["import", "r", "z.csv", "--types", "zip=string"]);
    assert!(told.contains("there is no column `zip`") && told.contains("Post Code, name, n"), "{told}");
    let done = place.run(&["import", "r", "z.csv", "--types", "n"]);
    assert!(done.code == Some(2) && done.err.contains("`n` is not `name=type`"), "{}", done.err);
    place.write("z.json", "[{\"n\": 1}]");
    place.ok(&["import", "j", "z.json", "--types", "n=float"]);
    assert!(columns(&place, "j").contains("n,float"));
}

/// In CSV, JSON and Parquet.
#[test]
fn nobody_guesses_the_unit_of_times() {
    let place = Place::new();
    place.write("t.csv", "at\n1763722625\n1763722626\n");
    place.write("t.json", "[{\"at\": 1763722625}, {\"at\": 1763722626}]");
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1_763_722_625, 1_763_722_626]));
    let batch = RecordBatch::try_from_iter([("at", numbers)]).unwrap();
    let file = fs::File::create(place.path("t.parquet")).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    for (at, name) in ["t.csv", "t.json", "t.parquet"].into_iter().enumerate() {
        // By itself it is a number.
        place.ok(&["import", &format!("n{at}"), name]);
        assert!(columns(&place, &format!("n{at}")).contains("at,int"), "{name}");
        let told = place.refused(&["import", "r", name, "--types", "at=timestamp"]);
        assert!(
            told.contains("`1763722625` is a time of 1970") && told.contains("--epoch s, ms, us or ns"),
            "{told}"
        );
        let times = format!("t{at}");
        place.ok(&["-c", &format!("+{times}(at: timestamp)")]);
        assert_eq!(place.run(&["import", &times, name]).code, Some(1), "{name}");
        place.ok(&["import", &times, name, "--epoch", "s"]);
        let found = place.ok(&["-c", &format!("?{times}(At:asc)"), "--csv", "--no-header", "--limit", "1"]);
        assert_eq!(found, "2025-11-21T10:57:05Z\n", "{name}");
    }
    place.ok(&["import", "early", "t.csv", "--types", "at=timestamp", "--epoch", "ms"]);
    assert_eq!(
        place.ok(&["-c", "?early(At:asc)", "--csv", "--no-header", "--limit", "1"]),
        "1970-01-21T09:55:22.625Z\n"
    );
    // Thirteen digits are milliseconds.
    place.write("ms.csv", "at\n1763722625250\n");
    place.ok(&["import", "ms", "ms.csv", "--types", "at=timestamp"]);
    assert_eq!(place.ok(&["-c", "?ms(At)", "--csv", "--no-header"]), "2025-11-21T10:57:05.250Z\n");
}
