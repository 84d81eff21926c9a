//! `Lineage`: what tells the versions of a graph from those of another history.
//!
//! A number of a version says nothing by itself: a backup that is restored gives the numbers that came after it once more,
//! to other states. So every process that opens a graph begins an *epoch* with a name of its own, and writes down where it
//! began before it commits anything. A version that was told in an epoch is a version of this history if the epoch is one
//! of it, and it is not later than where the next one began.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// So many epochs are remembered; what was told in earlier ones is of no use any more.
const MOST: usize = 64;

/// The epochs of one history, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Lineage(Vec<Epoch>);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Epoch {
    name: Uuid,
    /// The version that it began with.
    since: u64,
}

impl Lineage {
    /// The epochs that are written in a journal.
    pub(super) fn parse(text: &[u8]) -> Result<Lineage, String> {
        serde_json::from_slice(text).map_err(|error| format!("a lineage that cannot be read: {error}"))
    }

    /// As it is written in a journal.
    pub(super) fn text(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("names and numbers are JSON")
    }

    /// The same history with a new epoch, which begins with this version.
    pub(super) fn going_on(mut self, since: u64) -> Lineage {
        let forgotten = (self.0.len() + 1).saturating_sub(MOST);
        self.0.drain(..forgotten);
        self.0.push(Epoch { name: Uuid::new_v4(), since });
        self
    }

    /// The present epoch.
    pub fn epoch(&self) -> Uuid {
        self.0.last().map_or(Uuid::nil(), |epoch| epoch.name)
    }

    /// Whether a version that was told in an epoch is the version of that number here.
    pub fn holds(&self, epoch: Uuid, version: u64) -> bool {
        let Some(at) = self.0.iter().position(|known| known.name == epoch) else { return false };
        self.0.get(at + 1).is_none_or(|next| version <= next.since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_known_until_the_next_epoch_began() {
        let first = Lineage::default().going_on(0);
        let original = first.clone().going_on(500);
        // A copy of the data folder of version 400.
        let copy = first.clone().going_on(400);
        assert!(first.holds(first.epoch(), 1_000));
        assert!(original.holds(first.epoch(), 450) && !original.holds(first.epoch(), 501));
        assert!(copy.holds(first.epoch(), 400) && !copy.holds(first.epoch(), 401));
        assert!(copy.holds(copy.epoch(), 450) && !copy.holds(original.epoch(), 400));
    }

    #[test]
    fn the_oldest_epochs_are_forgotten() {
        let first = Lineage::default().going_on(0);
        let last = (1..=MOST as u64).fold(first.clone(), Lineage::going_on);
        assert!(!last.holds(first.epoch(), 0));
        assert_eq!(Lineage::parse(&last.text()).unwrap(), last);
        assert_eq!(last.0.len(), MOST);
    }
}
