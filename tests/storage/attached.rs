//! Parquet files as relations, over a socket: what they answer, what is refused, and what becomes of files that change.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Decimal128Array, Float64Array, Int32Array, Int64Array, ListArray, RecordBatch,
    StringArray, TimestampMicrosecondArray,
};
use arrow::datatypes::Int32Type;
use parquet::file::reader::{FileReader, SerializedFileReader};
use serde_json::{Value as Json, json};
use stratalog_tests::attached::{write, write_apart};
use stratalog_tests::object_store::{BUCKET, ObjectStore, Presence};
use stratalog_tests::server::{Connection, Server};
use tempfile::TempDir;

/// A folder with a folder of files and one for the server.
fn home() -> TempDir {
    let home = TempDir::new().expect("a temporary folder");
    fs::create_dir(home.path().join("facts")).expect("a folder");
    home
}

fn server(home: &Path) -> Server {
    server_with(home, &[])
}

fn server_with(home: &Path, settings: &[(&str, &str)]) -> Server {
    let facts = home.join("facts");
    let facts = facts.to_str().expect("a path in UTF-8");
    Server::start_in(home, &[&[("SERVICE_ATTACH__PLACES", facts)], settings].concat())
}

/// Numbers from `first` on: each, and its double.
fn doubles(first: i64, count: i64) -> RecordBatch {
    let numbers: Vec<i64> = (first..first + count).collect();
    let doubled: Vec<i64> = numbers.iter().map(|n| 2 * n).collect();
    let columns: [(&str, ArrayRef); 2] =
        [("n", Arc::new(Int64Array::from(numbers))), ("double", Arc::new(Int64Array::from(doubled)))];
    RecordBatch::try_from_iter(columns).expect("a batch")
}

/// One row of every kind that can be attached, one of nulls.
fn of_every_kind() -> RecordBatch {
    let time = TimestampMicrosecondArray::from(vec![Some(1_700_000_000_123_456), None]).with_timezone("UTC");
    let cents = Decimal128Array::from(vec![Some(1_050), None]).with_precision_and_scale(10, 2);
    let columns: [(&str, ArrayRef); 6] = [
        ("Small number", Arc::new(Int32Array::from(vec![Some(-7), None]))),
        ("x", Arc::new(Float64Array::from(vec![Some(2.5), None]))),
        ("is it", Arc::new(BooleanArray::from(vec![Some(true), None]))),
        ("text", Arc::new(StringArray::from(vec![Some("Größe"), None]))),
        ("time", Arc::new(time)),
        ("cents", Arc::new(cents.expect("a decimal"))),
    ];
    RecordBatch::try_from_iter(columns).expect("a batch")
}

async fn refused(connection: &mut Connection, program: &str) -> (String, String) {
    let reply = connection.execute(program).await;
    assert_eq!(reply["type"], "error", "{program}: {reply}");
    let text = |key: &str| reply[key].as_str().unwrap_or_default().to_owned();
    (text("code"), text("message"))
}

async fn attach(connection: &mut Connection, name: &str, place: &Path) -> Json {
    connection.execute(&format!(".rel attach {name} \"{}\"", place.display())).await
}

