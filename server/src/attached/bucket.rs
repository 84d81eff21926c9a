//! Files of a bucket.

use std::future::ready;
use std::ops::Range;

use bytes::Bytes;
use futures_util::TryStreamExt;
use object_store::path::Path;
use object_store::{GetOptions, ObjectMeta, ObjectStore, ObjectStoreExt};
use stratalog_engine::Budget;
use stratalog_engine::attached::{PlaceError, PlacedFile};

use super::location::Location;
use crate::vault::wait_within;

/// So many objects are asked for at once.
const HEADS_AT_ONCE: usize = 16;

/// The files that a location stands for.
pub(super) fn list(
    store: &dyn ObjectStore,
    location: &Location,
    budget: &Budget,
) -> Result<Vec<PlacedFile>, PlaceError> {
    let place = path(&location.fixed(), location)?;
    let found: Vec<ObjectMeta> = match location.is_pattern() {
        true => asked(&location.name(), budget, matching(store, &place, location))?,
        false => asked(&location.name(), budget, async {
            match store.head(&place).await {
                Err(object_store::Error::NotFound { .. }) => Ok(Vec::new()),
                other => other.map(|one| vec![one]),
            }
        })?,
    };
    let placed = |object: ObjectMeta| {
        let name = location.name_of(object.location.as_ref());
        match object.e_tag {
            Some(mark) => Ok(PlacedFile { name, bytes: object.size, mark }),
            None => {
                let why = "its store has no ETag of it, by which a change would be seen".to_owned();
                Err(PlaceError::Unreadable { file: name, why })
            }
        }
    };
    let mut files = found.into_iter().map(placed).collect::<Result<Vec<_>, PlaceError>>()?;
    files.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(files)
}

/// The objects that a pattern stands for. Not every store lists what it tells of one that it is asked for.
async fn matching(
    store: &dyn ObjectStore,
    place: &Path,
    location: &Location,
) -> object_store::Result<Vec<ObjectMeta>> {
    let listed = store.list(Some(place));
    let found = listed.try_filter(|object| ready(location.holds(object.location.as_ref())));
    let whole = found.map_ok(|object| async move {
        match &object.e_tag {
            Some(_) => Ok(object),
            None => store.head(&object.location).await,
        }
    });
    whole.try_buffered(HEADS_AT_ONCE).try_collect().await
}

/// Bytes of a file that is what it was.
pub(super) fn read(
    store: &dyn ObjectStore,
    location: &Location,
    file: &PlacedFile,
    range: Range<u64>,
    budget: &Budget,
) -> Result<Bytes, PlaceError> {
    let place = path(&location.path, location)?;
    let options = GetOptions { range: Some(range.into()), ..GetOptions::default() };
    let (meta, bytes) = asked(&file.name, budget, async {
        let got = store.get_opts(&place, options).await?;
        let meta = got.meta.clone();
        Ok((meta, got.bytes().await?))
    })?;
    // Not every store compares by itself.
    if meta.size != file.bytes || meta.e_tag.as_ref() != Some(&file.mark) {
        return Err(PlaceError::Changed { file: file.name.clone() });
    }
    Ok(bytes)
}

fn path(text: &str, location: &Location) -> Result<Path, PlaceError> {
    let unknown = |error: object_store::path::Error| PlaceError::Unknown {
        place: location.name(),
        why: error.to_string(),
    };
    Path::parse(text).map_err(unknown)
}

/// What a store answers about a file.
fn asked<T>(
    file: &str,
    budget: &Budget,
    request: impl Future<Output = object_store::Result<T>>,
) -> Result<T, PlaceError> {
    let unreadable = |why: String| PlaceError::Unreadable { file: file.to_owned(), why };
    let answered = wait_within(request, budget).map_err(|error| unreadable(error.to_string()))??;
    answered.map_err(|error| match error {
        object_store::Error::NotFound { .. } => unreadable("it is not there any more".to_owned()),
        other => unreadable(other.to_string()),
    })
}
