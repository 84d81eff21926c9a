//! A diagnostic as text: the message, its place, the source line with carets, and what to do.
//!
//! The text is plain: no colours and no terminal width, so that it can be compared in tests and sent over a wire. Only
//! the lines that are pointed at are looked at, however long the program is.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use super::{Diagnostic, Severity, SourceMap, Span};

/// A line longer than this is cut around the place that is pointed at.
const LONGEST_EXCERPT: usize = 4096;
/// What remains of such a line before and after.
const AROUND: usize = 60;

/// Text with the source lines and carets. Places outside the text are moved to its nearest end.
pub fn render(diagnostic: &Diagnostic, source: &SourceMap<'_>) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut group = Group::with_title(level.primary_title(&diagnostic.message).id(diagnostic.code.as_str()));
    if let Some(span) = diagnostic.span {
        group = excerpt(group, diagnostic, span, source);
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(help));
    }
    let mut text = Renderer::plain().render(&[group]);
    text.push('\n');
    text
}

fn excerpt<'a>(
    group: Group<'a>,
    diagnostic: &'a Diagnostic,
    span: Span,
    source: &SourceMap<'a>,
) -> Group<'a> {
    let text = source.text();
    let primary = clamp(span, text);
    let mut labels: Vec<(Range<usize>, &str)> =
        diagnostic.labels.iter().map(|(span, label)| (clamp(*span, text), label.as_str())).collect();

    let first = labels.iter().map(|(range, _)| range.start).fold(primary.start, usize::min);
    let last = labels.iter().map(|(range, _)| range.end).fold(primary.end, usize::max);
    let mut window = line_start(text, first)..line_end(text, last);
    let cut = window.len() > LONGEST_EXCERPT;
    if cut {
        let end = primary.end.min(primary.start + LONGEST_EXCERPT / 2);
        let from = boundary_before(text, primary.start.saturating_sub(AROUND));
        let to = boundary_before(text, end.saturating_add(AROUND).min(text.len()));
        window = from.max(line_start(text, primary.start))..to.min(line_end(text, end));
        labels.retain(|(range, _)| window.start <= range.start && range.end <= window.end);
    }

    let within = |range: &Range<usize>| {
        let start = range.start.clamp(window.start, window.end) - window.start;
        let end = range.end.clamp(window.start, window.end) - window.start;
        start..end
    };
    let annotations = labels
        .iter()
        .map(|(range, label)| AnnotationKind::Context.span(within(range)).label(*label))
        .chain([AnnotationKind::Primary.span(within(&primary))]);
    let line = source.place(Span::new(window.start, window.start)).line;
    let snippet = Snippet::source(&text[window.clone()]).line_start(line).annotations(annotations);
    if cut {
        // The excerpt no longer tells the column.
        let place = source.place(span);
        group.element(Origin::path("program").line(place.line).char_column(place.column)).element(snippet)
    } else {
        group.element(snippet.path("program"))
    }
}

/// The span as a range that is safe to slice with.
fn clamp(span: Span, text: &str) -> Range<usize> {
    let start = boundary_before(text, (span.start as usize).min(text.len()));
    let end = boundary_before(text, (span.end as usize).min(text.len()));
    start..end.max(start)
}

fn boundary_before(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |newline| at + newline)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Code;

    fn rendered(diagnostic: &Diagnostic, text: &str) -> String {
        render(diagnostic, &SourceMap::new(text))
    }

    #[test]
    fn the_line_is_shown_with_carets_and_help() {
        let text = "+edge(1, 2)\n?edge(X, foo)\n";
        let diagnostic = Diagnostic::error(Code::ParseError, "`foo` is neither a variable nor a constant")
            .at(Span::new(21, 24))
            .help("put text in quotes: \"foo\"");
        assert_eq!(
            rendered(&diagnostic, text),
            "error[parse_error]: `foo` is neither a variable nor a constant
 --> program:2:10
  |
2 | ?edge(X, foo)
  |          ^^^
  |
  = help: put text in quotes: \"foo\"
"
        );
    }

    #[test]
    fn labels_point_at_further_places() {
        let text = "r(X) <- a(X),\n  b(Y)";
        let diagnostic = Diagnostic::error(Code::UnsafeRule, "`Z` is not bound")
            .at(Span::new(2, 3))
            .label(Span::new(16, 20), "does not bind it");
        assert_eq!(
            rendered(&diagnostic, text),
            "error[unsafe_rule]: `Z` is not bound
 --> program:1:3
  |
1 | r(X) <- a(X),
  |   ^
2 |   b(Y)
  |   ---- does not bind it
"
        );
    }

    #[test]
    fn without_a_place_there_is_only_the_message() {
        let diagnostic = Diagnostic::warning(Code::UnknownRelation, "`foo` is empty");
        assert_eq!(rendered(&diagnostic, "?bar(X)"), "warning[unknown_relation]: `foo` is empty\n");
    }

    #[test]
    fn no_span_is_too_odd() {
        let texts =
            ["", "\n", "a", "zażółć\tgęślą\n\njaźń", "\u{1F600}\r\n\u{1F600}", "x\n\n\n\n\n\n\n\n\ny"];
        for text in texts {
            for start in 0..=text.len() as u32 + 3 {
                for end in 0..=text.len() as u32 + 3 {
                    let span = Span { start, end };
                    let other = Span { start: end, end: start };
                    let diagnostic =
                        Diagnostic::error(Code::ParseError, "odd").at(span).label(other, "label");
                    assert!(rendered(&diagnostic, text).starts_with("error[parse_error]: odd\n"));
                }
            }
        }
    }

    #[test]
    fn a_very_long_line_is_cut_around_the_place() {
        let text = format!("+r[{}oops{}]", "(1, 2), ".repeat(100_000), "(3, 4), ".repeat(100_000));
        let at = 3 + 8 * 100_000;
        let diagnostic = Diagnostic::error(Code::ParseError, "`oops`").at(Span::new(at, at + 4));
        let shown = rendered(&diagnostic, &text);
        assert!(shown.len() < 600, "{shown}");
        assert!(shown.contains("program:1:800004"));
        assert!(shown.contains("oops(3, 4)"));
    }
}
