//! The beginning of a file, read before the rest: what its columns hold is guessed from it, and then it is read again.

use std::io::{self, Chain, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// So much of a file decides about the types of its columns.
const BYTES: u64 = 4 << 20;

/// The mark of UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// A file's bytes, beginning with those that were looked at.
pub(super) type Whole = Chain<Cursor<Vec<u8>>, Source>;
/// Where a file's bytes come from.
pub(super) type Source = Box<dyn Read + Send>;

/// Reads the beginning, without the mark that some programs put before text.
pub(super) fn look(mut source: Source) -> io::Result<(Whole, bool)> {
    let mut beginning = Vec::new();
    source.by_ref().take(BYTES).read_to_end(&mut beginning)?;
    let complete = (beginning.len() as u64) < BYTES;
    if beginning.starts_with(MARK) {
        beginning.drain(..MARK.len());
    }
    Ok((Cursor::new(beginning).chain(source), complete))
}

/// The source without the mark that some programs put before text.
pub(super) fn unmarked(mut source: Source) -> io::Result<Source> {
    let mut beginning = Vec::new();
    source.by_ref().take(MARK.len() as u64).read_to_end(&mut beginning)?;
    if beginning == MARK {
        beginning.clear();
    }
    Ok(Box::new(Cursor::new(beginning).chain(source)))
}

/// The beginning of such bytes.
pub(super) fn beginning(whole: &Whole) -> &[u8] {
    whole.get_ref().0.get_ref()
}

/// Counts the bytes that are read.
pub(super) struct Counted<R> {
    inner: R,
    count: Arc<AtomicU64>,
}

impl<R: Read> Counted<R> {
    pub(super) fn new(inner: R, count: &Arc<AtomicU64>) -> Counted<R> {
        Counted { inner, count: Arc::clone(count) }
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.count.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}
