//! `--open`: a database that is open as long as the command line runs, without a server.

use crate::arguments::MEMORY;
use std::io;
use std::path::Path;
use std::sync::Arc;
use stratalog_client::Address;
use stratalog_server::{Embedded, EmbeddedError, EmbeddedPlace};

/// A database that is open in this process.
pub(crate) struct Opened(Arc<Embedded>);

impl Opened {
    /// Opens a folder, or one in memory.
    pub(crate) fn open(folder: &Path) -> Result<Opened, EmbeddedError> {
        let place = match folder.as_os_str() == MEMORY {
            true => EmbeddedPlace::Memory,
            false => EmbeddedPlace::Folder(folder.to_owned()),
        };
        Ok(Opened(Arc::new(Embedded::open(place, None)?)))
    }

    /// The way into it.
    pub(crate) fn reached(&self, address: Address, folder: &Path) -> Address {
        let embedded = Arc::clone(&self.0);
        address.inside(&folder.display().to_string(), move || embedded.connect().map_err(io::Error::other))
    }

    /// Leaves the folder in order.
    pub(crate) fn close(&self) -> Result<(), EmbeddedError> {
        self.0.close()
    }
}
