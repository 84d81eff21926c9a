//! BM25 as it is written, one text after the other, and queries to ask it.

use std::collections::BTreeMap;

use super::random::Random;

/// A part of a query: words in a row, and whether they have to (`+`), may (` `) or must not (`-`) be there.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Part {
    pub(super) sign: char,
    pub(super) words: Vec<String>,
}

/// A query as it is written.
pub(super) fn text(query: &[Part]) -> String {
    let part = |part: &Part| {
        let sign = if part.sign == ' ' { String::new() } else { part.sign.to_string() };
        let words = part.words.join(" ");
        if part.words.len() == 1 { format!("{sign}{words}") } else { format!("{sign}\"{words}\"") }
    };
    query.iter().map(part).collect::<Vec<_>>().join(" ")
}

/// A word: the higher its number, the rarer.
pub(super) fn word(random: &mut Random, words: usize) -> String {
    let rare = random.below(words) * random.below(words) / words;
    format!("w{rare}")
}

/// A query of a few parts.
pub(super) fn query(random: &mut Random, words: usize) -> Vec<Part> {
    let count = 1 + random.below(4);
    let mut part = || Part {
        sign: [' ', ' ', ' ', ' ', '+', '-'][random.below(6)],
        words: {
            let count = [1, 1, 1, 2, 3][random.below(5)];
            (0..count).map(|_| word(random, words)).collect()
        },
    };
    (0..count).map(|_| part()).collect()
}

/// The words of a text of nothing but letters and digits.
fn words_of(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// The scores of the rows that answer a query, by id.
pub(super) fn scores(texts: &BTreeMap<i64, Option<String>>, query: &[Part]) -> BTreeMap<i64, f64> {
    let documents: Vec<(i64, Vec<String>)> =
        texts.iter().filter_map(|(id, text)| Some((*id, words_of(text.as_ref()?)))).collect();
    let all = documents.len() as f64;
    let average = documents.iter().map(|(_, words)| words.len()).sum::<usize>() as f64 / all;
    let frequency = |words: &[String], part: &[String]| {
        if words.len() < part.len() { 0 } else { words.windows(part.len()).filter(|w| *w == part).count() }
    };
    let mut counted: Vec<&Part> = Vec::new();
    for part in query.iter().filter(|part| part.sign != '-') {
        if counted.iter().all(|known| known.words != part.words) {
            counted.push(part);
        }
    }
    let idfs: Vec<f64> = counted
        .iter()
        .map(|part| {
            let holding = documents.iter().filter(|(_, words)| frequency(words, &part.words) > 0).count();
            (1.0 + (all - holding as f64 + 0.5) / (holding as f64 + 0.5)).ln()
        })
        .collect();
    let answers = |words: &[String]| {
        query.iter().all(|part| match part.sign {
            '+' => frequency(words, &part.words) > 0,
            '-' => frequency(words, &part.words) == 0,
            _ => true,
        })
    };
    let mut found = BTreeMap::new();
    for (id, words) in documents.iter().filter(|(_, words)| answers(words)) {
        let mut score = 0.0;
        for (part, idf) in counted.iter().zip(&idfs) {
            let f = frequency(words, &part.words) as f64;
            score += idf * f * 2.2 / (f + 1.2 * (0.25 + 0.75 * words.len() as f64 / average));
        }
        if score > 0.0 {
            found.insert(*id, score);
        }
    }
    found
}