#[tokio::test]
async fn files_are_a_relation_whose_rows_are_each_one_row() {
    let home = home();
    let folder = home.path().join("facts/sales 2026");
    write_apart(&folder, &doubles(0, 10));
    let server = server(home.path());
    let mut admin = server.log_in().await;
    let reply = attach(&mut admin, "twice", &folder.join("*.parquet")).await;
    assert!(reply.to_string().contains("attached twice(n: int, double: int): 13 rows in 2 files"), "{reply}");
    assert_eq!(admin.rows("?count<N> <- twice(N, D), D = 2 * N").await, json!([[10]]));
    assert_eq!(admin.rows("?twice(3, D)").await, json!([[3, 6]]));
    admin.rows("+kind(6, \"six\")\n+named(N, K) <- twice(N, D), kind(D, K)\n+far(X, Y) <- twice(X, Y)\n+far(X, Z) <- far(X, Y), twice(Y, Z)").await;
    assert_eq!(admin.rows("?named(N, K)").await, json!([[3, "six"]]));
    assert_eq!(admin.rows("?far(1, X)").await, json!([[1, 2], [1, 4], [1, 8], [1, 16]]));
    assert_eq!(admin.rows("?kind(N, _), !twice(N, 12)").await, json!([]));
    assert_eq!(admin.rows(".rel").await[1], json!(["twice", 13, 2, "n: int, double: int", "attached"]));
    assert_eq!(admin.rows(".rel twice").await.as_array().map(Vec::len), Some(10));
    let plan = admin.rows(".explain ?far(1, X)").await.to_string();
    assert!(plan.contains("attached twice: 13 rows in files"), "{plan}");
    let profile = admin.rows(".profile ?far(1, X)").await.to_string();
    assert!(profile.contains("attached twice") && profile.contains("4 rows"), "{profile}");
    assert_eq!(admin.rows(".what_if +kind(8, \"eight\") ?named(N, K)").await, json!([["added", 4, "eight"]]));
    // It is there after a restart, and others of its graph read it.
    admin.rows(".user create bob bobby viewer").await;
    drop(admin);
    server.stop();
    let server = server_with(home.path(), &[("SERVICE_STORAGE__CHECKPOINT_BYTES", "1")]);
    let mut bob = server.log_in_as("bob", "bobby").await;
    assert_eq!(bob.rows("?far(1, X)").await.as_array().map(Vec::len), Some(4));
    assert_eq!(refused(&mut bob, ".rel attach mine \"/x\"").await.0, "access_denied");
}

#[tokio::test]
async fn every_kind_of_value_comes_as_at_an_import() {
    let home = home();
    let file = home.path().join("facts/kinds.parquet");
    write(&file, &of_every_kind(), 1);
    let server = server(home.path());
    let mut admin = server.log_in().await;
    let reply = attach(&mut admin, "kinds", &file).await;
    let columns = "Small_number: int, x: float, is_it: bool, text: string, time: timestamp, cents: float";
    assert!(reply.to_string().contains(columns), "{reply}");
    let reply = admin.execute("?kinds(A, B, C, D, E, F), A < 0").await;
    assert_eq!(reply["rows"], json!([[-7, 2.5, true, "Größe", 1_700_000_000_123_i64, 10.5]]), "{reply}");
    assert!(
        reply["metadata"]["warnings"].to_string().contains("kinds.time"),
        "what is lost is told: {reply}"
    );
    assert_eq!(
        admin.rows("?kinds(null, B, C, D, E, F)").await,
        json!([[null, null, null, null, null, null]])
    );
    admin.rows("+known(\"Größe\", 1)").await;
    assert_eq!(admin.rows("?kinds(A, _, _, T, _, _), known(T, N)").await[0][0], -7);
}

/// Sales of ten days, ten a day, a day to a row group: the day, the city and what was paid.
fn sales() -> RecordBatch {
    const DAY: i64 = 86_400_000_000;
    let (days, numbers) = ((0..100).map(|n| n / 10), 0..100);
    let time =
        TimestampMicrosecondArray::from(days.map(|day| day * DAY).collect::<Vec<_>>()).with_timezone("UTC");
    let city = |n: i64| (n % 7 != 0).then(|| format!("city {}", n / 10));
    let paid: Vec<f64> = numbers.clone().map(|n| n as f64 / 2.0).collect();
    let columns: [(&str, ArrayRef); 3] = [
        ("day", Arc::new(time)),
        ("city", Arc::new(numbers.map(city).collect::<StringArray>())),
        ("paid", Arc::new(Float64Array::from(paid))),
    ];
    RecordBatch::try_from_iter(columns).expect("a batch")
}

