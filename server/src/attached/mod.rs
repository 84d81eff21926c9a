//! Files that may be attached: which they are, and how they are listed and read, in folders of this machine and in buckets.

mod bucket;
mod local;
mod location;

use std::collections::HashMap;
use std::fs;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use object_store::ObjectStore;
use parking_lot::Mutex;
use stratalog_engine::Budget;
use stratalog_engine::attached::{PlaceError, PlacedFile, Places};

use self::location::Location;
use crate::vault::open_store;

/// No more files than these are one relation.
const MOST_FILES: usize = 10_000;

/// The places whose files may be attached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Attachable {
    /// All of them: whoever asks may read them anyway.
    All,
    /// What is below these.
    Below(Vec<String>),
}

impl Attachable {
    /// A place as `attach.places` may have it: a folder from the root, or a bucket with or without a prefix.
    pub(crate) fn normal(text: &str) -> Result<String, String> {
        let location = Location::of(text).map_err(|error| error.to_string())?;
        match location.is_pattern() {
            true => Err(format!("`{text}` has a `*`: write the folder that files may be in")),
            false => Ok(location.name().trim_end_matches('/').to_owned()),
        }
    }

    /// Where its folders really are.
    fn resolved(&self) -> Attachable {
        match self {
            Attachable::All => Attachable::All,
            Attachable::Below(places) => {
                let real =
                    |place: &String| Some(fs::canonicalize(place).ok()?.to_string_lossy().into_owned());
                Attachable::Below(places.iter().filter_map(real).collect())
            }
        }
    }

    /// Whether something of this name is below one of them.
    fn holds(&self, name: &str) -> bool {
        let is_below = |place: &String| {
            let rest = name.strip_prefix(place.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        match self {
            Attachable::All => true,
            Attachable::Below(places) => places.iter().any(is_below),
        }
    }
}

/// Lists and reads files that may be attached.
#[derive(Debug)]
pub(crate) struct AttachedFiles {
    attachable: Attachable,
    /// By their names.
    buckets: Mutex<HashMap<String, Arc<dyn ObjectStore>>>,
}

impl AttachedFiles {
    pub(crate) fn new(attachable: Attachable) -> AttachedFiles {
        AttachedFiles { attachable, buckets: Mutex::default() }
    }

    /// Whether something of this name may be read. What a link leads to is below where a place leads to.
    fn check(&self, name: &str) -> Result<(), PlaceError> {
        match self.attachable.holds(name) || self.attachable.resolved().holds(name) {
            true => Ok(()),
            false => Err(PlaceError::Closed { place: name.to_owned() }),
        }
    }

    fn bucket(&self, name: &str) -> Result<Arc<dyn ObjectStore>, PlaceError> {
        let mut buckets = self.buckets.lock();
        if let Some(known) = buckets.get(name) {
            return Ok(Arc::clone(known));
        }
        let place = format!("s3://{name}");
        let store = open_store(name, &format!("attached files travel from {place} in clear"));
        let store = store.map_err(|error| PlaceError::Unreadable { file: place, why: error.to_string() })?;
        buckets.insert(name.to_owned(), Arc::clone(&store));
        Ok(store)
    }
}

impl Places for AttachedFiles {
    fn list(&self, place: &str, budget: &Budget) -> Result<Vec<PlacedFile>, PlaceError> {
        let location = match self.attachable {
            // Whoever asks is in this process, and in its folder.
            Attachable::All => Location::from_here(place)?,
            Attachable::Below(_) => Location::of(place)?,
        };
        self.check(&location.folder())?;
        let found = match &location.bucket {
            Some(name) => bucket::list(self.bucket(name)?.as_ref(), &location, budget)?,
            None => local::list(&location, |path| self.check(path))?,
        };
        match found.len() {
            0 => Err(PlaceError::Empty { place: place.to_owned() }),
            1..=MOST_FILES => Ok(found),
            more => {
                let why = format!("{more} files are more than the {MOST_FILES} that a relation may have");
                Err(PlaceError::Unknown { place: place.to_owned(), why })
            }
        }
    }

    fn read(&self, file: &PlacedFile, range: Range<u64>, budget: &Budget) -> Result<Bytes, PlaceError> {
        // What may be attached may be other files by now.
        self.check(&file.name)?;
        let location = Location::of(&file.name)?;
        match &location.bucket {
            Some(name) => bucket::read(self.bucket(name)?.as_ref(), &location, file, range, budget),
            None => local::read(file, range, |path| self.check(path)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Attachable;

    #[test]
    fn what_is_below_a_place_may_be_attached() {
        let places = ["/srv/facts/", "s3://lake/sales"].map(|place| Attachable::normal(place).unwrap());
        let attachable = Attachable::Below(places.to_vec());
        for name in
            ["/srv/facts", "/srv/facts/a.parquet", "s3://lake/sales/2026/a.parquet", "s3://lake/sales"]
        {
            assert!(attachable.holds(name), "{name}");
        }
        for name in
            ["/srv", "/srv/facts2/a", "/etc/passwd", "s3://lake", "s3://lake/sales2/a", "s3://other/sales/a"]
        {
            assert!(!attachable.holds(name), "{name}");
        }
        for bad in ["facts", "s3://", "/srv/*/facts", "gs://lake", "/srv/../etc"] {
            assert!(Attachable::normal(bad).is_err(), "{bad}");
        }
    }
}
