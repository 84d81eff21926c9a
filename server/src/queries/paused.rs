//! Places of requests that are paused. When all are taken, whoever has most of them gives one up for somebody who has few.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use stratalog_engine::{Budget, Stop};

use super::turns::Share;

/// The requests that are paused.
#[derive(Debug)]
pub(super) struct Paused {
    most: usize,
    by_user: Arc<Mutex<HashMap<Arc<str>, Vec<Budget>>>>,
}

/// A request that is paused, until this is dropped.
#[derive(Debug)]
pub(super) struct Pause {
    user: Arc<str>,
    budget: Budget,
    by_user: Arc<Mutex<HashMap<Arc<str>, Vec<Budget>>>>,
}

impl Paused {
    /// At most so many.
    pub(super) fn new(most: usize) -> Paused {
        Paused { most, by_user: Arc::default() }
    }

    /// Pauses a request, if it may be. The latest of a user who has more than this one may have to end for it.
    pub(super) fn enter(&self, share: &Share, budget: &Budget) -> Option<Pause> {
        let mut by_user = self.by_user.lock();
        if by_user.values().map(Vec::len).sum::<usize>() >= self.most {
            let own = by_user.get(&share.user).map_or(0, Vec::len);
            let greediest = by_user.values_mut().max_by_key(|requests| requests.len())?;
            if greediest.len() < own + 2 {
                return None;
            }
            greediest.pop()?.stop(Stop::Overload);
        }
        budget.pause();
        by_user.entry(Arc::clone(&share.user)).or_default().push(budget.clone());
        let by_user = Arc::clone(&self.by_user);
        Some(Pause { user: Arc::clone(&share.user), budget: budget.clone(), by_user })
    }
}

impl Drop for Pause {
    fn drop(&mut self) {
        let mut by_user = self.by_user.lock();
        if let Some(requests) = by_user.get_mut(&self.user) {
            requests.retain(|request| !request.is_of(&self.budget));
            if requests.is_empty() {
                by_user.remove(&self.user);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use stratalog_engine::{Budget, BudgetError};

    use super::{Paused, Share};

    fn share(user: &str) -> Share {
        Share { user: user.into(), is_administrator: false }
    }

    #[test]
    fn who_has_most_gives_one_up_for_somebody_who_has_few() {
        let paused = Paused::new(3);
        let budgets: Vec<Budget> = (0..5).map(|_| Budget::unlimited()).collect();
        let eves: Vec<_> = budgets[..3].iter().filter_map(|b| paused.enter(&share("eve"), b)).collect();
        assert!(eves.len() == 3 && paused.enter(&share("eve"), &budgets[3]).is_none());
        let bob = paused.enter(&share("bob"), &budgets[3]).unwrap();
        assert_eq!(budgets[2].check(), Err(BudgetError::Overloaded));
        // Nobody has two more than the next by now.
        assert!(paused.enter(&share("bob"), &budgets[4]).is_none());
        budgets.iter().for_each(Budget::resume);
        assert_eq!(budgets[1].check(), Ok(()));
        drop((bob, eves));
        assert!(paused.by_user.lock().is_empty());
    }
}