/// Makes the pages of all row groups but one unreadable.
fn damage_all_but(file: &Path, kept: usize) {
    let metadata = SerializedFileReader::new(File::open(file).expect("a file"))
        .expect("a Parquet file")
        .metadata()
        .clone();
    let mut bytes = fs::read(file).expect("a file");
    for (_, group) in metadata.row_groups().iter().enumerate().filter(|(number, _)| *number != kept) {
        for (start, length) in group.columns().iter().map(|column| column.byte_range()) {
            let (start, length) = (start as usize, length as usize);
            bytes[start..start + length].fill(0xFF);
        }
    }
    fs::write(file, bytes).expect("the file is written");
}

#[tokio::test]
async fn no_more_is_read_than_what_can_be_asked_for() {
    let home = home();
    let file = home.path().join("facts/sales.parquet");
    write(&file, &sales(), 10);
    let asked = [
        ("?sale(T, \"city 4\", P), P > 22", json!([[22.5], [23.0], [23.5], [24.0]])),
        (
            "?sale(T, C, P), T >= \"1970-01-05\", T < \"1970-01-06\", C = \"city 4\", P > 23.75",
            json!([[24.0]]),
        ),
        ("?sum<P> <- sale(T, C, P), T = \"1970-01-05\"", json!([[222.5]])),
        ("?sale(T, C, P), 22.25 < P, P <= 22.5", json!([[22.5]])),
        ("?sale(\"1970-01-05\", C, P), P > 23, P < 24", json!([[23.5]])),
        ("?sale(T, C, P), P = 21", json!([[21.0]])),
        ("?wanted(P), !sale(_, \"city 4\", P)", json!([[7]])),
        ("?sale(T, C, 21.0)", json!([[21.0]])),
        ("?in_city(\"city 4\", P), P >= 24", json!([[24.0]])),
        ("?total(\"city 4\", S)", json!([[177.0]])),
        ("?big(\"city 4\", P)", json!([[23.5], [24.0]])),
    ];
    // What a rule reads is asked for by whoever asks for what it derives.
    let rules = "+in_city(C, P) <- sale(_, C, P)\n+total(C, sum<P>) <- in_city(C, P)\n+big(C, P) <- in_city(C, P), P > 23";
    let last = |rows: Json| -> Json {
        let rows = rows.as_array().expect("rows").iter();
        let mut paid: Vec<f64> = rows.filter_map(|row| row.as_array()?.last()?.as_f64()).collect();
        paid.sort_by(f64::total_cmp);
        paid.into_iter().map(|paid| json!([paid])).collect()
    };
    let server = server(home.path());
    let mut admin = server.log_in().await;
    admin.rows("+wanted[22.0, 23.0, 7]").await;
    let same = |found: Json, expected: &Json| assert_eq!(last(found), last(expected.clone()));
    attach(&mut admin, "sale", &file).await;
    admin.rows(rules).await;
    for (program, expected) in &asked {
        same(admin.rows(program).await, expected);
    }
    assert_eq!(admin.rows("?count<P> <- sale(_, null, P)").await, json!([[15]]));
    assert_eq!(admin.rows("?count<P> <- sale(_, C, P), C != \"city 4\"").await, json!([[92]]));
    // Only the fifth day can be read now.
    damage_all_but(&file, 4);
    attach(&mut admin, "sale", &file).await;
    for (program, expected) in &asked {
        same(admin.rows(program).await, expected);
        let plan = admin.rows(&format!(".explain {program}")).await.to_string();
        assert!(plan.contains("attached sale: of 100 rows in files, those are read with"), "{plan}");
    }
    let of_two = "?sale(T, \"city 4\", P), sale(_, \"city 5\", P)";
    for program in ["?sale(T, C, P)", "?count<P> <- sale(_, null, P)", "?sale(T, C, P), P >= 24.5", of_two] {
        assert_eq!(refused(&mut admin, program).await.0, "files_unavailable", "{program}");
    }
}

