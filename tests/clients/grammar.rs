//! The grammar for tree-sitter: it finds the statements that the parser finds.

use proptest::prelude::{ProptestConfig, any, prop_assert, prop_assert_eq, prop_assume, proptest};
use proptest::sample::Index;
use stratalog_engine::syntax::ast::StatementKind;
use stratalog_engine::syntax::parse;
use stratalog_engine::{Code, Limits, check};
use tree_sitter::{Node, Parser, Query, QueryCursor, StreamingIterator as _, Tree};
use tree_sitter_stratalog::{HIGHLIGHTS_QUERY, LANGUAGE, TAGS_QUERY};

use crate::commented::{commented, programs};

/// A statement: its kind, and where it begins and ends.
type Found<'t> = (&'t str, usize, usize);

fn tree(program: &str) -> Tree {
    let mut parser = Parser::new();
    parser.set_language(&LANGUAGE.into()).expect("the library reads this version of the language");
    parser.parse(program, None).expect("nothing stops it")
}

/// The statements of a tree.
fn statements(tree: &Tree) -> Vec<Found<'_>> {
    let root = tree.root_node();
    let all: Vec<Node<'_>> = root.named_children(&mut root.walk()).collect();
    let plain = all.iter().filter(|node| node.kind() != "comment");
    let found = plain.map(|node| (node.kind(), node.start_byte(), node.end_byte()));
    found.map(|(kind, start, end)| (if kind == "facts" { "fact" } else { kind }, start, end)).collect()
}

/// Those that the parser finds.
fn parsed(program: &str) -> Vec<Found<'static>> {
    let kind = |kind: &StatementKind| match kind {
        StatementKind::Insert(_) | StatementKind::Delete(_) => "fact",
        StatementKind::Rule(_) | StatementKind::Update(_) | StatementKind::DeleteWhere(_) => "rule",
        StatementKind::DropRule(_) => "rule_removal",
        StatementKind::Declare(_) => "declaration",
        StatementKind::DeclareType(_) => "type_declaration",
        StatementKind::Query(_) => "query",
        StatementKind::Command(_) => "command",
    };
    let (statements, _) = parse(program, &Limits::default());
    let found =
        statements.iter().map(|each| (kind(&each.kind), each.span.start as usize, each.span.end as usize));
    // Several heads of a rule are as many statements of one place.
    let mut found: Vec<Found<'static>> = found.collect();
    found.dedup();
    found
}

/// Whether everything can be read of a program, the questions of its commands too.
fn is_readable(program: &str) -> bool {
    check(program).iter().all(|found| found.code != Code::ParseError)
}

#[test]
fn it_finds_the_statements_of_every_golden_program() {
    let readable: Vec<&String> = programs().iter().filter(|program| is_readable(program)).collect();
    assert!(readable.len() > 1000, "{}", readable.len());
    for program in readable {
        let tree = tree(program);
        assert!(!tree.root_node().has_error(), "{program}\n{}", tree.root_node());
        assert_eq!(statements(&tree), parsed(program), "{program}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn comments_may_stand_anywhere(
        which in any::<Index>(),
        places in proptest::collection::vec((any::<Index>(), 0..5_usize), 1..4),
    ) {
        let program = commented(which.get::<String>(programs()), &places);
        prop_assume!(is_readable(&program));
        let tree = tree(&program);
        prop_assert!(!tree.root_node().has_error(), "{program}\n{}", tree.root_node());
        prop_assert_eq!(statements(&tree), parsed(&program), "{}", program);
    }

    /// Half a program never stops an editor: what is whole of it is found, but for the last statement, which may be cut.
    #[test]
    fn half_a_program_has_its_whole_statements(which in any::<Index>(), cut in any::<Index>()) {
        let program = which.get::<String>(programs());
        prop_assume!(is_readable(program));
        let ends: Vec<usize> = program.char_indices().map(|(at, _)| at).collect();
        prop_assume!(!ends.is_empty());
        let cut = *cut.get(&ends);
        let whole: Vec<Found<'_>> = parsed(program).into_iter().filter(|(_, _, end)| *end < cut).collect();
        let tree = tree(&program[..cut]);
        let found = statements(&tree);
        // A comment that is cut may hide where the one before it ends.
        let sure = whole.len().saturating_sub(1);
        prop_assert_eq!(&found[..sure.min(found.len())], &whole[..sure], "{}", &program[..cut]);
    }

    #[test]
    fn any_text_has_a_tree(text in "\\PC{0,40}|[-+?.%/*<(\\[\"\\\\\\na-zA-Z0-9 ,]{0,60}|\\x00{1,3}") {
        let tree = tree(&text);
        prop_assert_eq!(tree.root_node().end_byte(), text.len());
    }
}

/// What a query of the grammar names, in order: the name and the text.
fn captures<'p>(query: &str, program: &'p str) -> Vec<(String, &'p str)> {
    let query = Query::new(&LANGUAGE.into(), query).expect("the query fits the grammar");
    let tree = tree(program);
    let mut cursor = QueryCursor::new();
    let mut found = Vec::new();
    let mut all = cursor.captures(&query, tree.root_node(), program.as_bytes());
    while let Some((one, which)) = all.next() {
        let capture = one.captures()[*which];
        let name = query.capture_names()[capture.index as usize];
        found.push((name.to_owned(), &program[capture.node.byte_range()]));
    }
    found
}

#[test]
fn words_are_coloured_by_what_they_are() {
    let found =
        captures(HIGHLIGHTS_QUERY, "+far(X, count<Y>) <- near(X, Y), Y > 2 // c\n.why ?far(\"a\", $n)");
    let of = |text: &str| found.iter().find(|(_, found)| *found == text).map(|(name, _)| name.as_str());
    for (text, name) in [
        ("far", "function"),
        ("X", "variable"),
        ("count", "function.builtin"),
        ("<-", "operator"),
        ("2", "number"),
        ("// c", "comment"),
        ("why", "keyword"),
        ("\"a\"", "string"),
        ("$n", "variable.parameter"),
    ] {
        assert_eq!(of(text), Some(name), "{text}: {found:?}");
    }
}

#[test]
fn definitions_and_uses_are_told_apart() {
    let found = captures(TAGS_QUERY, "+edge(a: int, b: int)\n+far(X) <- edge(X, _)\n?far(X)");
    let names: Vec<&str> = found.iter().filter(|(name, _)| name == "name").map(|(_, text)| *text).collect();
    assert_eq!(names, ["edge", "far", "edge", "far"]);
}
