//! Places that run out: connections, sockets, sockets of one address that have not said who they are, sockets of one user.
//!
//! Whoever holds a place is counted; dropping it gives the place back. Those for whom there is none are [`Visit`]ors: they
//! may ask for a probe, or log in as administrators, for whom places are kept.

mod counts;
mod rate;
mod visitors;

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::config::Limits;
use crate::metrics::ConnectionCounts;
use counts::{Counted, Counts};
use visitors::VISITORS;

pub(crate) use rate::Rate;
pub(crate) use visitors::{Visit, Visitors};

/// The places of one server.
#[derive(Debug)]
pub(crate) struct Places {
    connections: Arc<Semaphore>,
    connections_limit: usize,
    of_address: Counts<IpAddr>,
    visitors: Visitors,
    refused: AtomicU64,
    sockets: Arc<Semaphore>,
    sockets_limit: usize,
    kept: Arc<Semaphore>,
    keeps_places: bool,
    strangers: Counts<IpAddr>,
    of_user: Counts<String>,
    subscriptions: Arc<Semaphore>,
    subscriptions_of_user: Counts<String>,
    subscriptions_limit: usize,
    requests: Mutex<HashMap<IpAddr, Rate>>,
    requests_limit: u64,
}

/// Addresses whose requests are counted at once; beyond that, those of earlier seconds are forgotten.
const COUNTED_ADDRESSES: usize = 10_000;

/// File descriptors that no connection gets, so that files can be opened: at most this many, and at most half of all.
const KEPT_DESCRIPTORS: usize = 512;

/// A place that is taken until this is dropped.
pub(crate) type Place = OwnedSemaphorePermit;

/// What there is no room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Full {
    /// Another connection.
    Connections,
    /// Another connection of this address.
    OfAddress,
    /// Another socket.
    Sockets,
    /// Another socket of this address that has not said who it is.
    Strangers,
}

/// As what a connection is there.
#[derive(Debug)]
pub(crate) enum Standing {
    /// It has a place.
    Guest {
        /// Until this is dropped.
        _place: Guest,
    },
    /// There is none.
    Visitor(Visit),
}

/// The place of a connection, and its address's.
#[derive(Debug)]
pub(crate) struct Guest {
    _place: Place,
    _of_address: Option<Counted<IpAddr>>,
}

/// What a socket takes before it has said who it is.
#[derive(Debug)]
pub(crate) enum Entrance {
    /// There is one.
    Guest {
        /// The place.
        seat: Seated,
        /// One among those of its address that have not said who they are.
        _stranger: Counted<IpAddr>,
    },
    /// There was none.
    Visitor(Visit),
}

impl Entrance {
    /// Waits until somebody else needs the room of one for whom there was no place.
    pub(crate) fn over(&self) -> impl Future<Output = ()> + use<> {
        let visit = match self {
            Entrance::Guest { .. } => None,
            Entrance::Visitor(visit) => Some(visit.clone()),
        };
        async move {
            match visit {
                Some(visit) => visit.over().await,
                None => std::future::pending().await,
            }
        }
    }
}

/// What a socket takes.
#[derive(Debug)]
pub(crate) struct Seated {
    _socket: Place,
    _of_address: Option<Counted<IpAddr>>,
    _connection: Option<Guest>,
}

/// One of the sockets of a user; nobody counts those of administrators.
pub(crate) type OfUser = Option<Counted<String>>;

/// What a subscription takes.
#[derive(Debug)]
pub(crate) struct OfSubscriber {
    _place: Place,
    _of_user: Counted<String>,
}

/// Where a connection comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Origin {
    /// The other end.
    pub(crate) peer: IpAddr,
    /// Whether that is a trusted proxy, which has many clients: they are counted, and it is not.
    pub(crate) is_proxy: bool,
}

impl Places {
    /// As many as the configuration says, and no more connections than there are file descriptors; 0 means no limit.
    pub(crate) fn new(limits: &Limits, descriptors: usize) -> Places {
        let places = |n: usize| Arc::new(Semaphore::new(n.min(Semaphore::MAX_PERMITS)));
        let kept = KEPT_DESCRIPTORS.min(descriptors / 2);
        let most = (descriptors - kept).saturating_sub(VISITORS + limits.kept_for_administrators).max(1);
        let wanted = or_unlimited(limits.connections);
        if limits.connections > most {
            tracing::warn!(
                wanted,
                most,
                "fewer connections than http.rate_limit.max_connections: too few files may be open"
            );
        }
        let (connections, sockets) = (wanted.min(most), or_unlimited(limits.sockets));
        Places {
            connections: places(connections),
            connections_limit: connections,
            of_address: Counts::new(or_unlimited(limits.connections_of_address)),
            visitors: Visitors::default(),
            refused: AtomicU64::new(0),
            sockets: places(sockets),
            sockets_limit: sockets,
            kept: places(limits.kept_for_administrators),
            keeps_places: limits.kept_for_administrators > 0,
            strangers: Counts::new(or_unlimited(limits.unauthenticated)),
            of_user: Counts::new(or_unlimited(limits.user.sockets)),
            subscriptions: places(or_unlimited(limits.subscriptions)),
            subscriptions_of_user: Counts::new(or_unlimited(limits.user.subscriptions)),
            subscriptions_limit: limits.user.subscriptions,
            requests: Mutex::default(),
            requests_limit: limits.requests_per_second,
        }
    }

