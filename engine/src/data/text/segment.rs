//! `Segment`: which of some neighbouring rows hold which terms, how often, and where: an inverted index.
//!
//! A posting list is a slice of columns that all terms of a segment share. Its rows ascend; the places of a term in one
//! row are a slice of the column of positions, as long as the term is frequent.

use std::ops::Range;

use foldhash::fast::RandomState;
use hashbrown::HashMap;

use super::Analyzer;
use crate::data::lazy::{GoOn, Stopped};

/// The length of what is no text.
const NO_TEXT: u32 = u32::MAX;

/// After so many texts it is asked whether to go on.
const CHECK_ROWS: usize = 256;

/// The terms of some neighbouring rows.
#[derive(Debug)]
pub struct Segment {
    rows: Range<usize>,
    /// Terms of each row.
    lengths: Vec<u32>,
    texts: usize,
    words: u64,
    /// All terms, sorted, one after the other.
    terms: String,
    /// Where each of them ends.
    ends: Vec<u32>,
    /// `postings[starts[t]..starts[t + 1]]` are those of term `t`.
    starts: Vec<u32>,
    /// The row of each posting, counted from the first of the segment.
    postings: Vec<u32>,
    /// `positions[places[p]..places[p + 1]]` is where the term stands in the row of posting `p`.
    places: Vec<u32>,
    positions: Vec<u32>,
}

/// The rows of a segment that hold a term, with how often and where.
#[derive(Debug, Clone, Copy)]
pub struct PostingList<'s> {
    rows: &'s [u32],
    /// One more than there are rows.
    places: &'s [u32],
    positions: &'s [u32],
}

impl Segment {
    /// The terms of these rows; `text` answers nothing for what is no text. Its texts have less than 4 GiB.
    pub(super) fn new<'t>(
        rows: Range<usize>,
        text: impl Fn(usize) -> Option<&'t str>,
        analyzer: &Analyzer,
        go_on: GoOn<'_>,
    ) -> Result<Segment, Stopped> {
        let mut numbers = TermNumbers::default();
        // The terms of all rows, one row after the other.
        let mut stream: Vec<u32> = Vec::new();
        let mut lengths = Vec::with_capacity(rows.len());
        for row in rows.clone() {
            if row % CHECK_ROWS == 0 && !go_on() {
                return Err(Stopped);
            }
            let before = stream.len();
            lengths.push(match text(row) {
                Some(text) => {
                    analyzer.each_word(text, |word| stream.push(numbers.of(word, analyzer)));
                    (stream.len() - before) as u32
                }
                None => NO_TEXT,
            });
        }
        let (terms, ends, ranks) = numbers.sorted();
        let mut segment = Segment {
            texts: lengths.iter().filter(|length| **length != NO_TEXT).count(),
            words: stream.len() as u64,
            starts: Vec::new(),
            postings: Vec::new(),
            places: Vec::new(),
            positions: vec![0; stream.len()],
            rows,
            lengths,
            terms,
            ends,
        };
        stream.iter_mut().for_each(|term| *term = ranks[*term as usize]);
        segment.invert(&stream);
        Ok(segment)
    }

    /// Sorts the terms of all rows by term, counting first how much room each takes.
    fn invert(&mut self, stream: &[u32]) {
        const NOWHERE: u32 = u32::MAX;
        let terms = self.ends.len();
        let mut seen_in = vec![NOWHERE; terms];
        let (mut rows_of, mut places_of) = (vec![0_u32; terms], vec![0_u32; terms]);
        for (row, _, term) in each(&self.lengths, stream) {
            let term = term as usize;
            places_of[term] += 1;
            rows_of[term] += u32::from(std::mem::replace(&mut seen_in[term], row) != row);
        }
        self.starts = sums(&rows_of);
        let count = self.starts.last().map_or(0, |end| *end as usize);
        (self.postings, self.places) = (vec![0; count], vec![0; count + 1]);
        if let Some(end) = self.places.last_mut() {
            *end = stream.len() as u32;
        }
        let (mut next_posting, mut next_place) = (self.starts.clone(), sums(&places_of));
        seen_in.fill(NOWHERE);
        for (row, position, term) in each(&self.lengths, stream) {
            let term = term as usize;
            let place = next_place[term];
            if std::mem::replace(&mut seen_in[term], row) != row {
                let posting = next_posting[term] as usize;
                (self.postings[posting], self.places[posting]) = (row, place);
                next_posting[term] += 1;
            }
            self.positions[place as usize] = position;
            next_place[term] += 1;
        }
    }

    /// The rows that it is about.
    pub fn rows(&self) -> Range<usize> {
        self.rows.clone()
    }

    /// So many rows hold a text.
    pub fn texts(&self) -> usize {
        self.texts
    }

    /// Terms of all texts.
    pub fn words(&self) -> u64 {
        self.words
    }

    /// Terms of a row, counted from the first of the segment; nothing if it holds no text.
    #[inline]
    pub fn length(&self, row: usize) -> Option<u32> {
        Some(self.lengths[row]).filter(|length| *length != NO_TEXT)
    }

    /// The posting list of a term; an empty one if no row holds it.
    pub fn find(&self, term: &str) -> PostingList<'_> {
        let (mut from, mut to) = (0, self.ends.len());
        while from < to {
            let middle = from + (to - from) / 2;
            if self.term(middle) < term { from = middle + 1 } else { to = middle }
        }
        let postings = match from < self.ends.len() && self.term(from) == term {
            true => self.starts[from] as usize..self.starts[from + 1] as usize,
            false => 0..0,
        };
        PostingList {
            rows: &self.postings[postings.clone()],
            places: &self.places[postings.start..=postings.end],
            positions: &self.positions,
        }
    }

    fn term(&self, number: usize) -> &str {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        &self.terms[start..self.ends[number] as usize]
    }

    /// Bytes held.
    pub fn memory_bytes(&self) -> usize {
        let numbers =
            [&self.lengths, &self.ends, &self.starts, &self.postings, &self.places, &self.positions];
        self.terms.capacity() + numbers.map(Vec::capacity).iter().sum::<usize>() * size_of::<u32>()
    }
}

