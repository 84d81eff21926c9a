//! From a text to its terms: words as Unicode cuts them (UAX 29), in lower case, and of these the stems.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use rust_stemmers::Stemmer;
use unicode_segmentation::UnicodeSegmentation;

use super::Language;

/// Finds the terms of texts in one language.
pub struct Analyzer {
    stemmer: Option<Stemmer>,
}

impl Analyzer {
    /// For texts in this language.
    pub fn new(language: Language) -> Analyzer {
        Analyzer { stemmer: language.stemmer() }
    }

    /// The terms of a text, in their order.
    pub fn terms(&self, text: &str) -> Vec<String> {
        let mut terms = Vec::new();
        self.each_word(text, |word| terms.push(self.term(word).into_owned()));
        terms
    }

    /// Calls `visit` with each word of a text, in lower case.
    pub(super) fn each_word(&self, text: &str, mut visit: impl FnMut(&str)) {
        let mut folded = String::new();
        for word in text.unicode_words() {
            folded.clear();
            if word.is_ascii() {
                folded.push_str(word);
                folded.make_ascii_lowercase();
            } else {
                folded.push_str(&word.to_lowercase());
            }
            visit(&folded);
        }
    }

    /// The term of a word in lower case: its stem, or itself where it has none.
    pub(super) fn term<'w>(&self, word: &'w str) -> Cow<'w, str> {
        let Some(stemmer) = &self.stemmer else { return word.into() };
        // Its algorithms are translated by a machine, and not all of them are known to be right for whatever may be
        // called a word. No text may keep a relation from being searched.
        let stem = catch_unwind(AssertUnwindSafe(|| stemmer.stem(word)));
        stem.ok().filter(|stem| !stem.is_empty()).unwrap_or(word.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str, language: &str) -> Vec<String> {
        Analyzer::new(Language::named(language).unwrap()).terms(text)
    }

    #[test]
    fn words_are_cut_as_unicode_says_and_folded() {
        assert_eq!(
            terms("Don't PANIC: 3.14, e-mail, ÉTÉ!", "none"),
            ["don't", "panic", "3.14", "e", "mail", "été"]
        );
        assert_eq!(terms("東京 --- \u{1F600}", "none"), ["東", "京"]);
        assert_eq!(terms("", "none"), [""; 0]);
    }

    #[test]
    fn a_language_has_stems() {
        assert_eq!(terms("Runners were running", "english"), ["runner", "were", "run"]);
        assert_eq!(terms("Häuser", "german"), ["haus"]);
        assert_eq!(terms("running", "none"), ["running"]);
        assert!(Language::named("klingon").is_none());
        for language in Language::all() {
            assert_eq!(Language::named(&language.name().to_uppercase()), Some(language));
        }
    }
}
