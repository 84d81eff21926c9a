//! Bytes in pieces that each fill a page of redb: nothing long is copied as it grows, and none is looked for in a file.

use std::io::{self, Read, Write};

/// With key and seal it fills a page of redb, whose sizes are powers of two: a byte more would write twice as much.
const PIECE_BYTES: usize = (1 << 20) - 1024;

/// The bytes of a record. Where they are cut says nothing.
#[derive(Debug, Clone, Default)]
pub struct Pieces {
    pieces: Vec<Vec<u8>>,
    bytes: usize,
}

impl Pieces {
    /// How many bytes there are.
    pub fn byte_count(&self) -> usize {
        self.bytes
    }

    /// The pieces in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.pieces.iter().map(Vec::as_slice)
    }

    /// Adds bytes after those that are here.
    pub fn append(&mut self, more: Pieces) {
        more.pieces.into_iter().for_each(|piece| self.push(piece));
    }

    /// Adds a piece of at most [`PIECE_BYTES`].
    pub fn push(&mut self, piece: Vec<u8>) {
        self.bytes += piece.len();
        match self.pieces.last_mut() {
            Some(last) if last.len() + piece.len() <= PIECE_BYTES => last.extend(piece),
            _ => self.pieces.push(piece),
        }
    }

    /// Reads them from the first one on.
    pub fn reader(&self) -> impl Read {
        Reader { piece: &[], rest: self.iter() }
    }
}

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.pieces.last().is_none_or(|last| last.len() >= PIECE_BYTES) {
            self.pieces.push(Vec::new());
        }
        let Some(last) = self.pieces.last_mut() else { return Ok(0) };
        let taken = &bytes[..bytes.len().min(PIECE_BYTES - last.len())];
        last.extend_from_slice(taken);
        self.bytes += taken.len();
        Ok(taken.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Reader<'p, I> {
    piece: &'p [u8],
    rest: I,
}

impl<'p, I: Iterator<Item = &'p [u8]>> Read for Reader<'p, I> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.piece.is_empty() {
            match self.rest.next() {
                Some(next) => self.piece = next,
                None => return Ok(0),
            }
        }
        self.piece.read(into)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::{PIECE_BYTES, Pieces};

    #[test]
    fn what_is_written_is_read_however_it_was_cut() {
        let bytes: Vec<u8> = (0..PIECE_BYTES * 3).map(|n| (n % 251) as u8).collect();
        for cuts in [vec![], vec![0, 1, 7], vec![PIECE_BYTES], vec![PIECE_BYTES - 1, PIECE_BYTES + 1]] {
            let (mut pieces, mut begin) = (Pieces::default(), 0);
            for end in cuts.iter().copied().chain([bytes.len()]) {
                let mut part = Pieces::default();
                part.write_all(&bytes[begin..end]).unwrap();
                pieces.append(part);
                begin = end;
            }
            let mut read = Vec::new();
            pieces.reader().read_to_end(&mut read).unwrap();
            assert!(read == bytes && pieces.byte_count() == bytes.len(), "cut at {cuts:?}");
            assert!(pieces.iter().all(|piece| piece.len() <= PIECE_BYTES), "cut at {cuts:?}");
        }
    }
}
