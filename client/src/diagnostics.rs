//! Errors as people read them: the code, the sentence, the line with a caret under the cause, and what to do.
//!
//! Places come from the server as byte offsets into the program that was sent. They are fitted into the text before
//! use, so that a wrong one shows the wrong spot and nothing worse.

use crate::output::printable;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use std::ops::Range;
use stratalog_client::{Annotation, Failure, Place, Severity, code_name};
use stratalog_protocol::masked;

/// The program that an error is about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'a> {
    pub program: &'a str,
    /// The name of the file it came from.
    pub origin: Option<&'a str>,
}

impl Source<'_> {
    /// For errors that are about no program.
    pub(crate) const NONE: Source<'static> = Source { program: "", origin: None };
}

/// How errors are to look.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    pub colour: bool,
    /// Columns of the terminal.
    pub width: Option<u16>,
}

/// Everything that the server found, one report after the other.
pub(crate) fn render(failure: &Failure, source: Source<'_>, look: Look) -> String {
    let program = masked(source.program);
    let source = Source { program: &program, ..source };
    let whole;
    let found = if failure.diagnostics.is_empty() {
        whole = [Annotation {
            severity: Severity::Error,
            code: failure.code,
            message: failure.message.clone(),
            help: failure.help.clone(),
            span: failure.span,
            labels: Vec::new(),
            fixes: Vec::new(),
        }];
        whole.as_slice()
    } else {
        failure.diagnostics.as_slice()
    };
    let mut reports: Vec<String> = found.iter().map(|one| render_one(one, source, look)).collect();
    reports.extend(notes(failure));
    reports.join("\n\n")
}

/// An error without a place in a program, in the same look.
pub(crate) fn render_plain(message: &str, look: Look) -> String {
    let message = printable_lines(message);
    renderer(look).render(&[Group::with_title(Level::ERROR.primary_title(message))])
}

fn render_one(found: &Annotation, source: Source<'_>, look: Look) -> String {
    let level = match found.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let code = code_name(found.code);
    let labels: Vec<(Range<usize>, String)> = found
        .labels
        .iter()
        .map(|label| (range(label.span, source.program), printable_lines(&label.text)))
        .collect();
    let mut group = Group::with_title(level.primary_title(printable_lines(&found.message)).id(code));
    if let Some(cause) = found.span.map(|span| range(span, source.program)) {
        let window = window(labels.iter().map(|(range, _)| range).chain([&cause]), source.program);
        let within = |range: Range<usize>| range.start - window.start..range.end - window.start;
        let first_line = 1 + source.program[..window.start].matches('\n').count();
        let snippet = Snippet::source(&source.program[window.clone()])
            .line_start(first_line)
            .path(source.origin)
            .annotation(AnnotationKind::Primary.span(within(cause)))
            .annotations(
                labels
                    .into_iter()
                    .map(|(range, text)| AnnotationKind::Context.span(within(range)).label(text)),
            );
        group = group.element(snippet);
    }
    if let Some(help) = &found.help {
        group = group.element(Level::HELP.message(printable_lines(help)));
    }
    renderer(look).render(&[group])
}

/// What belongs to the failure as a whole.
fn notes(failure: &Failure) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(limit) = &failure.limit {
        notes.push(format!("note: the limit `{}` is {}", printable(&limit.name), limit.value));
    }
    if let Some(wait) = failure.retry_after_ms {
        notes.push(format!("note: trying again makes sense after {wait} ms"));
    }
    notes
}

fn renderer(look: Look) -> Renderer {
    let renderer = if look.colour { Renderer::styled() } else { Renderer::plain() };
    match look.width {
        Some(width) => renderer.term_width(usize::from(width)),
        None => renderer,
    }
}

/// The bytes of a place, moved to where characters of `program` begin and end.
fn range(place: Place, program: &str) -> Range<usize> {
    let start = program.floor_char_boundary(place.offset);
    let end = program.ceil_char_boundary(place.offset.saturating_add(place.length));
    start..end.max(start)
}

