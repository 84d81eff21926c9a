//! What is asked of texts: words of which each counts, `"phrases"`, and of both what `+` has to and what `-` may not stand
//! in a text. Whatever is written is such a query; it may ask for nothing.

use crate::data::Analyzer;

/// A query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextQuery {
    /// Each sequence of terms once among those that are looked for, in the order in which scores are summed up.
    pub(super) clauses: Vec<Clause>,
}

/// Terms that stand one after the other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Clause {
    pub(super) terms: Vec<String>,
    pub(super) occurs: Occurs,
}

/// Whether a text holds a clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Occurs {
    /// It has to.
    Must,
    /// It is the better for it.
    Should,
    /// It must not.
    Never,
}

impl TextQuery {
    /// Reads a query, whose words become terms as those of texts do.
    pub fn parse(text: &str, analyzer: &Analyzer) -> TextQuery {
        let mut clauses = Vec::new();
        let mut rest = text.trim_start();
        while let Some(first) = rest.chars().next() {
            let occurs = match first {
                '+' => Occurs::Must,
                '-' => Occurs::Never,
                _ => Occurs::Should,
            };
            if occurs != Occurs::Should {
                rest = &rest[1..];
            }
            let (part, is_phrase) = match rest.strip_prefix('"') {
                Some(quoted) => {
                    let (phrase, after) = quoted.split_once('"').unwrap_or((quoted, ""));
                    rest = after;
                    (phrase, true)
                }
                None => {
                    let end = rest.find(|c: char| c == '"' || c.is_whitespace()).unwrap_or(rest.len());
                    let (word, after) = rest.split_at(end);
                    rest = after;
                    // `+wi-fi` is one thing, although it is two words.
                    (word, occurs != Occurs::Should)
                }
            };
            let terms = analyzer.terms(part);
            match is_phrase {
                true if terms.is_empty() => {}
                true => clauses.push(Clause { terms, occurs }),
                false => clauses.extend(terms.into_iter().map(|term| Clause { terms: vec![term], occurs })),
            }
            rest = rest.trim_start();
        }
        clauses.sort_unstable();
        // What has to be there is the better for it anyway.
        clauses.dedup_by(|later, known| {
            later.terms == known.terms && (later.occurs == known.occurs || later.occurs == Occurs::Should)
        });
        TextQuery { clauses }
    }

    /// Whether it asks for nothing that a text may hold.
    pub fn is_empty(&self) -> bool {
        self.clauses.iter().all(|clause| clause.occurs == Occurs::Never)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Language;

    fn parsed(text: &str) -> Vec<String> {
        let query = TextQuery::parse(text, &Analyzer::new(Language::NONE));
        let sign = |occurs| match occurs {
            Occurs::Must => "+",
            Occurs::Should => "",
            Occurs::Never => "-",
        };
        query
            .clauses
            .iter()
            .map(|clause| format!("{}{}", sign(clause.occurs), clause.terms.join(" ")))
            .collect()
    }

    #[test]
    fn words_and_phrases_have_signs() {
        assert_eq!(parsed("Cat  dog cat"), ["cat", "dog"]);
        assert_eq!(parsed("\"big cat\" +dog -\"old man\""), ["big cat", "+dog", "-old man"]);
        assert_eq!(parsed("wi-fi +hi-fi -sci-fi"), ["fi", "+hi fi", "-sci fi", "wi"]);
        assert_eq!(parsed("cat +cat -cat"), ["+cat", "-cat"]);
    }

    #[test]
    fn whatever_is_written_is_a_query() {
        for text in ["", " ", "+", "-", "\"", "+\"", "-\"\"", "+ - \" +", "\u{1F600}", "+-+-", "\"\"\"\""] {
            assert_eq!(parsed(text), [""; 0], "{text}");
        }
        assert_eq!(parsed("\"open end"), ["open end"]);
        assert_eq!(parsed("a\"b c\"d + e - f"), ["a", "b c", "d", "e", "f"]);
        assert_eq!(parsed("--a ++b é\"ü"), ["-a", "+b", "é", "ü"]);
        let query = |text| TextQuery::parse(text, &Analyzer::new(Language::NONE));
        assert!(query("-a -\"b c\" +").is_empty() && !query("-a b").is_empty());
    }
}