#[tokio::test]
async fn nobody_writes_what_is_attached_and_only_questions_read_it() {
    let home = home();
    let file = home.path().join("facts/doubles.parquet");
    write(&file, &doubles(0, 3), 2);
    let server = server(home.path());
    let mut admin = server.log_in().await;
    attach(&mut admin, "twice", &file).await;
    admin.rows("+one(1, 2)\n+next(X, Y) <- twice(X, Y)").await;
    for program in [
        "+twice(7, 14)",
        "+twice[(7, 14)]",
        "-twice(1, 2)",
        "-twice(X, Y) <- one(X, Y)",
        "-one(X, Y), +twice(X, Y) <- one(X, Y)",
        "-one(X, Y) <- one(X, Y), twice(X, _)",
        "+twice(X, Y) <- one(X, Y)",
        "twice(X, Y) <- one(X, Y)",
        "twice(7, 14)",
        "+twice(a: int, b: int)",
        ".rel add twice c int",
        ".index create by_n on twice(n) type hash",
        ".view keep next",
        ".why ?next(1, X)",
        ".why_not next(1, 1)",
        ".what_if +twice(7, 14) ?next(7, X)",
    ] {
        let (code, message) = refused(&mut admin, program).await;
        assert!(code == "attached_relation" && message.contains("twice"), "{program}: {code}, {message}");
    }
    admin.send_json(json!({"type": "subscribe", "query": "?next(X, Y)"})).await;
    assert_eq!(admin.receive_json().await["code"], "attached_relation");
    assert_eq!(admin.rows("?next(X, Y)").await, json!([[0, 0], [1, 2], [2, 4]]));
    // What has another name beside it stays what it is.
    for name in ["one", "next"] {
        let reply = attach(&mut admin, name, &file).await;
        assert_eq!(reply["code"], "already_exists", "{reply}");
    }
    // Without the files, the name is free.
    admin.rows(".rel drop twice").await;
    admin.rows("+twice(5, 6)").await;
    assert_eq!(admin.rows("?next(X, Y)").await, json!([[5, 6]]));
}

#[tokio::test]
async fn facts_of_a_session_do_not_mix_with_files() {
    let home = home();
    let file = home.path().join("facts/doubles.parquet");
    write(&file, &doubles(0, 3), 2);
    let server = server(home.path());
    let (mut admin, mut other) = (server.log_in().await, server.log_in().await);
    other.rows("twice(7, 14)").await;
    attach(&mut admin, "twice", &file).await;
    assert_eq!(refused(&mut other, "?twice(X, Y)").await.0, "attached_relation");
    other.rows(".session clear").await;
    assert_eq!(other.rows("?twice(X, Y)").await.as_array().map(Vec::len), Some(3));
    other.rows("one(1)").await;
    let reply = other.execute("?twice(X, Y), one(X)").await;
    assert_eq!(reply["rows"], json!([[1, 2]]), "{reply}");
}

