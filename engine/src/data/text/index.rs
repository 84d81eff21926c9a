//! `TextIndex`: the inverted index of a column of a run, cut into segments that threads build and search by themselves.
//!
//! Like all that belongs to a run it knows nothing of versions: rows that were deleted since are in it, and whoever searches
//! passes over them. So what is counted of terms is exact, whatever happened to the relation before.

use std::ops::Range;

use super::{Analyzer, Language, Segment};
use crate::data::codes::Code;
use crate::data::dictionary::Codec;
use crate::data::lazy::{GoOn, Stopped};
use crate::data::{ValueRef, parallel};

/// So many rows of a run are a segment, or fewer if they hold very much.
const SEGMENT_ROWS: usize = 1 << 15;
/// A segment ends with the text that goes beyond this: numbers in it have 32 bits.
const SEGMENT_BYTES: usize = 1 << 28;

/// Which rows of a run hold which terms.
#[derive(Debug)]
pub struct TextIndex {
    segments: Vec<Segment>,
}

impl TextIndex {
    /// Of a column of these codes.
    pub(in crate::data) fn build(
        codes: &[Code],
        language: Language,
        codec: &Codec,
        go_on: GoOn<'_>,
    ) -> Result<TextIndex, Stopped> {
        let text = |row: usize| match codec.value(codes[row]) {
            ValueRef::Text(text) => Some(text),
            _ => None,
        };
        let segment = |rows: Range<usize>| {
            let analyzer = Analyzer::new(language);
            Segment::new(rows, text, &analyzer, go_on)
        };
        let lanes = lanes(codes.len(), |row| text(row).map_or(0, str::len));
        let segments = parallel::map(lanes, segment).into_iter().collect::<Result<_, _>>()?;
        Ok(TextIndex { segments })
    }

    /// Its parts, in the order of rows.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Bytes held.
    pub fn memory_bytes(&self) -> usize {
        self.segments.iter().map(Segment::memory_bytes).sum()
    }

    /// Bytes that it takes to build it, about: a word is six letters, and has a posting, a place and a number.
    pub(in crate::data) fn cost(codes: &[Code], codec: &Codec) -> usize {
        let bytes = codes.iter().map(|code| match codec.value(*code) {
            ValueRef::Text(text) => text.len(),
            _ => 0,
        });
        bytes.sum::<usize>() * 3 + size_of_val(codes)
    }
}

fn lanes(rows: usize, bytes: impl Fn(usize) -> usize) -> Vec<Range<usize>> {
    let (mut lanes, mut start, mut sum) = (Vec::new(), 0, 0);
    for row in 0..rows {
        sum += bytes(row);
        if row + 1 - start == SEGMENT_ROWS || sum > SEGMENT_BYTES || row + 1 == rows {
            lanes.push(start..row + 1);
            (start, sum) = (row + 1, 0);
        }
    }
    lanes
}
