//! `Unarchived`: what a journal has that the archive lacks.

use std::ops::Range;
use std::sync::Arc;

use super::super::record;
use super::segment::{GraphPart, RecordPart};
use crate::storage::{Moment, PinnedJournal, StorageError, StoredRecord};

/// Records of one graph, which are read once more when they are copied: one at a time is in memory.
#[derive(Debug)]
pub(super) struct Unarchived {
    /// Which records these are.
    pub(super) part: GraphPart,
    /// The version of the last record that was stored before the end of the time.
    pub(super) last: u64,
    journal: Arc<PinnedJournal>,
    /// Records of later versions are looked at.
    after: u64,
}

impl Unarchived {
    /// Those of later versions than `after` that were stored in this time.
    pub(super) fn of(
        (name, folder): (&str, &str),
        journal: Arc<PinnedJournal>,
        after: u64,
        time: &Range<Moment>,
    ) -> Result<Unarchived, StorageError> {
        let (mut records, mut last) = (Vec::new(), 0);
        for stored in journal.records_after(after) {
            let stored = stored?;
            match record::moment(&stored.content) {
                Some(moment) if moment >= time.end => break,
                Some(moment) if moment >= time.start => records.push(RecordPart::of(&stored, moment)),
                Some(_) | None => {}
            }
            last = stored.version;
        }
        let part = GraphPart { name: name.to_owned(), folder: folder.to_owned(), records };
        Ok(Unarchived { part, last, journal, after })
    }

    /// The records, in the order in which the part names them.
    pub(super) fn records(&self) -> impl Iterator<Item = Result<StoredRecord, StorageError>> {
        let mut named = self.part.records.iter().map(|record| record.version).peekable();
        let last = self.part.records.last().map_or(0, |record| record.version);
        let all = self.journal.records_after(self.after);
        all.take_while(move |stored| stored.as_ref().map_or(true, |stored| stored.version <= last)).filter(
            move |stored| match stored {
                Ok(stored) => named.next_if_eq(&stored.version).is_some(),
                Err(_) => true,
            },
        )
    }
}
