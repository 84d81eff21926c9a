//! Where users have logged in from lately: a few addresses each, of a bounded number of users.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;

use tokio::time::Instant;

/// So many users, and so many addresses of each, are remembered. Only who has logged in is.
const USERS: usize = 10_000;
const ADDRESSES: usize = 16;

/// The addresses from which users have logged in, the latest last.
#[derive(Debug, Default)]
pub(super) struct Familiar {
    by_user: HashMap<u64, Known>,
}

#[derive(Debug)]
struct Known {
    addresses: VecDeque<IpAddr>,
    latest: Instant,
}

impl Familiar {
    /// Whether a user has logged in from this address lately.
    pub(super) fn knows(&self, address: IpAddr, user: u64) -> bool {
        self.by_user.get(&user).is_some_and(|known| known.addresses.contains(&address))
    }

    /// A user has logged in from this address.
    pub(super) fn learn(&mut self, address: IpAddr, user: u64) {
        if self.by_user.len() >= USERS && !self.by_user.contains_key(&user) {
            let oldest = self.by_user.iter().min_by_key(|(_, known)| known.latest).map(|(user, _)| *user);
            oldest.map(|user| self.by_user.remove(&user));
        }
        let new = || Known { addresses: VecDeque::new(), latest: Instant::now() };
        let known = self.by_user.entry(user).or_insert_with(new);
        known.latest = Instant::now();
        known.addresses.retain(|other| *other != address);
        known.addresses.push_back(address);
        if known.addresses.len() > ADDRESSES {
            known.addresses.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use super::{ADDRESSES, Familiar, USERS};

    fn address(last: usize) -> IpAddr {
        IpAddr::V4(Ipv4Addr::from_bits(u32::try_from(last).unwrap()))
    }

    #[test]
    fn the_latest_addresses_of_a_user_are_known() {
        let mut familiar = Familiar::default();
        (0..ADDRESSES).for_each(|n| familiar.learn(address(n), 1));
        familiar.learn(address(0), 1);
        familiar.learn(address(ADDRESSES), 1);
        assert!(familiar.knows(address(0), 1) && familiar.knows(address(ADDRESSES), 1));
        assert!(!familiar.knows(address(1), 1) && !familiar.knows(address(0), 2));
    }

    #[test]
    fn a_bounded_number_of_users_is_known() {
        let mut familiar = Familiar::default();
        (0..USERS as u64 + 100).for_each(|user| familiar.learn(address(1), user));
        assert_eq!(familiar.by_user.len(), USERS);
        assert!(familiar.knows(address(1), USERS as u64 + 99) && !familiar.knows(address(1), 0));
    }
}
