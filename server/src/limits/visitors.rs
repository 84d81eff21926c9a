//! Visitors: those who are looked at though there is no place for them, as they may ask for a probe, or be administrators.
//!
//! They are few, and the next one makes the oldest leave: of the address that has most of them. So whoever comes with many
//! only drives out their own.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::watch;

use super::{Full, network};

/// How many there are at most.
pub(super) const VISITORS: usize = 64;

/// Those who are there.
#[derive(Debug, Default)]
pub(crate) struct Visitors {
    lane: Arc<Mutex<Lane>>,
}

#[derive(Debug, Default)]
struct Lane {
    last: u64,
    /// In the order in which they came.
    by_number: BTreeMap<u64, (IpAddr, watch::Sender<bool>)>,
}

/// A visitor, until the last clone is dropped.
#[derive(Debug, Clone)]
pub(crate) struct Visit {
    guest: Arc<Visiting>,
}

#[derive(Debug)]
struct Visiting {
    number: u64,
    why: Full,
    is_over: watch::Receiver<bool>,
    lane: Arc<Mutex<Lane>>,
}

impl Visitors {
    /// Lets somebody in for whom there is no place.
    pub(crate) fn enter(&self, address: IpAddr, why: Full) -> Visit {
        let mut lane = self.lane.lock();
        lane.last += 1;
        let number = lane.last;
        let (sender, is_over) = watch::channel(false);
        lane.by_number.insert(number, (network(address), sender));
        if lane.by_number.len() > VISITORS {
            lane.let_one_go();
        }
        Visit { guest: Arc::new(Visiting { number, why, is_over, lane: Arc::clone(&self.lane) }) }
    }
}

impl Lane {
    fn let_one_go(&mut self) {
        let mut counts = HashMap::new();
        self.by_number.values().for_each(|(network, _)| *counts.entry(*network).or_insert(0) += 1);
        let most = counts.values().copied().max().unwrap_or(0);
        let oldest = self.by_number.iter().find(|(_, (network, _))| counts[network] == most);
        if let Some(number) = oldest.map(|(number, _)| *number)
            && let Some((_, is_over)) = self.by_number.remove(&number)
        {
            is_over.send_replace(true);
        }
    }
}

impl Visit {
    /// Why there was no place.
    pub(crate) fn why(&self) -> Full {
        self.guest.why
    }

    /// Waits until somebody else needs the room.
    pub(crate) async fn over(&self) {
        let mut is_over = self.guest.is_over.clone();
        if is_over.wait_for(|is_over| *is_over).await.is_err() {
            // It has got a place, and stays.
            std::future::pending::<()>().await;
        }
    }

    /// It has got a place: nobody drives it out any more.
    pub(super) fn settle(&self) {
        self.guest.lane.lock().by_number.remove(&self.guest.number);
    }
}

impl Drop for Visiting {
    fn drop(&mut self) {
        self.lane.lock().by_number.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use super::{Full, VISITORS, Visit, Visitors};

    impl Visit {
        fn is_over(&self) -> bool {
            *self.guest.is_over.borrow()
        }
    }

    fn address(last: u8) -> IpAddr {
        IpAddr::V4(Ipv4Addr::new(10, 0, 0, last))
    }

    #[test]
    fn the_oldest_of_the_address_with_most_goes_first() {
        let visitors = Visitors::default();
        let enter = |last| visitors.enter(address(last), Full::Connections);
        let lonely = enter(1);
        let many: Vec<Visit> = (0..VISITORS).map(|_| enter(2)).collect();
        let over = |visits: &[Visit]| visits.iter().filter(|visit| visit.is_over()).count();
        assert_eq!((lonely.is_over(), over(&many)), (false, 1));
        assert!(many[0].is_over());
        let other = enter(3);
        assert!(!other.is_over() && many[1].is_over() && !many[2].is_over());
        drop(many);
        assert_eq!(visitors.lane.lock().by_number.len(), 2);
    }

    #[tokio::test]
    async fn who_has_got_a_place_is_not_driven_out() {
        let visitors = Visitors::default();
        let settled = visitors.enter(address(1), Full::Connections);
        settled.settle();
        let many: Vec<Visit> =
            (0..2 * VISITORS).map(|_| visitors.enter(address(1), Full::Connections)).collect();
        assert!(!settled.is_over() && many[0].is_over());
        tokio::select! {
            biased;
            () = settled.over() => panic!("it was driven out"),
            () = many[0].over() => {}
        }
    }
}
