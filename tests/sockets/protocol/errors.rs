//! What a refusal says.

use serde_json::{Value as Json, json};
use stratalog_tests::server::Server;

use super::{assert_error, start};

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

#[tokio::test]
async fn limits_are_settings_and_name_themselves() {
    let server = Server::start_with(&[
        ("SERVICE_LIMITS__MAX_STRING_BYTES", "8"),
        ("SERVICE_LIMITS__MAX_LITERALS", "2"),
        ("SERVICE_LIMITS__MAX_BODY_ARGUMENTS", "5"),
        ("SERVICE_LIMITS__MAX_INSERT_TUPLES", "3"),
        ("SERVICE_LIMITS__MAX_COLUMNS", "3"),
        ("SERVICE_LIMITS__MAX_STATEMENTS", "3"),
        ("SERVICE_LIMITS__MAX_NESTING", "5"),
    ]);
    let mut connection = server.log_in().await;
    connection.rows(r#"+word("12345678")"#).await;
    let refused = [
        (r#"+word("123456789")"#, "max_string_bytes", 8),
        // Computed, too.
        (r#"?word(X), Y = concat(X, "9")"#, "max_string_bytes", 8),
        ("?word(X), X != 1, X != 2, X != 3", "max_literals", 2),
        ("?word(X), !no(X, X, X), !no(X, X, 1)", "max_body_arguments", 5),
        ("+n[1, 2, 3, 4]", "max_insert_tuples", 3),
        ("+n(1, 2, 3, 4)", "max_columns", 3),
        ("+n(1)\n+n(2)\n+n(3)\n+n(4)", "max_statements", 3),
        ("?word(X), Y = ((((((1))))))", "max_nesting", 5),
    ];
    for (program, name, value) in refused {
        let reply = connection.execute(program).await;
        assert_error(&reply, "limit_exceeded");
        assert_eq!(reply["limit"], json!({"name": name, "value": value}), "{program}: {reply}");
        assert!(reply["help"].is_string(), "{program}: {reply}");
    }
    assert_eq!(connection.rows("?word(X)").await, json!([["12345678"]]));
}

#[tokio::test]
async fn commands_that_do_not_exist_are_parse_errors_of_their_program() {
    let (_server, mut connection) = start().await;
    let reply = connection.execute("+a(1)\n+a(x)\n.nothing\n+a(2)").await;
    assert_error(&reply, "parse_error");
    let faults = reply["validation_errors"].as_array().expect("a list").iter();
    let places: Vec<Json> = faults.map(|fault| json!([fault["line"], fault["statement_index"]])).collect();
    assert_eq!(places, [json!([2, 1]), json!([3, 2])], "{reply}");
    assert_error(&connection.execute("?a(X)").await, "unknown_relation");
    // However many there are, as many are told as of other faults.
    let reply = connection.execute(&".nothing\n".repeat(5_000)).await;
    assert_eq!(reply["validation_errors"].as_array().map(Vec::len), Some(100), "{}", reply["message"]);
}
