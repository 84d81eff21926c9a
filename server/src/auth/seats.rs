//! Seats: the sessions that are logged in, so that they can be ended when their user or key goes.

use std::collections::HashMap;
use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::watch;

use super::key_terms::KeyTerms;
use crate::audit::Entry;
use crate::clock;

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
    /// What that key opens; without one, everything for ever.
    pub(super) terms: KeyTerms,
    /// Where it was opened from.
    pub(super) from: IpAddr,
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
    #[error("the session was ended: its API key has expired")]
    KeyExpired,
    #[error("the session was ended by {}", if *.by_user { "its user" } else { "an administrator" })]
    Killed { by_user: bool },
}

/// How somebody came in.
#[derive(Debug, Clone)]
pub(super) struct Entrance<'e> {
    pub(super) username: &'e str,
    pub(super) key: Option<(&'e str, KeyTerms)>,
    pub(super) from: IpAddr,
}

/// How long to sleep at most until a key expires: clocks are set, and machines sleep.
const LONGEST_SLEEP: Duration = Duration::from_secs(30);

impl Seats {
    /// Takes a seat, if the login is `valid` still. Whoever ends seats does so after the accounts have changed, so no
    /// login that was checked before the change slips through.
    pub(super) fn take(&self, entrance: &Entrance<'_>, valid: impl FnOnce() -> bool) -> Option<Arc<Seat>> {
        let mut taken = self.taken.lock();
        if !valid() {
            return None;
        }
        taken.last += 1;
        let seat = Arc::new(Seat {
            number: taken.last,
            username: entrance.username.to_owned(),
            key: entrance.key.map(|(label, _)| label.to_owned()),
            terms: entrance.key.map(|(_, terms)| terms).unwrap_or_default(),
            from: entrance.from,
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
    /// An entry of the audit log about what is done from here.
    pub(super) fn entry(&self, action: &'static str, what: String) -> Entry<'_> {
        let (who, key, from) = (Some(self.username.as_str()), self.key.as_deref(), Some(self.from));
        Entry { action, who, key, from, what, ..Entry::default() }
    }

    /// Why the session was ended, if it was.
    pub(super) fn is_ended(&self) -> Option<Ended> {
        let ended = *self.ended.borrow();
        ended.or_else(|| self.terms.are_over().then_some(Ended::KeyExpired))
    }

    /// Waits until the session is ended.
    pub(super) async fn ended(&self) -> Ended {
        let mut ended = self.ended.subscribe();
        loop {
            if let Some(why) = *ended.borrow_and_update() {
                return why;
            }
            if self.terms.are_over() {
                return Ended::KeyExpired;
            }
            let expiry = async {
                match self.terms.expires {
                    Some(at) => tokio::time::sleep(until(at).min(LONGEST_SLEEP)).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                // The sender lives as long as `self`.
                _ = ended.changed() => {}
                () = expiry => {}
            }
        }
    }
}

/// The time until a moment, at least a millisecond.
fn until(ms: i64) -> Duration {
    Duration::from_millis(u64::try_from(ms.saturating_sub(clock::now_ms())).unwrap_or(0).max(1))
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
    use std::net::{IpAddr, Ipv4Addr};

    use super::{Ended, Entrance, Seats};
    use crate::auth::key_terms::KeyTerms;
    use crate::clock;

    fn of(username: &str) -> Entrance<'_> {
        Entrance { username, key: None, from: IpAddr::V4(Ipv4Addr::LOCALHOST) }
    }

    #[tokio::test]
    async fn only_the_seats_that_are_meant_end_and_the_first_reason_stays() {
        let seats = Seats::default();
        let (ada, bob) = (seats.take(&of("ada"), || true).unwrap(), seats.take(&of("bob"), || true).unwrap());
        seats.end(Ended::PasswordChanged, |seat| seat.username == "ada");
        seats.end(Ended::UserDropped, |seat| seat.username == "ada");
        assert_eq!((ada.is_ended(), bob.is_ended()), (Some(Ended::PasswordChanged), None));
        assert_eq!(ada.ended().await, Ended::PasswordChanged);
    }

    #[test]
    fn a_dropped_seat_is_forgotten_and_a_stale_login_gets_none() {
        let seats = Seats::default();
        drop(seats.take(&of("ada"), || true));
        assert!(seats.taken.lock().by_number.is_empty());
        assert!(seats.take(&of("ada"), || false).is_none());
    }

    #[tokio::test]
    async fn a_seat_ends_when_its_key_expires() {
        let seats = Seats::default();
        let terms = KeyTerms { expires: Some(clock::now_ms() + 50), ..KeyTerms::default() };
        let seat = seats.take(&Entrance { key: Some(("ci", terms)), ..of("ada") }, || true).unwrap();
        assert_eq!(seat.ended().await, Ended::KeyExpired);
        assert_eq!(seat.is_ended(), Some(Ended::KeyExpired));
    }
}
