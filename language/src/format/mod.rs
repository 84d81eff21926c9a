//! `format`: a program in the one layout that all programs have, with its comments.
//!
//! Words stay as they are written; what changes is blanks, line breaks and commas before closing brackets. A statement that fits
//! into a line has one; else its conditions, rows or arguments have a line each, indented, so that they go on the statement.
//! The text is parsed again afterwards. A statement that would read differently, as may happen where comments stand in odd places,
//! is left as it is written.

mod layout;
mod tokens;

use self::tokens::{Piece, pieces};
use stratalog_engine::diagnostic::Diagnose;
use stratalog_engine::syntax::ast::{Statement, StatementKind};
use stratalog_engine::syntax::{TokenClass, parse, tokens as all_tokens};
use stratalog_engine::{Code, Diagnostic, Limits, Span};

/// The columns that a line has, if nothing else is said.
pub const WIDTH: usize = 100;

/// A program in its layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Formatted {
    /// The text.
    pub text: String,
    /// The statements of the program that are left as they were written, by their places in it.
    pub kept: Vec<Span>,
}

/// Formats a program. The errors are those of its text: what cannot be read is not formatted.
pub fn format(program: &str, width: usize) -> Result<Formatted, Vec<Diagnostic>> {
    if all_tokens(program).iter().all(|(_, class)| *class == TokenClass::Comment) {
        return Ok(join(program, &[], width, false));
    }
    let (statements, errors) = parse(program, &Limits::default());
    if !errors.is_empty() {
        return Err(errors.iter().map(Diagnose::diagnose).collect());
    }
    for careful in [false, true] {
        let formatted = join(program, &statements, width, careful);
        if reads_alike(&formatted.text, program) {
            return Ok(formatted);
        }
    }
    Err(vec![Diagnostic::error(Code::Internal, "the layout would change what this program means")])
}

/// Whether two texts have the same statements and comments.
fn reads_alike(a: &str, b: &str) -> bool {
    let read = |text| {
        let (statements, errors) = parse(text, &Limits::default());
        errors.is_empty().then(|| meaning(&statements).collect::<Vec<_>>())
    };
    comments(a) == comments(b) && read(a).is_some_and(|meant| Some(meant) == read(b))
}

/// What statements say, without their places.
fn meaning(statements: &[Statement]) -> impl Iterator<Item = String> {
    statements.iter().map(ToString::to_string)
}

/// The comments of a text, each without the blanks around its lines.
fn comments(text: &str) -> Vec<String> {
    let found = all_tokens(text).into_iter().filter(|(_, class)| *class == TokenClass::Comment);
    found.map(|(span, _)| trimmed_lines(slice(text, span))).collect()
}

fn trimmed_lines(text: &str) -> String {
    text.lines().map(str::trim).collect::<Vec<_>>().join("\n")
}

fn slice(text: &str, span: Span) -> &str {
    &text[span.start as usize..span.end as usize]
}

/// All statements and the comments between them. Blank lines between stay, one in a row. If it is `careful`, each statement is
/// read again by itself.
fn join(program: &str, statements: &[Statement], width: usize, careful: bool) -> Formatted {
    let (mut out, mut kept) = (String::new(), Vec::new());
    let mut blocks = blocks(statements).peekable();
    let mut line_end = 0;
    let mut all = pieces(program).into_iter().peekable();
    while let Some(first) = all.peek() {
        let start = first.span.start as usize;
        let between = &program[line_end.min(start)..start];
        if !out.is_empty() {
            match between.matches('\n').count() {
                0 => out.push(' '),
                1 => out.push('\n'),
                _ => out.push_str("\n\n"),
            }
        }
        let block = blocks.next_if(|block| block.span.start <= first.span.start);
        let Some(block) = block else {
            let comment = all.next().map_or("", |piece| piece.text);
            out.push_str(comment.trim_end());
            line_end = start + comment.len();
            continue;
        };
        let end = block.span.end;
        let mut inside: Vec<Piece<'_>> = Vec::new();
        while let Some(piece) = all.next_if(|piece| piece.span.start < end) {
            inside.push(piece);
        }
        line_end = end as usize;
        let written = slice(program, block.span).trim_end();
        if matches!(block.kind, StatementKind::Command(_)) {
            out.push_str(written);
            continue;
        }
        let laid_out = layout::statement(&inside, &block.kind, width);
        if careful && !reads_alike(&laid_out, written) {
            kept.push(block.span);
            out.push_str(written);
        } else {
            out.push_str(&laid_out);
        }
    }
    if !out.is_empty() {
        out.push('\n');
    }
    Formatted { text: out, kept }
}

/// The statements that stand in a text: several heads before one `<-` are as many statements of one place.
fn blocks(statements: &[Statement]) -> impl Iterator<Item = &Statement> {
    let mut end = None;
    statements.iter().filter(move |statement| {
        let is_new = end.is_none_or(|end| statement.span.start >= end);
        end = Some(statement.span.end);
        is_new
    })
}

