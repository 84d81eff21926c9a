//! Lists of rows that grow side by side.
//!
//! The only row of a list stands in the list itself. More rows stand in blocks, each with room for a power of two, which lie in
//! pieces of memory that stay where they are; a list that is full moves to a block of twice the size, and leaves its own to the next
//! one that asks for such a block. A list of very many rows has memory of its own.

use std::hint::black_box;

/// Rows of a piece, as a power of two.
const PIECE_BITS: u32 = 18;
const PIECE: usize = 1 << PIECE_BITS;
/// Rows of the largest block, a power of two.
const LARGEST: usize = PIECE / 8;

/// Rows in the order in which they came.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct List {
    /// The only row; or half of the place where its block begins; or the number of its own memory.
    at: u32,
    len: u32,
}

impl List {
    pub(super) fn is_empty(self) -> bool {
        self.len == 0
    }

    fn is_large(self) -> bool {
        self.len as usize > LARGEST
    }

    fn start(self) -> Place {
        Place::of(2 * self.at as usize)
    }
}

/// A place in a piece.
#[derive(Debug, Clone, Copy)]
struct Place {
    piece: usize,
    row: usize,
}

impl Place {
    fn of(place: usize) -> Place {
        Place { piece: place >> PIECE_BITS, row: place & (PIECE - 1) }
    }
}

/// The blocks of lists.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    pieces: Vec<Vec<u32>>,
    /// Half of the places where blocks begin that no list has, by their size: of two rows, of four, ..
    free: Vec<Vec<u32>>,
    /// The rows of large lists.
    large: Vec<Vec<u32>>,
}

/// There are more rows than a list can say where they stand.
#[derive(Debug)]
pub(super) struct NoRoom;

impl Blocks {
    /// Reads where the rows of many lists end. Whoever does so before the first of them grows waits for memory once.
    pub(super) fn touch(&self, lists: impl Iterator<Item = List>) {
        let end = |list: List| match list.is_large() {
            true => self.large[list.at as usize].last(),
            false => self.pieces[list.start().piece].get(list.start().row + list.len as usize),
        };
        black_box(lists.filter(|list| list.len > 1).filter_map(end).fold(0, |all, row| all | row));
    }

    /// Adds a row to the end of a list.
    #[inline]
    pub(super) fn push(&mut self, list: &mut List, row: u32) -> Result<(), NoRoom> {
        let len = list.len as usize;
        match len {
            0 => list.at = row,
            _ if list.is_large() => self.large[list.at as usize].push(row),
            LARGEST => self.move_out(list, row),
            _ => {
                if len.is_power_of_two() {
                    self.move_to_larger(list)?;
                }
                let start = list.start();
                self.pieces[start.piece][start.row + len] = row;
            }
        }
        list.len += 1;
        Ok(())
    }

    /// Lets a list that is full have twice the room.
    fn move_to_larger(&mut self, list: &mut List) -> Result<(), NoRoom> {
        let len = list.len as usize;
        let at = self.block(2 * len)?;
        let (from, to) = (list.start(), Place::of(2 * at as usize));
        if len == 1 {
            self.pieces[to.piece][to.row] = list.at;
        } else if from.piece == to.piece {
            self.pieces[to.piece].copy_within(from.row..from.row + len, to.row);
            self.free[size_class(len)].push(list.at);
        } else {
            let mut piece = std::mem::take(&mut self.pieces[to.piece]);
            piece[to.row..to.row + len].copy_from_slice(&self.pieces[from.piece][from.row..from.row + len]);
            self.pieces[to.piece] = piece;
            self.free[size_class(len)].push(list.at);
        }
        list.at = at;
        Ok(())
    }

    /// Lets a list have memory of its own, with one more row in it.
    fn move_out(&mut self, list: &mut List, row: u32) {
        let mut rows = Vec::with_capacity(2 * LARGEST);
        rows.extend_from_slice(self.rows(list, u32::MAX));
        rows.push(row);
        self.free[size_class(LARGEST)].push(list.at);
        list.at = self.large.len() as u32;
        self.large.push(rows);
    }

