//! What a refusal says.

use crate::{assert_error, start};

#[tokio::test]
async fn errors_say_what_and_where() {
    let (_server, mut connection) = start().await;
    connection.rows("+edge[(1, 2), (2, 3)]\n+typed(a: int, b: string)").await;
    connection.rows("+p(X) <- edge(X, _), !q(X)").await;
    let cases = [
        ("?edge(X, ", "parse_error", None),
        ("+edge(1, 2)\n+edge(3 4)", "parse_error", Some((2, 9))),
        ("?edgee(X, Y)", "unknown_relation", Some((1, 2))),
        ("?edge(X, Y), nodes(X)", "unknown_relation", Some((1, 14))),
        ("?edge(X, Y, Z)", "arity_mismatch", None),
        ("+edge(1, 2, 3)", "arity_mismatch", None),
        ("+typed[(1, \"a\"), (\"b\", \"é\")]", "type_mismatch", None),
        ("+r(X, Y) <- edge(X, _)", "unsafe_rule", Some((1, 7))),
        ("+q(X) <- edge(X, _), !p(X)", "unstratifiable", None),
        ("+p(1)", "derived_relation", None),
    ];
    for (program, code, place) in cases {
        let reply = connection.execute(program).await;
        assert_error(&reply, code);
        let span = &reply["span"];
        for field in ["line", "column", "length", "offset"] {
            assert!(span[field].is_u64(), "{program}: {reply}");
        }
        let (line, column) = (span["line"].as_u64().unwrap_or(0), span["column"].as_u64().unwrap_or(0));
        if let Some(place) = place {
            assert_eq!((line, column), place, "{program}: {reply}");
        }
        let before: usize = program.split_inclusive('\n').take(line as usize - 1).map(str::len).sum();
        let within = program[before..].chars().take(column as usize - 1).map(char::len_utf8).sum::<usize>();
        assert_eq!(span["offset"], before + within, "{program}: {reply}");
        assert!(reply["diagnostics"].as_array().is_some_and(|all| !all.is_empty()), "{program}: {reply}");
        assert_eq!(reply["diagnostics"][0]["severity"], "error");
        assert_eq!(reply["diagnostics"][0]["code"], code);
    }
    assert_eq!(
        connection.rows("?edge(X, Y)").await.as_array().map(Vec::len),
        Some(2),
        "nothing was inserted"
    );
}

#[tokio::test]
async fn every_parse_error_of_a_program_is_reported() {
    let (_server, mut connection) = start().await;
    let reply = connection.execute("+a(1)\n+b(\n+c(2)\n?d(,)").await;
    assert_error(&reply, "parse_error");
    let errors = reply["validation_errors"].as_array().expect("the list that older clients read");
    assert!(!errors.is_empty());
    for error in errors {
        assert!(error["line"].is_u64() && error["statement_index"].is_u64() && error["error"].is_string());
    }
    assert_error(&connection.execute("?a(X)").await, "unknown_relation");
}

#[tokio::test]
async fn an_empty_program_is_an_error() {
    let (_server, mut connection) = start().await;
    for program in ["", "\n  \n", "// nothing\n% at all", "/* here */"] {
        assert_error(&connection.execute(program).await, "parse_error");
    }
}
