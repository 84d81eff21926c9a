//! Lists of rows that grow side by side.
//!
//! The only row of a list stands in the list itself. More rows stand in blocks of one vector, each with room for a power of two;
//! a list that is full moves to a block of twice the size, and leaves its own to the next one that asks for such a block.

use std::hint::black_box;

/// Rows in the order in which they came.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct List {
    /// The only row; or half of the place where its block begins.
    at: u32,
    len: u32,
}

impl List {
    pub(super) fn is_empty(self) -> bool {
        self.len == 0
    }

    fn start(self) -> usize {
        2 * self.at as usize
    }
}

/// The blocks of lists.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    rows: Vec<u32>,
    /// Where blocks begin that no list has, by their size: of two places, of four, ..
    free: Vec<Vec<u32>>,
}

/// There are more rows than a list can say where they stand.
#[derive(Debug)]
pub(super) struct NoRoom;

impl Blocks {
    /// Reads where the rows of many lists end. Whoever does so before the first of them grows waits for memory once.
    pub(super) fn touch(&self, lists: impl Iterator<Item = List>) {
        let ends = lists.filter(|list| list.len > 1).map(|list| list.start() + list.len as usize);
        black_box(ends.filter_map(|end| self.rows.get(end)).fold(0, |all, row| all | row));
    }

    /// Adds a row to the end of a list.
    #[inline]
    pub(super) fn push(&mut self, list: &mut List, row: u32) -> Result<(), NoRoom> {
        let len = list.len as usize;
        match len {
            0 => list.at = row,
            _ => {
                if len.is_power_of_two() {
                    self.move_to_larger(list)?;
                }
                self.rows[list.start() + len] = row;
            }
        }
        list.len += 1;
        Ok(())
    }

    /// Lets a list that is full have twice the room.
    fn move_to_larger(&mut self, list: &mut List) -> Result<(), NoRoom> {
        let len = list.len as usize;
        let start = self.block(2 * len)?;
        if len == 1 {
            self.rows[start] = list.at;
        } else {
            self.rows.copy_within(list.start()..list.start() + len, start);
            self.free[size_class(len)].push(list.at);
        }
        list.at = (start / 2) as u32;
        Ok(())
    }

    /// Where a block of this size begins.
    fn block(&mut self, size: usize) -> Result<usize, NoRoom> {
        let class = size_class(size);
        if self.free.len() <= class {
            self.free.resize(class + 1, Vec::new());
        }
        if let Some(at) = self.free[class].pop() {
            return Ok(2 * at as usize);
        }
        let start = self.rows.len();
        u32::try_from(start / 2).map_err(|_| NoRoom)?;
        self.rows.resize(start + size, 0);
        Ok(start)
    }

    /// The rows of a list before `end`.
    #[inline]
    pub(super) fn rows<'r>(&'r self, list: &'r List, end: u32) -> &'r [u32] {
        let rows = match list.len {
            0 => &[],
            1 => std::slice::from_ref(&list.at),
            len => &self.rows[list.start()..list.start() + len as usize],
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
            _ => self.rows[list.start()] < end,
        }
    }

    /// Bytes held.
    pub(super) fn memory_bytes(&self) -> usize {
        let free: usize = self.free.iter().map(Vec::capacity).sum();
        (self.rows.capacity() + free) * size_of::<u32>()
    }
}

/// Which blocks have this size, a power of two from two on.
fn size_class(size: usize) -> usize {
    size.ilog2() as usize - 1
}
