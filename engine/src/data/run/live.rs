//! Which rows of a run still count, in chunks that versions of the run share: to delete a row copies its chunk alone.

use std::ops::Range;

use arrow::array::BooleanBufferBuilder;
use arrow::buffer::BooleanBuffer;

/// A bit for each row of a run.
#[derive(Debug, Clone)]
pub struct LiveRows {
    /// The bits of each chunk; none where all of its rows count.
    chunks: Vec<Option<BooleanBuffer>>,
    len: usize,
    count: usize,
}

impl LiveRows {
    /// The rows of a chunk.
    const CHUNK: usize = 1 << 16;

    /// All of so many rows.
    pub fn all(len: usize) -> LiveRows {
        LiveRows { chunks: vec![None; len.div_ceil(LiveRows::CHUNK)], len, count: len }
    }

    /// Number of rows that count.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether this row counts.
    #[inline]
    pub fn value(&self, row: usize) -> bool {
        self.chunks[row / LiveRows::CHUNK].as_ref().is_none_or(|bits| bits.value(row % LiveRows::CHUNK))
    }

    /// Of these rows, the bits of a range after the other; none where all of its rows count.
    pub fn bits_of(
        &self,
        rows: Range<usize>,
    ) -> impl Iterator<Item = (Range<usize>, Option<BooleanBuffer>)> + '_ {
        let chunks = rows.start / LiveRows::CHUNK..rows.end.div_ceil(LiveRows::CHUNK);
        chunks.map(move |chunk| {
            let start = chunk * LiveRows::CHUNK;
            let part = rows.start.max(start)..rows.end.min(start + LiveRows::CHUNK);
            let bits = self.chunks[chunk].as_ref().map(|bits| bits.slice(part.start - start, part.len()));
            let some = bits.filter(|bits| bits.count_set_bits() < bits.len());
            (part, some)
        })
    }

    /// The rows that count, in their order.
    pub fn ranges(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.chunks.iter().enumerate().flat_map(|(chunk, bits)| {
            let rows = self.rows(chunk);
            let some = bits.iter().flat_map(BooleanBuffer::set_slices);
            let some = some.map(move |(start, end)| rows.start + start..rows.start + end);
            let all = bits.is_none().then(|| self.rows(chunk));
            all.into_iter().chain(some)
        })
    }

    /// These without some, which are in order.
    pub fn without(&self, dead: &[usize]) -> LiveRows {
        let mut rest = self.clone();
        for dead in dead.chunk_by(|a, b| a / LiveRows::CHUNK == b / LiveRows::CHUNK) {
            let chunk = dead[0] / LiveRows::CHUNK;
            let mut bits = self.bits(chunk);
            dead.iter().for_each(|row| bits.set_bit(row % LiveRows::CHUNK, false));
            let bits = bits.finish();
            rest.count -= self.count_in(chunk) - bits.count_set_bits();
            rest.chunks[chunk] = Some(bits);
        }
        rest
    }

    /// The rows that count here and not there, of as many.
    pub fn difference(&self, other: &LiveRows) -> Vec<usize> {
        let mut rows = Vec::new();
        for (chunk, theirs) in other.chunks.iter().enumerate() {
            let Some(theirs) = theirs else { continue };
            let start = chunk * LiveRows::CHUNK;
            let found = match &self.chunks[chunk] {
                Some(bits) if bits.values().as_ptr() == theirs.values().as_ptr() => continue,
                Some(bits) => bits & &!theirs,
                None => !theirs,
            };
            rows.extend(found.set_indices().map(|row| start + row));
        }
        rows
    }

    /// The bits of all rows.
    pub fn to_buffer(&self) -> BooleanBuffer {
        let mut all = BooleanBufferBuilder::new(self.len);
        (0..self.chunks.len()).for_each(|chunk| all.append_buffer(&self.bits(chunk).finish()));
        all.finish()
    }

    fn rows(&self, chunk: usize) -> Range<usize> {
        let start = chunk * LiveRows::CHUNK;
        start..self.len.min(start + LiveRows::CHUNK)
    }

    fn count_in(&self, chunk: usize) -> usize {
        self.chunks[chunk].as_ref().map_or(self.rows(chunk).len(), BooleanBuffer::count_set_bits)
    }

    /// A copy of the bits of a chunk.
    fn bits(&self, chunk: usize) -> BooleanBufferBuilder {
        let len = self.rows(chunk).len();
        let mut copy = BooleanBufferBuilder::new(len);
        match &self.chunks[chunk] {
            Some(bits) => copy.append_buffer(bits),
            None => copy.append_n(len, true),
        }
        copy
    }
}

impl From<BooleanBuffer> for LiveRows {
    fn from(bits: BooleanBuffer) -> LiveRows {
        let all = LiveRows::all(bits.len());
        let chunks = (0..all.chunks.len()).map(|chunk| {
            let rows = all.rows(chunk);
            Some(bits.slice(rows.start, rows.len()))
        });
        LiveRows { chunks: chunks.collect(), len: bits.len(), count: bits.count_set_bits() }
    }
}

impl FromIterator<bool> for LiveRows {
    fn from_iter<I: IntoIterator<Item = bool>>(rows: I) -> LiveRows {
        LiveRows::from(rows.into_iter().collect::<BooleanBuffer>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_go_and_other_chunks_are_shared() {
        const LEN: usize = 2 * LiveRows::CHUNK + 100;
        let dead = [0, 7, 8, LiveRows::CHUNK - 1, 2 * LiveRows::CHUNK, LEN - 1];
        let all = LiveRows::all(LEN);
        let rest = all.without(&dead);
        assert_eq!((all.count(), rest.count()), (LEN, LEN - dead.len()));
        let more = rest.without(&[1, 7]);
        assert_eq!(more.count(), rest.count() - 1, "one was dead before");
        for (live, dead) in [(&all, &[][..]), (&rest, &dead), (&more, &[&dead[..], &[1]].concat())] {
            let expected: Vec<usize> = (0..LEN).filter(|row| !dead.contains(row)).collect();
            assert_eq!(live.ranges().flatten().collect::<Vec<_>>(), expected);
            assert_eq!((0..LEN).filter(|row| live.value(*row)).collect::<Vec<_>>(), expected);
            let again = LiveRows::from(live.to_buffer());
            assert_eq!(again.count(), live.count());
            assert_eq!(again.ranges().flatten().collect::<Vec<_>>(), expected);
        }
        assert_eq!(all.difference(&more), [&dead[..1], &[1], &dead[1..]].concat());
        assert_eq!((rest.difference(&more), more.difference(&rest)), (vec![1], vec![]));
        let address =
            |live: &LiveRows, chunk: usize| live.chunks[chunk].as_ref().map(|bits| bits.values().as_ptr());
        assert_eq!((address(&rest, 1), address(&more, 1)), (None, None));
        assert_eq!(address(&rest, 2), address(&more, 2));
        assert_ne!(address(&rest, 0), address(&more, 0));
    }

    #[test]
    fn there_may_be_no_rows() {
        let none = LiveRows::all(0);
        assert_eq!((none.count(), none.ranges().count(), none.to_buffer().len()), (0, 0, 0));
    }
}