#[tokio::test]
async fn a_file_that_is_another_one_is_an_error_and_never_an_answer() {
    let home = home();
    let folder = home.path().join("facts");
    write(&folder.join("a.parquet"), &doubles(0, 3), 2);
    write(&folder.join("b.parquet"), &doubles(10, 3), 2);
    let server = server(home.path());
    let mut admin = server.log_in().await;
    let place = folder.join("*.parquet");
    attach(&mut admin, "twice", &place).await;
    // Files that come are no part of it.
    write(&folder.join("c.parquet"), &doubles(20, 1), 2);
    assert_eq!(admin.rows("?count<N> <- twice(N, _)").await, json!([[6]]));
    write(&folder.join("b.parquet"), &doubles(11, 3), 2);
    let (code, message) = refused(&mut admin, "?twice(X, Y)").await;
    assert!(code == "files_unavailable" && message.contains("b.parquet"), "{message}");
    attach(&mut admin, "twice", &place).await;
    assert_eq!(admin.rows("?count<N> <- twice(N, _)").await, json!([[7]]));
    fs::remove_file(folder.join("a.parquet")).expect("it goes");
    let (code, message) = refused(&mut admin, "?twice(X, Y)").await;
    assert!(code == "files_unavailable" && message.contains("a.parquet"), "{message}");
    // What is damaged is found where it is read.
    let damaged = folder.join("damaged.parquet");
    write(&damaged, &doubles(0, 10_000), 10_000);
    let mut content = fs::read(&damaged).expect("a file");
    let middle = content.len() / 3;
    content[4..middle].fill(0xff);
    fs::write(&damaged, content).expect("written");
    attach(&mut admin, "one", &damaged).await;
    assert_eq!(refused(&mut admin, "?one(X, Y)").await.0, "files_unavailable");
    // Nothing else is touched by it.
    admin.rows("+n(1)").await;
    assert_eq!(admin.rows("?n(X)").await, json!([[1]]));
}

#[tokio::test]
async fn only_files_of_the_places_that_are_named_are_read() {
    let home = home();
    let outside = home.path().join("outside.parquet");
    write(&outside, &doubles(0, 3), 2);
    symlink(&outside, home.path().join("facts/link.parquet")).expect("a link");
    fs::write(home.path().join("facts/text.parquet"), "no parquet").expect("written");
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(1)])]);
    let lists = RecordBatch::try_from_iter([("list", Arc::new(lists) as ArrayRef)]).expect("a batch");
    write(&home.path().join("facts/lists.parquet"), &lists, 1);
    let facts = home.path().join("facts");
    // Whoever opens it for reading waits for somebody who writes.
    let made = Command::new("mkfifo").arg(facts.join("pipe.parquet")).status();
    assert!(made.expect("mkfifo runs").success());
    let server = server(home.path());
    let mut admin = server.log_in().await;
    for (place, code) in [
        (facts.join("pipe.parquet").display().to_string(), "not_found"),
        (outside.display().to_string(), "access_denied"),
        (format!("{}/*.parquet", home.path().display()), "access_denied"),
        (format!("{}/*/doubles.parquet", home.path().display()), "access_denied"),
        (format!("{}/../outside.parquet", facts.display()), "invalid_parameter"),
        (facts.join("link.parquet").display().to_string(), "access_denied"),
        ("/etc/passwd".to_owned(), "access_denied"),
        ("s3://bucket/x.parquet".to_owned(), "access_denied"),
        ("facts/a.parquet".to_owned(), "invalid_parameter"),
        ("gs://bucket/x".to_owned(), "invalid_parameter"),
        (facts.join("none-*.parquet").display().to_string(), "not_found"),
        (facts.join("none.parquet").display().to_string(), "not_found"),
        (facts.join("text.parquet").display().to_string(), "files_unavailable"),
        (facts.join("lists.parquet").display().to_string(), "type_mismatch"),
    ] {
        let found = refused(&mut admin, &format!(".rel attach r \"{place}\"")).await;
        assert_eq!(found.0, code, "{place}: {}", found.1);
        assert!(!found.1.contains("no parquet"), "what is in files is not told: {}", found.1);
    }
    // Files of other columns than the first one.
    write(&facts.join("x1.parquet"), &doubles(0, 3), 2);
    write(&facts.join("x2.parquet"), &of_every_kind(), 2);
    let found =
        refused(&mut admin, &format!(".rel attach r \"{}\"", facts.join("x*.parquet").display())).await;
    assert!(found.0 == "type_mismatch" && found.1.contains("x2.parquet"), "{}", found.1);
    attach(&mut admin, "twice", &facts.join("x1.parquet")).await;
    drop(admin);
    server.stop();
    // Whoever takes a place back has its files read no more.
    let server = Server::start_in(home.path(), &[]);
    let mut admin = server.log_in().await;
    assert_eq!(refused(&mut admin, "?twice(X, Y)").await.0, "access_denied");
}

