//! `Target`: the data folder that is made of a backup. What fails leaves nothing.

use std::path::{Path, PathBuf};

use super::super::data_folder::GRAPHS;
use super::{create_folder, list, write_file};
use crate::storage::{Medium, StorageError};

/// A folder that is being filled. Nothing is left of it unless it is kept.
pub(super) struct Target<'m> {
    medium: &'m dyn Medium,
    pub(super) folder: &'m Path,
    /// The topmost folder that was not there before.
    made: Option<PathBuf>,
    is_kept: bool,
}

impl<'m> Target<'m> {
    pub(super) fn begin(medium: &'m dyn Medium, folder: &'m Path) -> Result<Target<'m>, StorageError> {
        let mut made = None;
        for above in folder.ancestors().take_while(|above| !above.as_os_str().is_empty()) {
            if medium.exists(above).map_err(|error| StorageError::io(above, error))? {
                break;
            }
            made = Some(above.to_owned());
        }
        let target = Target { medium, folder, made, is_kept: false };
        create_folder(medium, folder)?;
        Ok(target)
    }

    /// Writes a file whose path was found to be one of a data folder.
    pub(super) fn write(&self, path: &str, content: &[u8]) -> Result<(), StorageError> {
        let place = self.folder.join(path);
        if let Some(above) = place.parent() {
            create_folder(self.medium, above)?;
        }
        write_file(self.medium, &place, content)
    }

    pub(super) fn keep(mut self) {
        self.is_kept = true;
    }
}

impl Drop for Target<'_> {
    fn drop(&mut self) {
        if self.is_kept {
            return;
        }
        let removed = match &self.made {
            Some(made) => self.medium.remove_folder(made),
            None => self.medium.remove_folder(&self.folder.join(GRAPHS)).and_then(|()| {
                let files = list(self.medium, self.folder).unwrap_or_default();
                files.iter().try_for_each(|file| self.medium.remove(&self.folder.join(file)))
            }),
        };
        if let Err(error) = removed {
            tracing::warn!("cannot remove what is left in {}: {error}", self.folder.display());
        }
    }
}