impl<'s> PostingList<'s> {
    /// Its rows, counted from the first of the segment.
    pub fn rows(self) -> &'s [u32] {
        self.rows
    }

    /// Each row with how often it holds the term.
    #[inline]
    pub fn frequencies(self) -> impl Iterator<Item = (u32, u32)> + 's {
        self.rows.iter().zip(self.places.windows(2)).map(|(row, places)| (*row, places[1] - places[0]))
    }

    /// Where the term stands in the row of a posting.
    pub fn positions(self, posting: usize) -> &'s [u32] {
        &self.positions[self.places[posting] as usize..self.places[posting + 1] as usize]
    }
}

/// Each term with its row and its place there.
fn each<'s>(lengths: &'s [u32], stream: &'s [u32]) -> impl Iterator<Item = (u32, u32, u32)> + 's {
    let lengths = lengths.iter().map(|length| if *length == NO_TEXT { 0 } else { *length });
    let places =
        (0..).zip(lengths).flat_map(|(row, length)| (0..length).map(move |position| (row, position)));
    places.zip(stream).map(|((row, position), term)| (row, position, *term))
}

/// Where each part begins if they stand one after the other, and where the last one ends.
fn sums(lengths: &[u32]) -> Vec<u32> {
    let sums = lengths.iter().scan(0, |sum, length| {
        *sum += length;
        Some(*sum)
    });
    std::iter::once(0).chain(sums).collect()
}

/// Numbers of terms, in the order in which they are met.
#[derive(Default)]
struct TermNumbers {
    /// Each word by the number of its term, so that no stem is looked for twice.
    words: HashMap<Box<str>, u32, RandomState>,
    terms: HashMap<Box<str>, u32, RandomState>,
}

impl TermNumbers {
    fn of(&mut self, word: &str, analyzer: &Analyzer) -> u32 {
        if let Some(number) = self.words.get(word) {
            return *number;
        }
        let term = analyzer.term(word);
        let next = self.terms.len() as u32;
        let number = *self.terms.entry(term.into()).or_insert(next);
        self.words.insert(word.into(), number);
        number
    }

    /// The terms in their order, where each ends, and which place each number has among them.
    fn sorted(self) -> (String, Vec<u32>, Vec<u32>) {
        let mut sorted: Vec<(Box<str>, u32)> = self.terms.into_iter().collect();
        sorted.sort_unstable();
        let (mut terms, mut ends, mut ranks) = (String::new(), Vec::new(), vec![0; sorted.len()]);
        for (rank, (term, number)) in (0..).zip(sorted) {
            terms.push_str(&term);
            ends.push(terms.len() as u32);
            ranks[number as usize] = rank;
        }
        (terms, ends, ranks)
    }
}