#[tokio::test]
async fn rows_of_files_count_as_memory_of_who_asks() {
    let home = home();
    let file = home.path().join("facts/many.parquet");
    write(&file, &doubles(0, 2_000_000), 100_000);
    let texts: Vec<String> =
        (0..200_000).map(|n| format!("a text that is somewhat longer, number {n}")).collect();
    let texts = RecordBatch::try_from_iter([("t", Arc::new(StringArray::from(texts)) as ArrayRef)]);
    write(&home.path().join("facts/texts.parquet"), &texts.expect("a batch"), 50_000);
    let small = server_with(home.path(), &[("SERVICE_LIMITS__QUERY_MEMORY_BYTES", "16777216")]);
    let mut admin = small.log_in().await;
    attach(&mut admin, "many", &file).await;
    attach(&mut admin, "texts", &home.path().join("facts/texts.parquet")).await;
    for program in ["?count<N> <- many(N, _)", "?count<T> <- texts(T)"] {
        assert_eq!(refused(&mut admin, program).await.0, "limit_exceeded", "{program}");
    }
    admin.rows("+n(1)").await;
    assert_eq!(admin.rows("?n(X)").await, json!([[1]]));
    drop(admin);
    small.stop();
    let server = server(home.path());
    let mut admin = server.log_in().await;
    assert_eq!(
        admin.rows("?count<N>, sum<D> <- many(N, D)").await,
        json!([[2_000_000, 3_999_998_000_000_i64]])
    );
    assert_eq!(admin.rows("?count<T> <- texts(T)").await, json!([[200_000]]));
}

#[tokio::test]
async fn files_of_a_bucket_are_read_where_they_are() {
    let (store, home) = (ObjectStore::start(), home());
    let folder = store.path("lake/sales");
    fs::create_dir_all(&folder).expect("a folder of the store");
    write(&folder.join("a.parquet"), &doubles(0, 1_000), 100);
    write(&folder.join("b.parquet"), &doubles(1_000, 1_000), 1_000);
    let mut command =
        Server::command(home.path(), &[("SERVICE_ATTACH__PLACES", &format!("s3://{BUCKET}/lake, /nowhere"))]);
    let server =
        Server::launch(command.envs(store.variables())).unwrap_or_else(|refusal| panic!("{}", refusal.log));
    let mut admin = server.log_in().await;
    let place = format!("s3://{BUCKET}/lake/sales/*.parquet");
    let reply = admin.execute(&format!(".rel attach twice \"{place}\"")).await;
    assert!(reply.to_string().contains("2000 rows in 2 files"), "{reply}");
    assert_eq!(admin.rows("?count<N>, sum<D> <- twice(N, D)").await, json!([[2_000, 3_998_000]]));
    let closed = format!(".rel attach other \"s3://{BUCKET}/other/*.parquet\"");
    assert_eq!(refused(&mut admin, &closed).await.0, "access_denied");
    write(&folder.join("b.parquet"), &doubles(1_001, 1_500), 1_000);
    let (code, message) = refused(&mut admin, "?count<N> <- twice(N, _)").await;
    assert!(code == "files_unavailable" && message.contains("b.parquet"), "{message}");
    fs::remove_file(folder.join("b.parquet")).expect("it goes");
    let (code, message) = refused(&mut admin, "?count<N> <- twice(N, _)").await;
    assert!(code == "files_unavailable" && message.contains("b.parquet"), "{message}");
    store.be(Presence::Away);
    let (code, message) = refused(&mut admin, "?count<N> <- twice(N, _)").await;
    assert!(code == "files_unavailable" && message.contains("a.parquet"), "{message}");
    admin.rows("+n(1)").await;
    assert_eq!(admin.rows("?n(X)").await, json!([[1]]));
}