    /// Counts an HTTP request of this address; `Err` is the time until there is room for the next one.
    pub(crate) fn request(&self, address: IpAddr) -> Result<(), Duration> {
        if self.requests_limit == 0 {
            return Ok(());
        }
        let now = Instant::now();
        let mut rates = self.requests.lock();
        if rates.len() >= COUNTED_ADDRESSES {
            rates.retain(|_, rate| !rate.is_over(now));
        }
        rates.entry(network(address)).or_insert_with(|| Rate::new(self.requests_limit)).count(now)
    }

    /// How many have places.
    pub(crate) fn counts(&self) -> ConnectionCounts {
        let taken = |all: usize, places: &Semaphore| {
            all.min(Semaphore::MAX_PERMITS).saturating_sub(places.available_permits())
        };
        ConnectionCounts {
            connections: taken(self.connections_limit, &self.connections),
            sockets: taken(self.sockets_limit, &self.sockets),
            refused: self.refused.load(Ordering::Relaxed),
        }
    }

    fn visit(&self, address: IpAddr, why: Full) -> Visit {
        self.refused.fetch_add(1, Ordering::Relaxed);
        self.visitors.enter(address, why)
    }

    /// Takes a connection in, as a guest if there is a place.
    pub(crate) fn connection(&self, from: Origin) -> Standing {
        match self.guest(from) {
            Ok(place) => Standing::Guest { _place: place },
            Err(why) => Standing::Visitor(self.visit(from.peer, why)),
        }
    }

    fn guest(&self, from: Origin) -> Result<Guest, Full> {
        let of_address = match from.is_proxy {
            true => None,
            false => Some(self.of_address.take(network(from.peer)).ok_or(Full::OfAddress)?),
        };
        let place = self.connections.clone().try_acquire_owned().map_err(|_| Full::Connections)?;
        Ok(Guest { _place: place, _of_address: of_address })
    }

    /// Lets a socket of this client in, until it has said who it is. Where no places are kept for administrators, those
    /// for whom there is none are refused.
    pub(crate) fn enter(&self, client: IpAddr, from: Origin, standing: &Standing) -> Result<Entrance, Full> {
        let why = match standing {
            Standing::Visitor(visit) => return Ok(Entrance::Visitor(visit.clone())),
            Standing::Guest { .. } => match (self.seat(client, from), self.strangers.take(network(client))) {
                (Ok(seat), Some(stranger)) => return Ok(Entrance::Guest { seat, _stranger: stranger }),
                (Ok(_), None) => Full::Strangers,
                (Err(why), _) => why,
            },
        };
        match self.keeps_places {
            true => Ok(Entrance::Visitor(self.visit(client, why))),
            false => {
                self.refused.fetch_add(1, Ordering::Relaxed);
                Err(why)
            }
        }
    }

    /// Somebody has said who they are, and stays: where there is a place by now, and else, as an administrator, on one of
    /// those that are kept.
    pub(crate) fn settle(
        &self,
        entrance: Entrance,
        client: IpAddr,
        from: Origin,
        standing: &Standing,
        is_administrator: bool,
    ) -> Result<Seated, Full> {
        let visit = match entrance {
            Entrance::Guest { seat, .. } => return Ok(seat),
            Entrance::Visitor(visit) => visit,
        };
        let connection = match standing {
            Standing::Guest { .. } => Ok(None),
            Standing::Visitor(_) => self.guest(from).map(Some),
        };
        let seat = connection.and_then(|connection| {
            let seat = self.seat(client, from)?;
            Ok(Seated { _connection: connection, ..seat })
        });
        let seat = seat.or_else(|why| match self.kept.clone().try_acquire_owned() {
            Ok(kept) if is_administrator => {
                Ok(Seated { _socket: kept, _of_address: None, _connection: None })
            }
            Ok(_) | Err(_) => Err(why),
        })?;
        visit.settle();
        Ok(seat)
    }

    fn seat(&self, client: IpAddr, from: Origin) -> Result<Seated, Full> {
        // Who comes without a proxy is counted with the connection.
        let is_counted = from.is_proxy && network(client) != network(from.peer);
        let of_address = match is_counted {
            true => Some(self.of_address.take(network(client)).ok_or(Full::OfAddress)?),
            false => None,
        };
        let socket = self.sockets.clone().try_acquire_owned().map_err(|_| Full::Sockets)?;
        Ok(Seated { _socket: socket, _of_address: of_address, _connection: None })
    }

