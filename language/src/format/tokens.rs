//! The pieces of a program as the formatter moves them: tokens and comments, with what stood between them.

use stratalog_engine::Span;
use stratalog_engine::syntax::{TokenClass, tokens};

/// A token or comment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece<'t> {
    pub(super) text: &'t str,
    pub(super) span: Span,
    pub(super) class: TokenClass,
    /// Whether it is the first of its line.
    pub(super) begins_line: bool,
    /// Whether it stands directly behind the piece before it.
    pub(super) touches: bool,
}

impl Piece<'_> {
    /// A comment that lasts until its line ends.
    pub(super) fn is_line_comment(&self) -> bool {
        self.class == TokenClass::Comment && !self.text.starts_with("/*")
    }

    pub(super) fn is_block_comment(&self) -> bool {
        self.class == TokenClass::Comment && self.text.starts_with("/*")
    }

    /// Whether an expression may end here, so that a sign behind it has two sides.
    pub(super) fn ends_operand(&self) -> bool {
        match self.class {
            TokenClass::Name | TokenClass::Variable | TokenClass::Parameter => true,
            TokenClass::Number | TokenClass::Text => true,
            TokenClass::Sign => matches!(self.text, ")" | "]" | "}"),
            TokenClass::Comment | TokenClass::Wrong => false,
        }
    }
}

/// All of a program.
pub(super) fn pieces(program: &str) -> Vec<Piece<'_>> {
    let mut end = 0;
    let found = tokens(program).into_iter().map(|(span, class)| {
        let (start, last) = (span.start as usize, std::mem::replace(&mut end, span.end as usize));
        let between = &program[last..start];
        Piece {
            text: &program[start..span.end as usize],
            span,
            class,
            begins_line: last == 0 || between.contains('\n'),
            touches: between.is_empty(),
        }
    });
    found.collect()
}
