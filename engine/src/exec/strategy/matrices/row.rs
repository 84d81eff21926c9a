//! A row that grows: blocks in their order, or all of them once most are there.

use super::row_ref::RowRef;

/// A row that grows.
#[derive(Default, Clone)]
pub(super) struct Row {
    /// As in [`RowRef`].
    blocks: Vec<u32>,
    masks: Vec<u64>,
}

impl Row {
    #[inline]
    pub(super) fn as_ref(&self) -> RowRef<'_> {
        RowRef { blocks: &self.blocks, masks: &self.masks }
    }

    fn memory_bytes(&self) -> usize {
        self.blocks.capacity() * size_of::<u32>() + self.masks.capacity() * size_of::<u64>()
    }

    /// Adds bits that are not set yet; answers by how many bytes it has grown.
    pub(super) fn add(&mut self, new: RowRef<'_>, all_blocks: usize) -> usize {
        let before = self.memory_bytes();
        if !self.masks.is_empty() && self.blocks.is_empty() {
            // There may be more of them than there were.
            self.masks.resize(all_blocks.max(self.masks.len()), 0);
            new.for_each_block(|block, mask| self.masks[block as usize] |= mask);
            return self.memory_bytes().saturating_sub(before);
        }
        self.insert(new);
        if self.blocks.len() * 2 > all_blocks {
            let mut masks = vec![0; all_blocks];
            self.as_ref().for_each_block(|block, mask| masks[block as usize] = mask);
            *self = Row { blocks: Vec::new(), masks };
        }
        self.memory_bytes().saturating_sub(before)
    }

    fn insert(&mut self, new: RowRef<'_>) {
        let old = self.blocks.len();
        let mut at = 0;
        let mut missing = 0;
        for block in new.blocks {
            at += self.blocks[at..].partition_point(|other| other < block);
            missing += usize::from(self.blocks.get(at) != Some(block));
        }
        self.blocks.resize(old + missing, 0);
        self.masks.resize(old + missing, 0);
        // From the end, so that nothing is moved twice.
        let (mut from, mut to) = (old, old + missing);
        for (block, mask) in new.blocks.iter().zip(new.masks).rev() {
            while from > 0 && self.blocks[from - 1] > *block {
                (from, to) = (from - 1, to - 1);
                self.blocks[to] = self.blocks[from];
                self.masks[to] = self.masks[from];
            }
            to -= 1;
            let mut mask = *mask;
            if from > 0 && self.blocks[from - 1] == *block {
                from -= 1;
                mask |= self.masks[from];
            }
            self.blocks[to] = *block;
            self.masks[to] = mask;
        }
    }
}
