//! Rows that a program hands to a database in its own process as they are, so that they need not be written to a socket and
//! read again. In the place of the frames of an insert it sends one that names what it has left here.

use std::collections::HashMap;

use arrow::record_batch::RecordBatch;
use parking_lot::Mutex;

/// How a frame begins that names a deposit. No Arrow stream does: it would be the length of a message that is refused.
const MARK: [u8; 8] = *b"deposit:";

/// What waits for its insert. On a server that others reach, nothing ever does.
#[derive(Debug, Default)]
pub(crate) struct Deposits(Mutex<Left>);

#[derive(Debug, Default)]
struct Left {
    last: u64,
    batches: HashMap<u64, Vec<RecordBatch>>,
}

impl Deposits {
    /// Leaves batches of one schema, at least one; answers the frame that names them.
    pub(crate) fn leave(&self, batches: Vec<RecordBatch>) -> Vec<u8> {
        let mut left = self.0.lock();
        left.last += 1;
        let number = left.last;
        left.batches.insert(number, batches);
        [MARK, number.to_le_bytes()].concat()
    }

    /// Takes what a frame names, unless it has been taken.
    pub(crate) fn take(&self, frame: &[u8]) -> Option<Vec<RecordBatch>> {
        let number = frame.strip_prefix(&MARK)?.try_into().ok().map(u64::from_le_bytes)?;
        self.0.lock().batches.remove(&number)
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
        assert_eq!(deposits.take(&one), Some(batches));
        assert_eq!(deposits.take(&one), None);
        assert_eq!(deposits.take(&other), Some(Vec::new()));
    }
}