    /// Half of the place where a block of this size begins.
    fn block(&mut self, size: usize) -> Result<u32, NoRoom> {
        let class = size_class(size);
        if self.free.len() <= class {
            self.free.resize(class + 1, Vec::new());
        }
        if let Some(at) = self.free[class].pop() {
            return Ok(at);
        }
        if self.pieces.last().is_none_or(|piece| piece.len() + size > PIECE) {
            self.begin_piece()?;
        }
        let number = self.pieces.len() - 1;
        let piece = &mut self.pieces[number];
        let start = piece.len();
        piece.resize(start + size, 0);
        Ok(((number * PIECE + start) / 2) as u32)
    }

    /// Begins another piece; what is left of the last one is free for smaller blocks.
    fn begin_piece(&mut self) -> Result<(), NoRoom> {
        let end = self.pieces.len() * PIECE;
        u32::try_from((end + PIECE) / 2).map_err(|_| NoRoom)?;
        if let Some(piece) = self.pieces.last_mut() {
            let first = end - PIECE;
            let mut start = piece.len();
            piece.resize(PIECE, 0);
            while start < PIECE {
                let size = 1 << (PIECE - start).ilog2();
                self.free[size_class(size)].push(((first + start) / 2) as u32);
                start += size;
            }
        }
        self.pieces.push(Vec::new());
        Ok(())
    }

    /// The rows of a list before `end`.
    #[inline]
    pub(super) fn rows<'r>(&'r self, list: &'r List, end: u32) -> &'r [u32] {
        let rows = match list.len {
            0 => &[],
            1 => std::slice::from_ref(&list.at),
            _ if list.is_large() => &self.large[list.at as usize],
            len => {
                let start = list.start();
                &self.pieces[start.piece][start.row..start.row + len as usize]
            }
        };
        match rows.last() {
            Some(last) if *last >= end => &rows[..rows.partition_point(|row| *row < end)],
            _ => rows,
        }
    }

    /// Whether a list has a row before `end`.
    #[inline]
    pub(super) fn begins_before(&self, list: List, end: u32) -> bool {
        match list.len {
            0 => false,
            1 => list.at < end,
            _ if list.is_large() => self.large[list.at as usize][0] < end,
            _ => self.pieces[list.start().piece][list.start().row] < end,
        }
    }

    /// Bytes held.
    pub(super) fn memory_bytes(&self) -> usize {
        let all = [&self.pieces, &self.free, &self.large];
        all.into_iter().flatten().map(Vec::capacity).sum::<usize>() * size_of::<u32>()
    }
}

/// Which blocks have this size, a power of two from two on.
fn size_class(size: usize) -> usize {
    size.ilog2() as usize - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lists of all lengths, which grow in turn: each has its rows, whatever block, piece or memory of its own they are in.
    #[test]
    fn lists_keep_their_rows_wherever_they_move() {
        let mut blocks = Blocks::default();
        let mut lists = [List::default(); 40];
        let most = |list: usize| (3 * LARGEST) >> (list / 2);
        for row in 0..3 * LARGEST {
            for number in (0..lists.len()).filter(|number| row < most(*number)) {
                blocks.push(&mut lists[number], (row * 40 + number) as u32).expect("there is room");
            }
        }
        for (number, list) in lists.iter().enumerate() {
            let expected: Vec<u32> = (0..most(number)).map(|row| (row * 40 + number) as u32).collect();
            assert_eq!(blocks.rows(list, u32::MAX), expected);
            let end = expected.get(expected.len() / 2).copied().unwrap_or_default();
            assert_eq!(blocks.rows(list, end), &expected[..expected.len() / 2]);
            assert_eq!(blocks.begins_before(*list, end), expected.len() > 1);
            assert_eq!(list.is_empty(), expected.is_empty());
        }
        blocks.touch(lists.into_iter());
    }
}