#[cfg(test)]
mod tests {
    use super::{WIDTH, format};

    fn formatted(program: &str) -> String {
        let formatted = format(program, WIDTH).unwrap_or_else(|found| panic!("{program}: {found:?}"));
        assert_eq!(formatted.kept, [], "{program}");
        formatted.text
    }

    #[test]
    fn blanks_are_those_of_the_language() {
        for (written, expected) in [
            ("+edge(1,2)", "+edge(1, 2)"),
            ("+edge[ ( 1 , 2 ),(3,4) , ]", "+edge[(1, 2), (3, 4)]"),
            ("?  edge( X:desc,Y ) ,X>3", "?edge(X:desc, Y), X > 3"),
            ("+p(X,Y)<-q(X,Z),Y=Z*2+1-  4", "+p(X, Y) <- q(X, Z), Y = Z * 2 + 1 - 4"),
            ("?p(X), X <-5, Y = - 4", "?p(X), X < -5, Y = -4"),
            ("+n(X,count<Y>)<-e(X,Y)", "+n(X, count<Y>) <- e(X, Y)"),
            ("?top_k<3,X:desc , Y> <- e(X,Y)", "?top_k<3, X:desc, Y> <- e(X, Y)"),
            ("+person( name:string,tags:list[ string ] )", "+person(name: string, tags: list[string])"),
            ("+r(a:{x:int,y : float})", "+r(a: { x: int, y: float })"),
            ("type  Age:int", "type Age: int"),
            ("-old(X),+new(X)<-old(X)", "-old(X), +new(X) <- old(X)"),
            (
                "+p(X) <- ( q(X)or r(X) , s(X)),! (t(X),u(X)), !v(X)",
                "+p(X) <- (q(X) or r(X), s(X)), !(t(X), u(X)), !v(X)",
            ),
            ("?p(X),X=concat( \"a\"  ,$b)", "?p(X), X = concat(\"a\", $b)"),
            ("+t(t\"2024-01-01\",[ 1,-2.5,  1e3 ])", "+t(t\"2024-01-01\", [1, -2.5, 1e3])"),
            (".kg   use lab  ", ".kg   use lab"),
            ("-edge", "-edge"),
        ] {
            assert_eq!(formatted(written), format!("{expected}\n"), "{written}");
        }
    }

    #[test]
    fn what_does_not_fit_has_lines_of_its_own() {
        let long = "+reaches(From, To, Distance) <- edge(From, Middle, First), reaches(Middle, To, Rest), Distance = First + Rest";
        let expected = "+reaches(From, To, Distance) <-\n    edge(From, Middle, First),\n    \
            reaches(Middle, To, Rest),\n    Distance = First + Rest\n";
        assert_eq!(formatted(long), expected);
        let rows = format!("+name[{}]", ["(1, \"somebody\")"; 10].join(","));
        let expected = format!("+name[\n{}]\n", "    (1, \"somebody\"),\n".repeat(10));
        assert_eq!(formatted(&rows), expected);
        let vector = format!("+v(1, [{}])", vec!["0.125"; 40].join(", "));
        assert!(formatted(&vector).lines().all(|line| line.len() <= 100), "{}", formatted(&vector));
        assert!(formatted(&vector).lines().count() < 10, "{}", formatted(&vector));
    }

    #[test]
    fn comments_stay_where_they_are() {
        let program = "% first\n\n\n// of p\n  /* c */ +p(1)   // behind\n+q(X)<-  // why\n  p(X) , // then\n % whole\n  X>1 /* in */\n// last";
        let expected = "% first\n\n// of p\n/* c */ +p(1) // behind\n+q(X) <- // why\n    p(X), // then\n    \
            % whole\n    X > 1 /* in */\n// last\n";
        assert_eq!(formatted(program), expected);
        assert_eq!(
            formatted("+e[ // rows\n(1,2), // one\n// two\n(3,4) // end\n]"),
            "+e[ // rows\n    (1, 2), // one\n    // two\n    (3, 4), // end\n]\n"
        );
        assert_eq!(formatted("+ // c\n  only(1)"), "+ // c\n    only(1)\n");
        assert_eq!(formatted("+p(X) // c\n  <- q(X)"), "+p(X) // c\n    <- q(X)\n");
        assert_eq!(formatted("// nothing else"), "// nothing else\n");
        assert_eq!(formatted(""), "");
    }

    #[test]
    fn it_is_done_once() {
        for program in
            ["% a\n+p(X)<-q(X) // b\n\n\n?p(X)", "+e[(1,2), // x\n(2,3)]", "?p(X, /* y */ Y),\n // z\n X<Y"]
        {
            let once = formatted(program);
            assert_eq!(formatted(&once), once);
        }
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        let found = format("?p(X\n+q(1)", WIDTH).unwrap_err();
        assert_eq!(found[0].code.as_str(), "parse_error");
    }
}
