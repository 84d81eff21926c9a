//! One TCP connection: counted, bounded before authentication, and closed without losing the last frame.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::runtime::Handle;

use crate::limits::Place;

/// How long, and for how many bytes, a closed connection is still read.
const LINGER: Duration = Duration::from_secs(5);
const LINGER_BYTES: u64 = 256 << 20;

/// What a request may know and say about the connection that it came on.
#[derive(Debug, Clone)]
pub(crate) struct Link {
    /// The other end.
    pub(crate) address: SocketAddr,
    control: Arc<Control>,
}

#[derive(Debug)]
struct Control {
    /// Bytes that may still be read.
    allowance: AtomicI64,
    linger: AtomicBool,
}

impl Link {
    /// Bounds what is read from now on.
    pub(crate) fn allow(&self, bytes: i64) {
        self.control.allowance.store(bytes, Ordering::Relaxed);
    }

    /// Lifts the bound.
    pub(crate) fn allow_everything(&self) {
        self.allow(i64::MAX);
    }

    /// Whether the bound was reached.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.control.allowance.load(Ordering::Relaxed) < 0
    }

    /// Keeps reading for a while after the connection is closed: closing with unread data would reset it, and the
    /// other end would never see the close frame.
    pub(crate) fn linger(&self) {
        self.control.linger.store(true, Ordering::Relaxed);
    }
}

/// The bytes of a connection. Holds its place until both directions are done.
#[derive(Debug)]
pub(crate) struct Wire {
    read: Option<OwnedReadHalf>,
    write: OwnedWriteHalf,
    control: Arc<Control>,
    place: Option<Place>,
}

impl Wire {
    /// Takes over an accepted connection.
    pub(crate) fn new(stream: TcpStream, address: SocketAddr, place: Place) -> (Wire, Link) {
        let control =
            Arc::new(Control { allowance: AtomicI64::new(i64::MAX), linger: AtomicBool::new(false) });
        let (read, write) = stream.into_split();
        let link = Link { address, control: control.clone() };
        (Wire { read: Some(read), write, control, place: Some(place) }, link)
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let Some(read) = &mut self.read else {
            return Poll::Ready(Ok(()));
        };
        ready!(Pin::new(read).poll_read(cx, buf))?;
        let count = (buf.filled().len() - before) as i64;
        if self.control.allowance.load(Ordering::Relaxed) != i64::MAX
            && self.control.allowance.fetch_sub(count, Ordering::Relaxed) < count
        {
            return Poll::Ready(Err(io::Error::other("more bytes than allowed before authentication")));
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Wire {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.write).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.write).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.write.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.write).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.write).poll_shutdown(cx)
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        if !self.control.linger.load(Ordering::Relaxed) {
            return;
        }
        if let (Some(read), Ok(runtime)) = (self.read.take(), Handle::try_current()) {
            let place = self.place.take();
            // The write half is dropped with `self`, which tells the other end that nothing more will come.
            runtime.spawn(async move {
                let _place = place;
                let mut rest = read.take(LINGER_BYTES);
                let _ =
                    tokio::time::timeout(LINGER, tokio::io::copy(&mut rest, &mut tokio::io::sink())).await;
            });
        }
    }
}
