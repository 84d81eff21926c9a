//! Programs made worse: what a careless or hostile hand makes of the golden ones. The same seed gives the same ones.

use std::path::Path;

use crate::golden::files;

/// Every program of the golden files.
pub fn corpus() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden");
    files(&folder).iter().flat_map(|file| file.programs().map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// Endless mutations of a corpus.
#[derive(Debug)]
pub struct Mutations {
    corpus: Vec<String>,
    random: Random,
}

impl Mutations {
    /// Mutations of these programs.
    pub fn new(corpus: Vec<String>, seed: u64) -> Mutations {
        Mutations { corpus, random: Random(seed | 1) }
    }
}

impl Iterator for Mutations {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        let random = &mut self.random;
        let mut text = random.of(&self.corpus)?.clone();
        // Programs as they are, so that the mutated ones find something; the others mostly with one change.
        let changes = [0, 0, 0, 1, 1, 1, 1, 2, 3, 4];
        for _ in 0..*random.of(&changes)? {
            text = match random.below(8) {
                0 => without_token(&text, random),
                1 => doubled_token(&text, random),
                2 => swapped_tokens(&text, random),
                3 => foreign_character(&text, random),
                4 => text[..random.boundary(&text)].to_owned(),
                5 => {
                    let other = random.of(&self.corpus)?;
                    let (cut, from) = (random.boundary(&text), random.boundary(other));
                    format!("{}{}", &text[..cut], &other[from..])
                }
                6 => format!("{text}\n{}", random.of(&self.corpus)?),
                _ => foreign_token(&text, random),
            };
        }
        // A mutation of a mutation may double; what is long is tried elsewhere.
        let end = (0..=text.len().min(4_000)).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(end);
        Some(text)
    }
}

/// Words, numbers, blanks and single signs.
fn tokens(text: &str) -> Vec<&str> {
    let class = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' => 0,
        c if c.is_whitespace() => 1,
        _ => 2,
    };
    let mut tokens = Vec::new();
    let mut start = 0;
    let mut last = None;
    for (at, c) in text.char_indices() {
        if last.is_some_and(|last| last != class(c) || last == 2) {
            tokens.push(&text[start..at]);
            start = at;
        }
        last = Some(class(c));
    }
    tokens.push(&text[start..]);
    tokens
}

fn without_token(text: &str, random: &mut Random) -> String {
    let mut tokens = tokens(text);
    tokens.remove(random.below(tokens.len()));
    tokens.concat()
}

fn doubled_token(text: &str, random: &mut Random) -> String {
    let mut tokens = tokens(text);
    let at = random.below(tokens.len());
    tokens.insert(at, tokens[at]);
    tokens.concat()
}

fn swapped_tokens(text: &str, random: &mut Random) -> String {
    let mut tokens = tokens(text);
    let (a, b) = (random.below(tokens.len()), random.below(tokens.len()));
    tokens.swap(a, b);
    tokens.concat()
}

fn foreign_token(text: &str, random: &mut Random) -> String {
    const TOKENS: &[&str] = &[
        "<-",
        "!",
        "?",
        "+",
        "-",
        "(",
        ")",
        "[",
        "]",
        ",",
        "\n",
        "\n ",
        "\"",
        "\\",
        "/*",
        "*/",
        "//",
        "%",
        "$p",
        "_",
        "X",
        "null",
        "9223372036854775807",
        "-9223372036854775808",
        "1e308",
        "0",
        "limit(0)",
        ":desc",
        "count<X>",
        "sum<",
        "{",
        "}",
        ".kg",
        ".rel drop",
        "type T: int",
        "=",
        "<",
        "-0.0",
        "\u{0}",
        "\u{feff}",
        "é",
        "\u{1F600}",
        "\r\n",
    ];
    let mut tokens = tokens(text);
    let foreign = random.of(TOKENS).copied().unwrap_or("");
    tokens.insert(random.below(tokens.len() + 1), foreign);
    tokens.concat()
}

fn foreign_character(text: &str, random: &mut Random) -> String {
    let mut bytes = text.as_bytes().to_vec();
    if !bytes.is_empty() {
        let at = random.below(bytes.len());
        bytes[at] ^= 1 << random.below(8);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A small generator, so that a seed means the same everywhere (Marsaglia's xorshift).
#[derive(Debug)]
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() >> 11) as usize % bound.max(1)
    }

    fn of<'t, T>(&mut self, items: &'t [T]) -> Option<&'t T> {
        items.get(self.below(items.len()))
    }

    fn boundary(&mut self, text: &str) -> usize {
        let mut at = self.below(text.len() + 1);
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }
}
