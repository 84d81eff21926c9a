//! Places that are given in turn: of those who wait, each user gets one before any gets a second.
//!
//! So whoever asks for much waits behind their own, and a user who asks for little is next.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::oneshot;

/// Whose requests have their turns together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Share {
    /// The user.
    pub(crate) user: Arc<str>,
    /// Whether the limits of users do not concern them.
    pub(crate) is_administrator: bool,
}

/// A number of places.
#[derive(Debug, Clone)]
pub(super) struct Turns {
    state: Arc<Mutex<State>>,
    /// How many of them one user may have.
    most_of_one: usize,
}

#[derive(Debug)]
struct State {
    free: usize,
    held: HashMap<Arc<str>, usize>,
    /// Who waits, the next one first, each with what they wait for.
    waiting: VecDeque<(Share, VecDeque<oneshot::Sender<Place>>)>,
}

/// A place that is taken until this is dropped.
#[derive(Debug)]
pub(super) struct Place {
    user: Arc<str>,
    of: Turns,
}

impl Turns {
    /// So many places, of which no user but administrators has more than some.
    pub(super) fn new(places: usize, most_of_one: usize) -> Turns {
        let state = State { free: places, held: HashMap::new(), waiting: VecDeque::new() };
        Turns { state: Arc::new(Mutex::new(state)), most_of_one }
    }

    /// A place, if one is free now.
    pub(super) fn try_place(&self, share: &Share) -> Option<Place> {
        let mut state = self.state.lock();
        self.is_next(&state, share).then(|| self.take(&mut state, &share.user))
    }

    /// A place, when it is this user's turn.
    pub(super) async fn place(&self, share: &Share) -> Place {
        let receiver = {
            let mut state = self.state.lock();
            if self.is_next(&state, share) {
                return self.take(&mut state, &share.user);
            }
            let (sender, receiver) = oneshot::channel();
            match state.waiting.iter_mut().find(|(other, _)| other == share) {
                Some((_, senders)) => senders.push_back(sender),
                None => state.waiting.push_back((share.clone(), [sender].into())),
            }
            receiver
        };
        match receiver.await {
            Ok(place) => place,
            // The sender waits in `state`, which `self` keeps.
            Err(_) => std::future::pending().await,
        }
    }

    /// Whether a user may have one of the free places. Those who wait while there are some may not.
    fn is_next(&self, state: &State, share: &Share) -> bool {
        state.free > 0 && (share.is_administrator || state.held_by(&share.user) < self.most_of_one)
    }

    fn take(&self, state: &mut State, user: &Arc<str>) -> Place {
        state.free -= 1;
        *state.held.entry(Arc::clone(user)).or_default() += 1;
        Place { user: Arc::clone(user), of: self.clone() }
    }

    /// Finds out who is next for a place that has become free.
    fn next(&self, state: &mut State) -> Option<(oneshot::Sender<Place>, Place)> {
        state.waiting.iter_mut().for_each(|(_, senders)| senders.retain(|sender| !sender.is_closed()));
        state.waiting.retain(|(_, senders)| !senders.is_empty());
        let next = state.waiting.iter().position(|(share, _)| self.is_next(state, share))?;
        let (share, mut senders) = state.waiting.remove(next)?;
        let sender = senders.pop_front()?;
        let place = self.take(state, &share.user);
        if !senders.is_empty() {
            state.waiting.push_back((share, senders));
        }
        Some((sender, place))
    }
}

impl State {
    fn held_by(&self, user: &str) -> usize {
        self.held.get(user).copied().unwrap_or(0)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let next = {
            let mut state = self.of.state.lock();
            state.free += 1;
            if let Some(held) = state.held.get_mut(&self.user) {
                *held -= 1;
                if *held == 0 {
                    state.held.remove(&self.user);
                }
            }
            self.of.next(&mut state)
        };
        if let Some((sender, place)) = next {
            // One that does not wait any more gives it on.
            drop(sender.send(place));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parking_lot::Mutex;
    use tokio::task::JoinHandle;

    use super::{Share, Turns};

    fn share(user: &str) -> Share {
        Share { user: user.into(), is_administrator: user == "admin" }
    }

    /// Waits for a place, says so, and gives it back.
    fn waiting(turns: &Turns, user: &'static str, order: &Arc<Mutex<Vec<&'static str>>>) -> JoinHandle<()> {
        let (turns, order) = (turns.clone(), order.clone());
        tokio::spawn(async move {
            let _place = turns.place(&share(user)).await;
            order.lock().push(user);
        })
    }

    #[tokio::test]
    async fn users_go_in_turn_however_many_wait() {
        let turns = Turns::new(1, 1);
        let held = turns.try_place(&share("ada")).unwrap();
        let order = Arc::default();
        let mut all = Vec::new();
        for user in ["eve", "eve", "eve", "eve", "ada", "bob", "ada"] {
            all.push(waiting(&turns, user, &order));
            tokio::task::yield_now().await;
        }
        all.remove(1).abort();
        tokio::task::yield_now().await;
        drop(held);
        for one in all {
            one.await.unwrap();
        }
        assert_eq!(*order.lock(), ["eve", "ada", "bob", "eve", "ada", "eve"]);
        let state = turns.state.lock();
        assert_eq!((state.free, state.held.len(), state.waiting.len()), (1, 0, 0));
    }

    #[tokio::test]
    async fn no_user_has_more_than_some_and_administrators_any_number() {
        let turns = Turns::new(4, 2);
        let held: Vec<_> = (0..3).filter_map(|_| turns.try_place(&share("eve"))).collect();
        assert_eq!(held.len(), 2);
        let order = Arc::default();
        let more = waiting(&turns, "eve", &order);
        tokio::task::yield_now().await;
        // She waits for her own places, and nobody for her.
        let bob = turns.place(&share("bob")).await;
        let admin = turns.try_place(&share("admin")).unwrap();
        assert!(turns.try_place(&share("admin")).is_none());
        drop((bob, admin));
        tokio::task::yield_now().await;
        assert!(!more.is_finished());
        drop(held);
        more.await.unwrap();
    }
}
