//! The programs of all golden files, and comments put anywhere into them.

use std::path::Path;
use std::sync::LazyLock;

use proptest::sample::Index;
use stratalog_engine::Limits;
use stratalog_engine::syntax::ast::StatementKind;
use stratalog_engine::syntax::{parse, tokens};
use stratalog_tests::golden::files;

/// The programs that can be read.
pub(crate) fn programs() -> &'static [String] {
    &PROGRAMS
}

static PROGRAMS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let files = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("golden"));
    let all = files.iter().flat_map(|file| file.programs().map(str::to_owned).collect::<Vec<_>>());
    all.filter(|program| parse(program, &Limits::default()).1.is_empty()).collect()
});

/// A program with a comment at each of these places, as far as it can be read then; each is of one of five kinds.
pub(crate) fn commented(program: &str, places: &[(Index, usize)]) -> String {
    let mut program = program.to_owned();
    for (place, kind) in places {
        let (statements, _) = parse(&program, &Limits::default());
        // What stands behind the first word of a command is the command's.
        let plain = statements.iter().filter(|each| !matches!(each.kind, StatementKind::Command(_)));
        let spans: Vec<_> = plain.map(|statement| statement.span).collect();
        let starts: Vec<usize> = tokens(&program)
            .into_iter()
            .filter(|(token, _)| spans.iter().any(|span| span.start < token.start && token.start < span.end))
            .map(|(token, _)| token.start as usize)
            .collect();
        if starts.is_empty() {
            break;
        }
        let comment =
            ["/* c */", " // c\n  ", "\n  // own\n  ", "\n % own\n\t", "\n/* at */ // the left\n"][*kind];
        let mut with = program.clone();
        with.insert_str(*place.get(&starts), comment);
        // Between the two signs of one word a comment is none.
        if parse(&with, &Limits::default()).1.is_empty() {
            program = with;
        }
    }
    program
}
