//! Seats: the sessions that are logged in, so that they can be ended when their user or key goes.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use tokio::sync::watch;

/// The seats that are taken.
#[derive(Debug, Default)]
pub(super) struct Seats {
    taken: Arc<Mutex<Taken>>,
}

#[derive(Debug, Default)]
struct Taken {
    last: u64,
    by_number: HashMap<u64, Weak<Seat>>,
}

/// The seat of one session. It is given back when it is dropped.
pub(crate) struct Seat {
    number: u64,
    pub(super) username: String,
    /// The label of the key that opened the session, if it was one.
    pub(super) key: Option<String>,
    ended: watch::Sender<Option<Ended>>,
    taken: Arc<Mutex<Taken>>,
}

/// Why a session was ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Ended {
    #[error("the session was ended: its user was dropped")]
    UserDropped,
    #[error("the session was ended: the password was changed; log in again")]
    PasswordChanged,
    #[error("the session was ended: its API key was revoked")]
    KeyRevoked,
}

impl Seats {
    /// Takes a seat, if the login is `valid` still. Whoever ends seats does so after the accounts have changed, so no
    /// login that was checked before the change slips through.
    pub(super) fn take(
        &self,
        username: &str,
        key: Option<&str>,
        valid: impl FnOnce() -> bool,
    ) -> Option<Arc<Seat>> {
        let mut taken = self.taken.lock();
        if !valid() {
            return None;
        }
        taken.last += 1;
        let seat = Arc::new(Seat {
            number: taken.last,
            username: username.to_owned(),
            key: key.map(str::to_owned),
            ended: watch::Sender::new(None),
            taken: Arc::clone(&self.taken),
        });
        taken.by_number.insert(seat.number, Arc::downgrade(&seat));
        Some(seat)
    }

    /// Ends the seats that are meant.
    pub(super) fn end(&self, why: Ended, meant: impl Fn(&Seat) -> bool) {
        // A seat whose last holder is this list must not be dropped under the lock.
        let seats: Vec<Arc<Seat>> = self.taken.lock().by_number.values().filter_map(Weak::upgrade).collect();
        for seat in seats.iter().filter(|seat| meant(seat)) {
            seat.ended.send_if_modified(|ended| ended.is_none().then(|| *ended = Some(why)).is_some());
        }
    }
}

impl Seat {
    /// Why the session was ended, if it was.
    pub(super) fn is_ended(&self) -> Option<Ended> {
        *self.ended.borrow()
    }

    /// Waits until the session is ended.
    pub(super) async fn ended(&self) -> Ended {
        let mut ended = self.ended.subscribe();
        loop {
            if let Some(why) = *ended.borrow_and_update() {
                return why;
            }
            // The sender lives as long as `self`.
            let _ = ended.changed().await;
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.taken.lock().by_number.remove(&self.number);
    }
}

impl fmt::Debug for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Seat({} of {})", self.number, self.username)
    }
}

#[cfg(test)]
mod tests {
    use super::{Ended, Seats};

    #[tokio::test]
    async fn only_the_seats_that_are_meant_end_and_the_first_reason_stays() {
        let seats = Seats::default();
        let (ada, bob) =
            (seats.take("ada", None, || true).unwrap(), seats.take("bob", None, || true).unwrap());
        seats.end(Ended::PasswordChanged, |seat| seat.username == "ada");
        seats.end(Ended::UserDropped, |seat| seat.username == "ada");
        assert_eq!((ada.is_ended(), bob.is_ended()), (Some(Ended::PasswordChanged), None));
        assert_eq!(ada.ended().await, Ended::PasswordChanged);
    }

    #[test]
    fn a_dropped_seat_is_forgotten_and_a_stale_login_gets_none() {
        let seats = Seats::default();
        drop(seats.take("ada", Some("ci"), || true));
        assert!(seats.taken.lock().by_number.is_empty());
        assert!(seats.take("ada", None, || false).is_none());
    }
}