/// The whole lines that hold all of `ranges`: large programs are not looked at any further.
fn window<'a>(ranges: impl Iterator<Item = &'a Range<usize>>, program: &str) -> Range<usize> {
    let (start, end) =
        ranges.fold((program.len(), 0), |(start, end), range| (start.min(range.start), end.max(range.end)));
    let end = end.max(start);
    let first = program[..start].rfind('\n').map_or(0, |line_break| line_break + 1);
    let last = program[end..].find('\n').map_or(program.len(), |length| end + length);
    first..last
}

/// `text` with its line breaks, but nothing else that could steer a terminal.
fn printable_lines(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(printable).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use stratalog_client::{Code, Label};

    const PLAIN: Look = Look { colour: false, width: None };

    fn place(program: &str, part: &str) -> Place {
        let offset = program.find(part).unwrap();
        Place { line: 0, column: 0, offset, length: part.len() }
    }

    fn failure(program: &str, part: &str) -> Failure {
        let mut failure =
            Failure::new(Code::UnknownRelation, "no relation is called `edeg`").help("did you mean `edge`?");
        failure.span = Some(place(program, part));
        failure
    }

    #[test]
    fn the_caret_stands_under_the_cause() {
        let program = "+edge(1, 2)\n?edeg(X, Y)\n";
        let source = Source { program, origin: Some("graph.dl") };
        let expected = "\
error[unknown_relation]: no relation is called `edeg`
 --> graph.dl:2:2
  |
2 | ?edeg(X, Y)
  |  ^^^^
  |
  = help: did you mean `edge`?";
        assert_eq!(render(&failure(program, "edeg"), source, PLAIN), expected);
    }

    #[test]
    fn every_finding_is_shown_with_its_labels() {
        let program = "a(X) <- b(Y)\nc(X) <- d(Y)";
        let finding = |part: &str, label: &str| Annotation {
            severity: Severity::Error,
            code: Code::UnsafeRule,
            message: format!("`X` is not bound in `{part}`"),
            help: None,
            span: Some(place(program, part)),
            labels: vec![Label { span: place(program, label), text: "binds only Y".into() }],
            fixes: Vec::new(),
        };
        let mut failure = Failure::new(Code::UnsafeRule, "first");
        failure.diagnostics = vec![finding("a(X)", "b(Y)"), finding("c(X)", "d(Y)")];
        let text = render(&failure, Source { program, origin: None }, PLAIN);
        assert_eq!(text.matches("error[unsafe_rule]").count(), 2, "{text}");
        assert!(text.contains("1 | a(X) <- b(Y)") && text.contains("2 | c(X) <- d(Y)"), "{text}");
        assert_eq!(text.matches("---- binds only Y").count(), 2, "{text}");
    }

    #[test]
    fn any_place_in_any_text_is_survived() {
        for program in ["", "\n", "a", "é\n\n🦀 日本\r\nx", "tab\tand \u{1b}[0m\nend\n"] {
            for offset in (0..program.len() + 3).chain([usize::MAX]) {
                for length in [0, 1, 2, 3, 100, usize::MAX] {
                    let mut failure = Failure::new(Code::ParseError, "m");
                    failure.span = Some(Place { line: 1, column: 1, offset, length });
                    let text = render(&failure, Source { program, origin: Some("f") }, PLAIN);
                    assert!(text.starts_with("error[parse_error]: m"), "{text}");
                }
            }
        }
    }

    #[test]
    fn limits_and_waiting_times_are_told() {
        let failure =
            Failure::new(Code::Overloaded, "too busy").limit("limits.workers", 4).retry_after_ms(250);
        let text = render(&failure, Source { program: "?a(X)", origin: None }, PLAIN);
        assert!(text.contains("`limits.workers` is 4") && text.contains("after 250 ms"), "{text}");
    }

    #[test]
    fn a_message_cannot_steer_the_terminal() {
        let text = render_plain("no \u{1b}]0;title\u{7}", PLAIN);
        assert_eq!(text, "error: no \\u001b]0;title\\u0007");
    }
}