    /// One more socket of a user, unless they have as many as they may.
    pub(crate) fn of_user(&self, username: &str) -> Option<Counted<String>> {
        self.of_user.take(username.to_owned())
    }

    /// One more subscription of a user. An error is how many they may have, or nothing where the server has no place.
    pub(crate) fn subscriber(&self, username: &str) -> Result<OfSubscriber, Option<usize>> {
        let place = self.subscriptions.clone().try_acquire_owned().map_err(|_| None)?;
        let of_user = self.subscriptions_of_user.take(username.to_owned());
        Ok(OfSubscriber { _place: place, _of_user: of_user.ok_or(Some(self.subscriptions_limit))? })
    }
}

fn or_unlimited(n: usize) -> usize {
    if n == 0 { usize::MAX } else { n }
}

/// What counts as one address: of IPv6, the network that one customer gets.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() >> 64 << 64)),
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use super::{Entrance, Full, Origin, Places, Standing, network};
    use crate::config::Limits;

    fn address(last: u8) -> IpAddr {
        IpAddr::V4(Ipv4Addr::new(10, 0, 0, last))
    }

    fn direct(last: u8) -> Origin {
        Origin { peer: address(last), is_proxy: false }
    }

    fn places(limits: &Limits) -> Places {
        Places::new(limits, 100_000)
    }

    fn why(standing: &Standing) -> Option<Full> {
        match standing {
            Standing::Guest { .. } => None,
            Standing::Visitor(visit) => Some(visit.why()),
        }
    }

    #[test]
    fn an_address_has_so_many_connections_and_a_proxy_any_number() {
        let places = places(&Limits { connections: 3, connections_of_address: 1, ..Limits::default() });
        let first = places.connection(direct(1));
        assert_eq!(why(&first), None);
        assert_eq!(why(&places.connection(direct(1))), Some(Full::OfAddress));
        let proxy = Origin { peer: address(2), is_proxy: true };
        let through: Vec<Standing> = (0..3).map(|_| places.connection(proxy)).collect();
        assert_eq!(through.iter().map(why).collect::<Vec<_>>(), [None, None, Some(Full::Connections)]);
        drop(first);
        assert_eq!(why(&places.connection(direct(1))), None);
    }

    #[test]
    fn clients_of_a_proxy_are_counted_by_their_sockets() {
        let places =
            places(&Limits { connections_of_address: 1, kept_for_administrators: 0, ..Limits::default() });
        let proxy = Origin { peer: address(2), is_proxy: true };
        let standing = places.connection(proxy);
        let _first = places.enter(address(7), proxy, &standing).unwrap();
        assert_eq!(places.enter(address(7), proxy, &standing).unwrap_err(), Full::OfAddress);
        assert!(places.enter(address(8), proxy, &standing).is_ok());
    }

    #[test]
    fn there_are_never_more_connections_than_files() {
        let limits = Limits { connections: 0, kept_for_administrators: 8, ..Limits::default() };
        let places = Places::new(&limits, 400);
        let guests: Vec<Standing> = (0..200).map(|last| places.connection(direct(last))).collect();
        assert_eq!(guests.iter().filter(|standing| why(standing).is_none()).count(), 400 - 200 - 64 - 8);
    }

    #[test]
    fn where_no_socket_is_free_only_administrators_stay() {
        let places = places(&Limits { sockets: 1, kept_for_administrators: 1, ..Limits::default() });
        let standing = places.connection(direct(1));
        let enter = || places.enter(address(1), direct(1), &standing).unwrap();
        let settle = |entrance, is_admin| places.settle(entrance, address(1), direct(1), &standing, is_admin);
        let user = settle(enter(), false).unwrap();
        assert_eq!(settle(enter(), false).unwrap_err(), Full::Sockets);
        let admin = settle(enter(), true).unwrap();
        assert_eq!(settle(enter(), true).unwrap_err(), Full::Sockets);
        drop((user, admin));
        assert!(matches!(enter(), Entrance::Guest { .. }));
    }

    #[test]
    fn requests_are_counted_by_address() {
        let places = places(&Limits { requests_per_second: 2, ..Limits::default() });
        let [one, other] = [1, 2].map(address);
        let asked: Vec<bool> = [one, one, one, other].map(|from| places.request(from).is_ok()).into();
        assert_eq!(asked, [true, true, false, true]);
        let unlimited = Places::new(&Limits { requests_per_second: 0, ..Limits::default() }, 1_000);
        assert!((0..10).all(|_| unlimited.request(one).is_ok()));
    }

    #[test]
    fn a_customer_has_one_network() {
        let parse = |text: &str| network(text.parse().unwrap());
        assert_eq!(parse("2001:db8:1:2:3::4"), parse("2001:db8:1:2:ffff::1"));
        assert_ne!(parse("2001:db8:1:2::1"), parse("2001:db8:1:3::1"));
        assert_eq!(parse("::ffff:10.0.0.1"), address(1));
    }
}
