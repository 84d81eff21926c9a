//! Files in and out through the command line: every format, faults with their lines, all or nothing, constant memory.

use std::fs;

use stratalog_tests::cli;
use stratalog_tests::place::Place;

const EVERYTHING: &str = "\
+all(name: string, n: int, x: float, yes: bool, at: timestamp, v: vector(2), mixed: any)
+all[(\"ada\", 1, 2.0, true, 1763722625250, [0.5, 1.0], 1),
 (\"\", -5, 0.1, false, -4861036800000, [1.0, 2.5], \"1\"),
 (\"tab\\t \\\"quoted\\\", 'x'\\nline \\\\N\", 9007199254740993, 1.0e300, null, 0, null, 1.5),
 (null, null, null, null, null, null, null),
 (\"007\", 7, 7.0, true, 1, [0.0, 0.0], true)]";
const ASK: &str = "?all(Name:asc, N, X, Yes, At, V, Mixed)";

/// What was written is read back as the same facts, in every format that holds tables.
#[test]
fn every_format_comes_back_as_it_went() {
    let place = Place::new();
    place.ok(&["-c", EVERYTHING]);
    let expected = place.ok(&["-c", ASK, "--format", "jsonl"]);
    assert_eq!(expected.lines().count(), 5);
    for name in ["f.csv", "f.tsv", "f.jsonl", "f.parquet", "f.arrow"] {
        let kg = name.replace("f.", "as_");
        place.ok(&["export", "all", name]);
        place.ok(&["-c", &format!(".kg create {kg}")]);
        // The declaration tells what the text formats do not.
        let declaration = EVERYTHING.lines().next().unwrap();
        place.ok(&["--kg", &kg, "-c", declaration]);
        let done = place.run(&["--kg", &kg, "import", "all", name]);
        assert_eq!(done.code, Some(0), "{name}: {}", done.err);
        assert!(done.err.contains(&format!("{name}: inserted 5 facts into all")), "{}", done.err);
        assert_eq!(place.ok(&["--kg", &kg, "-c", ASK, "--format", "jsonl"]), expected, "{name}");
        // Once more is nothing new.
        assert!(
            place
                .run(&["--kg", &kg, "import", "all", name])
                .err
                .contains("inserted 0 facts into all, 5 known before")
        );
    }
    assert_eq!(place.ok(&["export", "all", "-", "--format", "jsonl"]).lines().count(), 5);
}

/// In a column of any type, what all its values are at the moment does not change what comes back.
#[test]
fn a_column_of_any_type_comes_back_when_all_its_values_are_of_one() {
    let place = Place::new();
    for (number, values) in [
        r#"["1", "true", "null", "", "[1, 2]", "[1 2]", "2.5", "x, y"]"#,
        "[[1, 2.5], [0.5], []]",
        "[1, 2, 3]",
        "[1.0, 2.5]",
        "[true, false]",
        r#"["1", 1, 1.0, true, [1, 2], null]"#,
    ]
    .into_iter()
    .enumerate()
    {
        let declaration = format!("+r{number}(x: any)");
        place.ok(&["-c", &format!("{declaration}\n+r{number}{values}")]);
        let relation = format!("r{number}");
        for format in ["csv", "tsv"] {
            let (kg, name) = (format!("{format}_{number}"), format!("{relation}.{format}"));
            place.ok(&["export", &relation, &name]);
            place.ok(&["-c", &format!(".kg create {kg}")]);
            place.ok(&["--kg", &kg, "-c", &declaration]);
            place.ok(&["--kg", &kg, "import", &relation, &name]);
            let ask = format!("?{relation}(X)");
            let expected = place.ok(&["-c", &ask, "--format", "jsonl"]);
            assert_eq!(
                place.ok(&["--kg", &kg, "-c", &ask, "--format", "jsonl"]),
                expected,
                "{values} as {format}"
            );
        }
    }
}

#[test]
fn types_are_guessed_and_the_relation_is_declared() {
    let place = Place::new();
    place.write(
        "city.csv",
        "Name,People (2020),zip,founded,ok\nOslo,717710,00150,1048-01-01,true\nRome,2748109,,,\n",
    );
    let done = place.run(&["import", "city", "city.csv"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    let declared = "declared city(Name: string, People_2020: int, zip: string, founded: timestamp, ok: bool)";
    assert!(done.err.contains(declared), "{}", done.err);
    assert_eq!(
        place.ok(&["-c", "?city(N:asc, P, Z, F, O)", "--format", "jsonl", "--no-header"]),
        "{\"Name\":\"Oslo\",\"People_2020\":717710,\"zip\":\"00150\",\"founded\":\"1048-01-01T00:00:00Z\",\"ok\":true}\n\
         {\"Name\":\"Rome\",\"People_2020\":2748109,\"zip\":null,\"founded\":null,\"ok\":null}\n"
    );
    // Columns of the same names find each other; else they go by position.
    place.write("more.csv", "ok,founded,zip,People_2020,Name\nfalse,,1,2,Bergen\n");
    place.ok(&["import", "city", "more.csv"]);
    place.write("bare.csv", "Narvik,20853,8500,,true\n");
    place.ok(&["import", "city", "bare.csv", "--no-header"]);
    assert_eq!(
        place.ok(&["-c", "?city(\"Bergen\", P, Z, F, O)", "--csv", "--no-header"]),
        "Bergen,2,1,,false\n"
    );
    assert_eq!(
        place.ok(&["-c", "?city(\"Narvik\", P, Z, F, O)", "--csv", "--no-header"]),
        "Narvik,20853,8500,,true\n"
    );
    place.write("part.csv", "Name,other,zip,founded,ok\nx,1,2,,\n");
    let done = place.run(&["import", "city", "part.csv"]);
    assert_eq!(done.code, Some(1));
    assert!(
        done.err.contains("part.csv:1: the file has the columns Name, other") && done.err.contains("help:"),
        "{}",
        done.err
    );
}

#[test]
fn types_can_be_named_and_separators_chosen() {
    let place = Place::new();
    place.write("r.csv", "1;x\n2;NA\n");
    place.ok(&[
        "import",
        "r",
        "r.csv",
        "--no-header",
        "--delimiter",
        ";",
        "--null",
        "NA",
        "--columns",
        "id: string, what: string",
    ]);
    assert_eq!(
        place.ok(&["-c", "?r(I:asc, W)", "--format", "jsonl"]),
        "{\"id\":\"1\",\"what\":\"x\"}\n{\"id\":\"2\",\"what\":null}\n"
    );
    // Standard input is a file, too.
    let done = cli::run(
        cli::at(&place.server),
        &["import", "s", "-", "--format", "jsonl"],
        "{\"a\":1}\n{\"b\":[1,2],\"a\":2}\n",
    );
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert_eq!(
        place.ok(&["-c", "?s(A:asc, B)", "--format", "jsonl"]),
        "{\"a\":1,\"b\":null}\n{\"a\":2,\"b\":[1.0,2.0]}\n"
    );
}

#[test]
fn a_fault_names_file_and_line_and_nothing_is_inserted() {
    let place = Place::new();
    let many = "1,a\n".repeat(100_000);
    place.write("type.csv", &format!("n,t\n{many}x,b\n"));
    let err = place.refused(&["import", "r", "type.csv", "--columns", "n: int, t: string"]);
    assert!(err.contains("type.csv:100002: `x` is no int") && err.contains("help:"), "{err}");
    place.write("wide.csv", "n,t\n1,a\n2,b,c\n");
    assert!(place.refused(&["import", "r", "wide.csv"]).contains("wide.csv:3: 3 fields, expected 2"));
    place.write("narrow.tsv", "n\tt\n1\ta\n2\n");
    assert!(place.refused(&["import", "r", "narrow.tsv"]).contains("narrow.tsv:3: 1 field, expected 2"));
    // Other separators are no part of names.
    for (text, option) in
        [("n;t\n1;a\n", "';'"), ("\"n\";\"t\"\n\"1\";\"a\"\n", "';'"), ("n\tt\n1\ta\n", "tab")]
    {
        place.write("other.csv", text);
        let err = place.refused(&["import", "r", "other.csv"]);
        assert!(err.contains(&format!("`--delimiter {option}` reads them")), "{err}");
    }
    place.write("one.csv", "n;t\n1;a\n");
    place.ok(&["import", "one", "one.csv", "--delimiter", ","]);
    place.write("text.csv", "n;t\nsome text\n");
    place.ok(&["import", "text", "text.csv"]);
    // A column too many is another thing than one that lacks.
    place.ok(&["-c", "+two(n: int, t: string)"]);
    place.write("three.csv", "n,t,more\n1,a,b\n");
    let err = place.run(&["import", "two", "three.csv"]).err;
    assert!(
        err.contains("three.csv:1: the relation has no column more,") && !err.contains("or none"),
        "{err}"
    );
    place.write("open.csv", "n,t\n1,\"a\n2,b\n");
    assert!(
        place
            .refused(&["import", "r", "open.csv"])
            .contains("open.csv:2: a quote is opened here and never closed")
    );
    fs::write(place.path("bytes.csv"), b"n,t\n1,\xff\n").unwrap();
    assert!(place.refused(&["import", "r", "bytes.csv"]).contains("bytes.csv:2: this is not UTF-8"));
    place.write("r.jsonl", "{\"a\":1,\"b\":2}\n\n{\"a\":1,\"b\":\n");
    assert!(place.refused(&["import", "r", "r.jsonl"]).contains("r.jsonl:3: EOF while parsing"));
    place.write("object.jsonl", "{\"a\":1,\"b\":{}}\n");
    assert!(
        place.refused(&["import", "r", "object.jsonl"]).contains("object.jsonl:1: b: an object is no value")
    );
    place.write("r.parquet", "no parquet at all");
    assert!(place.refused(&["import", "r", "r.parquet"]).contains("r.parquet: "));
    place.write("r.arrow", "no arrow");
    assert!(place.refused(&["import", "r", "r.arrow"]).contains("r.arrow: "));
    place.write("r.nt", "<http://e/a> <http://e/p> \"x\" .\n<http://e/a> oops .\n");
    assert!(place.refused(&["import", "r", "r.nt"]).contains("r.nt:2: "));
    let err = place.refused(&["import", "r", "missing.csv"]);
    assert!(err.contains("missing.csv: No such file"), "{err}");
    assert!(place.refused(&["import", "r", "r.unknown"]).contains("known by its name"));
    let rule = place.run(&["-c", "+d(X) <- e(X)\n+e(1)"]);
    assert_eq!(rule.code, Some(0));
    place.write("d.csv", "A\n1\n");
    let done = place.run(&["import", "d", "d.csv"]);
    assert_eq!(done.code, Some(1), "{}", done.err);
    // The rules of a derived relation stay.
    assert_eq!(place.ok(&["-c", "?d(X)", "--no-header", "--csv"]), "1\n");
}

#[test]
fn records_that_do_not_fit_can_be_left_out_and_are_counted() {
    let place = Place::new();
    place.write("r.csv", "n,t\n1,a\nx,b\n3,c,d\n4,d\n");
    let done = place.run(&["import", "r", "r.csv", "--columns", "n: int, t: string", "--on-error", "skip"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    for part in [
        "warning: r.csv:3: `x` is no int",
        "warning: r.csv:4: 3 fields",
        "inserted 2 facts into r, 2 records skipped",
    ] {
        assert!(done.err.contains(part), "{}", done.err);
    }
    assert_eq!(place.ok(&["-c", "?r(N:asc, T)", "--csv", "--no-header"]), "1,a\n4,d\n");
    place.write("s.jsonl", "{\"a\":1}\nnonsense\n{\"a\":\"x\"}\n");
    let done = place.run(&["import", "s", "s.jsonl", "--columns", "a: int", "--on-error", "skip"]);
    assert!(done.err.contains("inserted 1 fact into s, 2 records skipped"), "{}", done.err);
    let many: String = (0..50).map(|n| format!("x{n}\n")).collect();
    place.write("t.csv", &format!("n\n1\n{many}"));
    let done = place.run(&["import", "t", "t.csv", "--columns", "n: int", "--on-error", "skip", "-q"]);
    assert!(done.err.contains("warning: and 40 more") && !done.err.contains("inserted"), "{}", done.err);
    place.write("u.nt", "<http://e/a> <http://e/p> \"x\" .\nnonsense\n<http://e/a> <http://e/p> \"y\" .\n");
    let done = place.run(&["import", "u", "u.nt", "--on-error", "skip"]);
    assert!(done.err.contains("inserted 2 facts into u, 1 record skipped"), "{}", done.err);
}

#[test]
fn triples_go_in_and_come_out() {
    let place = Place::new();
    let turtle = "\
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
<http://e/ada> foaf:name \"Ada\" ; foaf:age 36 ; foaf:knows <http://e/bob>, _:x .
<http://e/bob> foaf:name \"Robert\"@en ; foaf:weight 70.5 ; foaf:ok true .
";
    place.write("people.ttl", turtle);
    let done = place.run(&["import", "triple", "people.ttl"]);
    assert!(
        done.err.contains("declared triple(subject: string, predicate: string, object: any)"),
        "{}",
        done.err
    );
    let name = "\"<http://xmlns.com/foaf/0.1/name>\"";
    assert_eq!(
        place.ok(&["-c", &format!("?S:asc, O <- triple(S, {name}, O)"), "--format", "jsonl"]),
        "{\"S\":\"<http://e/ada>\",\"O\":\"Ada\"}\n{\"S\":\"<http://e/bob>\",\"O\":\"\\\"Robert\\\"@en\"}\n"
    );
    place.ok(&["export", "triple", "out.nt"]);
    let mut lines: Vec<String> = place.read("out.nt").lines().map(str::to_owned).collect();
    lines.sort();
    assert_eq!(lines.len(), 7);
    assert!(
        lines.contains(&"<http://e/bob> <http://xmlns.com/foaf/0.1/name> \"Robert\"@en .".to_owned()),
        "{lines:?}"
    );
    assert!(lines.contains(&"<http://e/ada> <http://xmlns.com/foaf/0.1/age> \"36\"^^<http://www.w3.org/2001/XMLSchema#integer> .".to_owned()), "{lines:?}");
    // Rules on top, and what they derive as RDF.
    place.ok(&["-c", "+person(S, \"<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>\", \"<http://e/Person>\") <- triple(S, \"<http://xmlns.com/foaf/0.1/name>\", _)"]);
    let derived = place.ok(&["export", "?person(S:asc, P, O)", "-", "--format", "nt"]);
    assert_eq!(
        derived,
        "<http://e/ada> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://e/Person> .\n\
         <http://e/bob> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://e/Person> .\n"
    );
    place.ok(&["export", "triple", "out.ttl"]);
    place.ok(&["import", "again", "out.ttl"]);
    assert_eq!(place.ok(&["-c", "?count<S> <- again(S, _, _)", "--no-header", "--csv"]), "7\n");
    place.ok(&["-c", "+edge(1, 2)"]);
    let done = place.run(&["export", "edge", "edge.nt"]);
    assert_eq!(done.code, Some(1));
    assert!(done.err.contains("a triple has three columns"), "{}", done.err);
    assert!(!place.path("edge.nt").exists());
}

#[test]
fn predicates_can_be_relations() {
    let place = Place::new();
    let turtle = "\
@prefix e: <http://e/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
e:ada e:name \"Ada\" ; e:age 36 ; e:knows e:bob ; e:born \"1815-12-10\"^^xsd:date ; e:note \"x\", 1 .
e:bob e:name \"Bob\" ; e:age 40 ; a e:Person .
";
    place.write("people.ttl", turtle);
    let done = place.run(&["import", "p_*", "people.ttl"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    for declared in [
        "declared p_age(subject: string, object: int)",
        "declared p_born(subject: string, object: timestamp)",
        "declared p_knows(subject: string, object: string)",
        "declared p_note(subject: string, object: any)",
        "declared p_type(subject: string, object: string)",
        "inserted 2 facts into p_name",
    ] {
        assert!(done.err.contains(declared), "{}", done.err);
    }
    let ask = "?S, Age, Born <- p_name(S, \"Ada\"), p_age(S, Age), p_born(S, Born), Age > 30";
    assert_eq!(place.ok(&["-c", ask, "--csv", "--no-header"]), "<http://e/ada>,36,1815-12-10T00:00:00Z\n");
    // What is wrong is known before anything is sent; two predicates of one name are told apart by nobody.
    place.write("r.nt", "<http://e/a> <http://e/r> \"x\" .\nnonsense .\n");
    assert!(place.refused(&["import", "*", "r.nt"]).contains("r.nt:2: "));
    place.write("two.nt", "<http://e/a> <http://e/r> \"x\" .\n<http://e/a> <http://f/r> \"x\" .\n");
    assert!(place.refused(&["import", "*", "two.nt"]).contains("would both be the relation `r`"));
    place.write("r.csv", "a,b\n1,2\n");
    assert!(place.refused(&["import", "*", "r.csv"]).contains("only triples of RDF have predicates"));
}

/// The client takes no more memory for a file of a hundred and more megabytes than for a small one.
#[test]
fn memory_does_not_grow_with_the_file() {
    let place = Place::new();
    let at = |arguments: &[&str]| place.watched(arguments);
    let row = |n: u64| {
        format!("{n},{},\"text {} of this row, long enough to fill a file\"\n", n * 7 % 1000, n % 5000)
    };
    let mut text = String::from("a,b,c\n");
    (0..100_000).for_each(|n| text.push_str(&row(n)));
    place.write("small.csv", &text);
    (100_000..2_000_000).for_each(|n| text.push_str(&row(n)));
    place.write("large.csv", &text);
    let size = text.len() as u64;
    drop(text);
    let (small, _) = at(&["import", "small", "small.csv"]);
    let (large, err) = at(&["import", "large", "large.csv"]);
    assert!(err.contains("inserted 2000000 facts into large"), "{err}");
    let growth = large.saturating_sub(small);
    assert!(size > 100 << 20 && growth < 24 << 20, "a file of {size} bytes made memory grow by {growth}");
    for name in ["out.csv", "out.jsonl", "out.parquet", "out.arrow"] {
        let (small, _) = at(&["export", "small", name]);
        let (large, _) = at(&["export", "large", name]);
        let growth = large.saturating_sub(small);
        assert!(growth < 64 << 20, "{name}: memory grew by {growth}, from {small}");
    }
    // It is all there.
    place.ok(&["import", "back", "out.parquet"]);
    assert_eq!(place.ok(&["-c", "?sum<A> <- back(A, _, _)", "--csv", "--no-header"]), "1999999000000\n");
}
