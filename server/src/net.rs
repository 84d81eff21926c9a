//! One TCP connection: counted, bounded before authentication and while its answers are not read, and closed without losing
//! the last frame.

use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use stratalog_engine::Budget;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::net::TcpStream;
use tokio::runtime::Handle;

use crate::limits::{Origin, Standing};

/// How long, and for how many bytes, a closed connection is still read.
const LINGER: Duration = Duration::from_secs(5);
const LINGER_BYTES: u64 = 256 << 20;

/// What stands before the payload of a client's control frame: two bytes, and the mask.
const CONTROL_HEAD: usize = 6;

/// So much of a message that is not complete may always come in, however little memory is left.
const SMALL_TALK: usize = 64 << 10;

/// What a request may know and say about the connection that it came on.
#[derive(Debug, Clone)]
pub(crate) struct Link {
    /// Who sends requests: the other end, or whom a trusted proxy there names.
    pub(crate) client: IpAddr,
    /// Where the connection comes from.
    pub(crate) from: Origin,
    /// As what it is there.
    pub(crate) standing: Arc<Standing>,
    control: Arc<Control>,
}

#[derive(Debug)]
struct Control {
    /// Bytes that may still be read.
    allowance: AtomicI64,
    linger: AtomicBool,
    /// What counts the bytes of messages that are not complete.
    incoming: OnceLock<Budget>,
    incomplete: AtomicUsize,
    is_overloaded: AtomicBool,
}

impl Control {
    /// Counts bytes that were read; whether they may stay.
    fn count(&self, bytes: usize) -> io::Result<()> {
        let allowed = bytes as i64;
        if self.allowance.load(Ordering::Relaxed) != i64::MAX
            && self.allowance.fetch_sub(allowed, Ordering::Relaxed) < allowed
        {
            return Err(io::Error::other("more bytes than allowed before authentication"));
        }
        let Some(memory) = self.incoming.get() else { return Ok(()) };
        let incomplete = self.incomplete.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if memory.charge(bytes).is_err() && incomplete > SMALL_TALK {
            self.is_overloaded.store(true, Ordering::Relaxed);
            return Err(io::Error::other("no memory is left for the rest of a message"));
        }
        Ok(())
    }
}

impl Link {
    /// The same connection, used by this client.
    pub(crate) fn of(&self, client: IpAddr) -> Link {
        Link { client, ..self.clone() }
    }

    /// Counts what comes in from now on, until [`Link::complete`].
    pub(crate) fn count_in(&self, memory: Budget) {
        // Once for a connection.
        let _ = self.control.incoming.set(memory);
    }

    /// What came in was a message, and counts no longer here.
    pub(crate) fn complete(&self) {
        self.forget(usize::MAX);
    }

    /// A part of what came in was a control frame, which may stand in the midst of a message.
    pub(crate) fn control_frame(&self, payload: usize) {
        self.forget(payload + CONTROL_HEAD);
    }

    fn forget(&self, bytes: usize) {
        let Some(memory) = self.control.incoming.get() else { return };
        let incomplete = &self.control.incomplete;
        let before = incomplete
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |all| Some(all.saturating_sub(bytes)));
        memory.release(before.unwrap_or_else(|all| all).min(bytes));
    }

    /// Whether a message was too large for the memory that was left.
    pub(crate) fn is_overloaded(&self) -> bool {
        self.control.is_overloaded.load(Ordering::Relaxed)
    }

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

/// What carries the bytes of a connection, encrypted or not.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// The bytes of a connection, as they are when nothing is encrypted. Holds its place until both directions are done.
pub(crate) struct Wire {
    /// Until it is dropped.
    stream: Option<Box<dyn Stream>>,
    control: Arc<Control>,
    standing: Option<Arc<Standing>>,
}

impl Wire {
    /// Takes over an accepted connection.
    pub(crate) fn new(stream: impl Stream + 'static, from: Origin, standing: Standing) -> (Wire, Link) {
        let standing = Arc::new(standing);
        let control = Arc::new(Control {
            allowance: AtomicI64::new(i64::MAX),
            linger: AtomicBool::new(false),
            incoming: OnceLock::new(),
            incomplete: AtomicUsize::new(0),
            is_overloaded: AtomicBool::new(false),
        });
        let link =
            Link { client: from.peer, from, standing: Arc::clone(&standing), control: Arc::clone(&control) };
        (Wire { stream: Some(Box::new(stream)), control, standing: Some(standing) }, link)
    }

    fn stream(&mut self) -> io::Result<Pin<&mut dyn Stream>> {
        // It is there until this is dropped.
        let stream = self.stream.as_deref_mut().ok_or(io::ErrorKind::NotConnected)?;
        Ok(Pin::new(stream))
    }
}

/// Sets an accepted connection up: replies are whole frames, so waiting for more to send would only delay them; and who
/// does not take what is sent for so long is gone. The system looks after that: it sees whether the other end takes
/// anything, so one that reads slowly stays.
pub(crate) fn prepare(stream: &TcpStream, longest_send: Duration) -> io::Result<()> {
    stream.set_nodelay(true)?;
    #[cfg(target_os = "linux")]
    if !longest_send.is_zero() {
        let milliseconds = u32::try_from(longest_send.as_millis()).unwrap_or(u32::MAX);
        rustix::net::sockopt::set_tcp_user_timeout(stream, milliseconds)?;
    }
    #[cfg(not(target_os = "linux"))]
    let _ = longest_send;
    Ok(())
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(self.stream()?.poll_read(cx, buf))?;
        Poll::Ready(self.control.count(buf.filled().len() - before))
    }
}

impl AsyncWrite for Wire {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.stream()?.poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.stream()?.poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.as_ref().is_some_and(|stream| stream.is_write_vectored())
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream()?.poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream()?.poll_shutdown(cx)
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        if !self.control.linger.load(Ordering::Relaxed) {
            return;
        }
        if let (Some(mut stream), Ok(runtime)) = (self.stream.take(), Handle::try_current()) {
            let standing = self.standing.take();
            runtime.spawn(async move {
                let _standing = standing;
                let farewell = async {
                    // It tells the other end that nothing more will come.
                    stream.shutdown().await?;
                    tokio::io::copy(&mut stream.take(LINGER_BYTES), &mut tokio::io::sink()).await
                };
                let _ = tokio::time::timeout(LINGER, farewell).await;
            });
        }
    }
}
