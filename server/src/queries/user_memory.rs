//! The part that each user has of a memory that all share.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use stratalog_engine::MemoryPool;

use super::turns::Share;

/// So many users may have parts before those are forgotten that use nothing.
const REMEMBERED: usize = 1_000;

/// A memory, and the parts of users.
#[derive(Debug)]
pub(crate) struct UserMemory {
    whole: MemoryPool,
    /// Bytes of one user; `None` means as much as there is.
    limit: Option<u64>,
    by_user: Mutex<HashMap<Arc<str>, MemoryPool>>,
}

impl UserMemory {
    /// So many bytes for all, and for one user; none for a user means as many as for all.
    pub(crate) fn new(whole: u64, of_one: u64) -> UserMemory {
        let limit = Some(of_one).filter(|bytes| *bytes > 0);
        UserMemory { whole: MemoryPool::new(whole), limit, by_user: Mutex::default() }
    }

    /// The memory of all.
    pub(crate) fn whole(&self) -> &MemoryPool {
        &self.whole
    }

    /// The memory of one user; of all for administrators.
    pub(crate) fn of(&self, share: &Share) -> MemoryPool {
        let Some(limit) = self.limit.filter(|_| !share.is_administrator) else { return self.whole.clone() };
        let mut by_user = self.by_user.lock();
        if by_user.len() >= REMEMBERED && !by_user.contains_key(&share.user) {
            by_user.retain(|_, part| part.used() > 0 || !part.is_unshared());
        }
        by_user.entry(Arc::clone(&share.user)).or_insert_with(|| self.whole.part(limit)).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::{REMEMBERED, Share, UserMemory};

    fn share(user: &str) -> Share {
        Share { user: user.into(), is_administrator: user == "admin" }
    }

    #[test]
    fn a_user_has_one_part_and_administrators_all() {
        let memory = UserMemory::new(100, 40);
        assert!(memory.of(&share("ada")).take(30).is_ok() && memory.of(&share("ada")).take(20).is_err());
        assert!(memory.of(&share("bob")).take(40).is_ok());
        assert!(memory.of(&share("admin")).take(10).is_ok());
        assert_eq!(memory.whole().used(), 100);
    }

    #[test]
    fn users_who_use_nothing_are_forgotten() {
        let memory = UserMemory::new(u64::MAX, 40);
        let busy = memory.of(&share("busy"));
        busy.take(1).unwrap();
        for n in 0..3 * REMEMBERED {
            memory.of(&share(&n.to_string()));
        }
        assert!(memory.by_user.lock().len() <= REMEMBERED + 1);
        assert_eq!(memory.of(&share("busy")).used(), 1);
    }
}
