//! Languages: how the words of a text become terms.

use std::fmt;

use rust_stemmers::{Algorithm, Stemmer};

/// What language texts are in: by its stems, or none, where words are terms as they stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Language {
    name: &'static str,
}

/// The languages with a stemmer (Porter, Snowball: a language for stemming algorithms, 2001). Greek is not among them:
/// the library's stemmer fails on some words.
const STEMMED: [(&str, Algorithm); 17] = [
    ("arabic", Algorithm::Arabic),
    ("danish", Algorithm::Danish),
    ("dutch", Algorithm::Dutch),
    ("english", Algorithm::English),
    ("finnish", Algorithm::Finnish),
    ("french", Algorithm::French),
    ("german", Algorithm::German),
    ("hungarian", Algorithm::Hungarian),
    ("italian", Algorithm::Italian),
    ("norwegian", Algorithm::Norwegian),
    ("portuguese", Algorithm::Portuguese),
    ("romanian", Algorithm::Romanian),
    ("russian", Algorithm::Russian),
    ("spanish", Algorithm::Spanish),
    ("swedish", Algorithm::Swedish),
    ("tamil", Algorithm::Tamil),
    ("turkish", Algorithm::Turkish),
];

impl Language {
    /// Words as they stand.
    pub const NONE: Language = Language { name: "none" };

    /// The language of this name, in any case.
    pub fn named(name: &str) -> Option<Language> {
        Language::all().find(|language| language.name.eq_ignore_ascii_case(name))
    }

    /// All of them, `none` first.
    pub fn all() -> impl Iterator<Item = Language> {
        [Language::NONE].into_iter().chain(STEMMED.iter().map(|(name, _)| Language { name }))
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// What finds the stem of a word, if words have one.
    pub(super) fn stemmer(self) -> Option<Stemmer> {
        let known = STEMMED.iter().find(|(name, _)| *name == self.name);
        known.map(|(_, algorithm)| Stemmer::create(*algorithm))
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
