//! Colours of what is typed, by the tokens of the language.

use nu_ansi_term::{Color, Style};
use reedline::{Highlighter, StyledText};
use stratalog_engine::syntax::{TokenClass, tokens};

/// Colours programs; commands are left as they are but for their names.
pub(crate) struct Colours;

impl Highlighter for Colours {
    fn highlight(&self, line: &str, _cursor: usize) -> StyledText {
        let mut styled = StyledText::new();
        let mut push = |style: Style, text: &str| styled.push((style, text.to_owned()));
        if line.trim_start().starts_with('.') {
            let end = line
                .trim_start()
                .find(char::is_whitespace)
                .map_or(line.len(), |end| line.len() - line.trim_start().len() + end);
            push(Style::new().fg(Color::Magenta), &line[..end]);
            push(Style::new(), &line[end..]);
            return styled;
        }
        let mut end = 0;
        for (span, class) in tokens(line) {
            let (start, next) = (span.start as usize, span.end as usize);
            push(Style::new(), &line[end..start]);
            push(style(class), &line[start..next]);
            end = next;
        }
        push(Style::new(), &line[end..]);
        styled
    }
}

fn style(class: TokenClass) -> Style {
    match class {
        TokenClass::Name => Style::new().bold(),
        TokenClass::Variable => Style::new().fg(Color::Cyan),
        TokenClass::Parameter => Style::new().fg(Color::Magenta),
        TokenClass::Number => Style::new().fg(Color::Yellow),
        TokenClass::Text => Style::new().fg(Color::Green),
        TokenClass::Sign => Style::new(),
        TokenClass::Comment => Style::new().dimmed(),
        TokenClass::Wrong => Style::new().fg(Color::Red),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_stays_what_it_is() {
        for line in ["", "?edge(X, \"é\") // 名前", "  .kg use lab", ".help", "+note(\"open", "/* x"] {
            assert_eq!(Colours.highlight(line, 0).raw_string(), line);
        }
    }
}
