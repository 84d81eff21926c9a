//! Rows that a program and a database in its own process hand to each other as they are, so that they need not be written to a
//! socket and read again. In the place of an Arrow stream one sends a frame that names what it has left here.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use arrow::record_batch::RecordBatch;
use parking_lot::Mutex;

use crate::wire::HandedRows;

/// How a frame begins that names a deposit. No Arrow stream does: it would be the length of a message that is refused.
const MARK: [u8; 8] = *b"deposit:";

/// What waits to be taken. There is none on a server that others reach.
#[derive(Debug, Default)]
pub(crate) struct Deposits {
    /// For inserts.
    batches: Shelf<Vec<RecordBatch>>,
    /// Answers.
    answers: Shelf<HandedRows>,
}

impl Deposits {
    /// Leaves batches of one schema, at least one, for an insert; answers the frame that names them.
    pub(crate) fn leave(&self, batches: Vec<RecordBatch>) -> Vec<u8> {
        self.batches.leave(batches)
    }

    /// Takes the batches that a frame names, unless they have been taken.
    pub(crate) fn take(&self, frame: &[u8]) -> Option<Vec<RecordBatch>> {
        self.batches.take(frame)
    }

    /// Takes the answer that a frame names, unless it has been taken.
    pub(crate) fn take_answer(&self, frame: &[u8]) -> Option<HandedRows> {
        self.answers.take(frame)
    }
}

/// So many answers wait at most for one connection to take them: it takes each when it reads its frame.
const MOST_ANSWERS: usize = 1_024;

/// The answers to a connection. Those that it has not taken go with it.
#[derive(Debug)]
pub(crate) struct Answers {
    deposits: Arc<Deposits>,
    frames: Mutex<VecDeque<Vec<u8>>>,
}

impl Answers {
    pub(crate) fn of(deposits: Arc<Deposits>) -> Answers {
        Answers { deposits, frames: Mutex::default() }
    }

    /// Leaves one; answers the frame that names it.
    pub(crate) fn leave(&self, rows: HandedRows) -> Vec<u8> {
        let frame = self.deposits.answers.leave(rows);
        let mut frames = self.frames.lock();
        if frames.len() == MOST_ANSWERS
            && let Some(oldest) = frames.pop_front()
        {
            self.deposits.take_answer(&oldest);
        }
        frames.push_back(frame.clone());
        frame
    }
}

impl Drop for Answers {
    fn drop(&mut self) {
        self.frames.get_mut().iter().for_each(|frame| drop(self.deposits.take_answer(frame)));
    }
}

/// Things by the frames that name them.
#[derive(Debug)]
struct Shelf<T>(Mutex<Left<T>>);

#[derive(Debug)]
struct Left<T> {
    last: u64,
    things: HashMap<u64, T>,
}

impl<T> Default for Shelf<T> {
    fn default() -> Shelf<T> {
        Shelf(Mutex::new(Left { last: 0, things: HashMap::new() }))
    }
}

impl<T> Shelf<T> {
    fn leave(&self, thing: T) -> Vec<u8> {
        let mut left = self.0.lock();
        left.last += 1;
        let number = left.last;
        left.things.insert(number, thing);
        [MARK, number.to_le_bytes()].concat()
    }

    fn take(&self, frame: &[u8]) -> Option<T> {
        let number = frame.strip_prefix(&MARK)?.try_into().ok().map(u64::from_le_bytes)?;
        self.0.lock().things.remove(&number)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array};
    use arrow::record_batch::RecordBatch;

    use super::Deposits;

    #[test]
    fn a_deposit_is_taken_once_and_only_by_its_frame() {
        let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..3));
        let batches = vec![RecordBatch::try_from_iter([("n", numbers)]).unwrap()];
        let deposits = Deposits::default();
        let (one, other) = (deposits.leave(batches.clone()), deposits.leave(Vec::new()));
        for frame in [&one[..15], &one[8..], b"", &[&one[..], &[0]].concat()] {
            assert_eq!(deposits.take(frame), None, "{frame:?}");
        }
        assert!(deposits.take_answer(&one).is_none());
        assert_eq!(deposits.take(&one), Some(batches));
        assert_eq!(deposits.take(&one), None);
        assert_eq!(deposits.take(&other), Some(Vec::new()));
    }
}
