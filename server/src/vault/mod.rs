//! Where backups are, as people write it: a path, or `s3://BUCKET/FOLDER`.

mod bucket;
mod store;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use stratalog_engine::BackupPlace;

use bucket::Bucket;
pub(crate) use store::{open_store, wait_within};

const S3: &str = "s3://";

/// Why a text names no place.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// Another kind of store.
    #[error("`{0}` is no place for backups: a folder, or s3://BUCKET/FOLDER")]
    Unknown(String),
    /// The store cannot be asked for anything.
    #[error("`{place}` cannot be used: {error}")]
    Bucket {
        /// The place.
        place: String,
        /// Why.
        error: io::Error,
    },
}

/// The place that a text names.
pub fn place(text: &str) -> Result<BackupPlace, PlaceError> {
    let Some(name) = bucket_in(text)? else { return Ok(BackupPlace::on_disk(text)) };
    let bucket = Bucket::open(PathBuf::from(format!("{S3}{name}")), name)
        .map_err(|error| PlaceError::Bucket { place: text.to_owned(), error })?;
    Ok(BackupPlace { files: Arc::new(bucket), folder: PathBuf::from(text.trim_end_matches('/')) })
}

/// The name of the bucket in a place; none in a path of the file system.
pub(crate) fn bucket_in(text: &str) -> Result<Option<&str>, PlaceError> {
    if !text.contains("://") {
        return Ok(None);
    }
    let is_plain = |part: &str| !matches!(part, "" | "." | "..");
    let rest = text.strip_prefix(S3).unwrap_or_default().trim_end_matches('/');
    match rest.split('/').all(is_plain) {
        true => Ok(rest.split('/').next()),
        false => Err(PlaceError::Unknown(text.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::bucket_in;

    #[test]
    fn a_place_is_a_path_or_a_folder_of_a_bucket() {
        for path in ["", "many", "./many", "/mnt/backups", "s3:/bucket"] {
            assert_eq!(bucket_in(path).unwrap(), None, "{path}");
        }
        for place in ["s3://bucket", "s3://bucket/", "s3://bucket/a/b", "s3://bucket/a/"] {
            assert_eq!(bucket_in(place).unwrap(), Some("bucket"), "{place}");
        }
        for bad in
            ["s3://", "s3:///a", "s3://b//a", "s3://b/../c", "gs://bucket/a", "https://host/a", "S3://b"]
        {
            assert!(bucket_in(bad).is_err(), "{bad}");
        }
    }
}
