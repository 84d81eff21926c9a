//! A network between client and server that can be broken.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// Passes bytes between those who connect to it and a server.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    /// What the server says is lost.
    deaf: Arc<AtomicBool>,
    connections: Arc<Mutex<Vec<TcpStream>>>,
}

impl Proxy {
    /// Opens one to the server at `host:port`. It lives as long as the process.
    pub fn to(server: &str) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let proxy = Proxy {
            address: listener.local_addr().expect("an address"),
            deaf: Arc::default(),
            connections: Arc::default(),
        };
        let (server, deaf, connections) =
            (server.to_owned(), Arc::clone(&proxy.deaf), Arc::clone(&proxy.connections));
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let Ok(there) = TcpStream::connect(&server) else { continue };
                let ends = [&client, &there].map(|end| end.try_clone().expect("a second handle"));
                connections.lock().unwrap_or_else(PoisonError::into_inner).extend(ends);
                let back =
                    (there.try_clone().expect("a second handle"), client.try_clone().expect("a handle"));
                let deaf = Arc::clone(&deaf);
                thread::spawn(move || pass(client, there, &AtomicBool::new(false)));
                thread::spawn(move || pass(back.0, back.1, &deaf));
            }
        });
        proxy
    }

    /// Where to connect to.
    pub fn url(&self) -> String {
        format!("ws://{}/ws", self.address)
    }

    /// From now on, nothing that the server says arrives.
    pub fn swallow(&self) {
        self.deaf.store(true, Ordering::SeqCst);
    }

    /// Breaks all connections; those that come are whole.
    pub fn cut(&self) {
        for end in self.connections.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            let _ = end.shutdown(Shutdown::Both); // it may have ended
        }
        self.deaf.store(false, Ordering::SeqCst);
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, deaf: &AtomicBool) {
    let mut bytes = [0; 1 << 16];
    while let Ok(read @ 1..) = from.read(&mut bytes) {
        if !deaf.load(Ordering::SeqCst) && to.write_all(&bytes[..read]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both); // it may have ended
}
