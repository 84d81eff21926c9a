//! `Location`: a place of files, as people write it.

use std::{env, io};

use glob::{MatchOptions, Pattern};
use stratalog_engine::attached::PlaceError;

const S3: &str = "s3://";
const FILE: &str = "file://";

/// `*` and `?` stand for no `/`; `**` is any number of folders.
const WITHIN_A_NAME: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: false,
};

/// Where files are: some name, or a pattern for names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Location {
    /// Its bucket; none on this machine.
    pub(super) bucket: Option<String>,
    /// The path, without a `/` before it.
    pub(super) path: String,
}

impl Location {
    /// What a text means.
    pub(super) fn of(text: &str) -> Result<Location, PlaceError> {
        let unknown = |why: &str| Err(PlaceError::Unknown { place: text.to_owned(), why: why.to_owned() });
        let (bucket, path) = if let Some(rest) = text.strip_prefix(S3) {
            let (bucket, path) = rest.split_once('/').unwrap_or((rest, ""));
            (Some(bucket.to_owned()), path)
        } else {
            let path = text.strip_prefix(FILE).unwrap_or(text);
            if path.contains("://") {
                return unknown("another kind of store than s3://");
            }
            let Some(path) = path.strip_prefix('/') else { return unknown("a path that begins nowhere") };
            (None, path)
        };
        if bucket.as_deref() == Some("") {
            return unknown("no bucket is named");
        }
        let inner = path.trim_end_matches('/');
        if !inner.is_empty() && inner.split('/').any(|part| matches!(part, "" | "." | "..")) {
            return unknown("a part of it is empty, `.` or `..`");
        }
        if Pattern::new(path).is_err() {
            return unknown("its pattern has a bracket that is not closed, or `**` beside other signs");
        }
        Ok(Location { bucket, path: path.to_owned() })
    }

    /// The same, where a path that begins nowhere begins in the folder that this process is in.
    pub(super) fn from_here(text: &str) -> Result<Location, PlaceError> {
        if text.is_empty() || text.starts_with('/') || text.contains("://") {
            return Location::of(text);
        }
        let unknown = |error: io::Error| PlaceError::Unknown {
            place: text.to_owned(),
            why: format!("the folder that it begins in is not known: {error}"),
        };
        let here = Pattern::escape(&env::current_dir().map_err(unknown)?.to_string_lossy());
        Location::of(&format!("{here}/{}", text.trim_start_matches("./")))
    }

    /// Its whole name.
    pub(super) fn name(&self) -> String {
        self.name_of(&self.path)
    }

    /// The whole name of what is at a path beside it.
    pub(super) fn name_of(&self, path: &str) -> String {
        match &self.bucket {
            Some(bucket) => format!("{S3}{bucket}/{path}"),
            None => format!("/{path}"),
        }
    }

    /// Whether it stands for several names.
    pub(super) fn is_pattern(&self) -> bool {
        self.path.split('/').any(is_pattern)
    }

    /// The name of the folder that all it stands for is in, or of the file.
    pub(super) fn folder(&self) -> String {
        self.name_of(&self.fixed()).trim_end_matches('/').to_owned()
    }

    /// The parts of the path before the first one that is a pattern.
    pub(super) fn fixed(&self) -> String {
        let parts = self.path.split('/').take_while(|part| !is_pattern(part));
        parts.collect::<Vec<_>>().join("/")
    }

    /// Whether a path is one that it stands for.
    pub(super) fn holds(&self, path: &str) -> bool {
        Pattern::new(&self.path).is_ok_and(|pattern| pattern.matches_with(path, WITHIN_A_NAME))
    }
}

fn is_pattern(part: &str) -> bool {
    part.contains(['*', '?', '['])
}

#[cfg(test)]
mod tests {
    use super::Location;

    #[test]
    fn a_place_is_a_path_or_a_part_of_a_bucket() {
        let location = |text: &str| Location::of(text).unwrap();
        assert_eq!(location("file:///a/b.parquet"), location("/a/b.parquet"));
        assert_eq!(location("/a/b.parquet").folder(), "/a/b.parquet");
        assert_eq!(location("/a/*.parquet").folder(), "/a");
        assert_eq!(location("s3://lake/a/2026-*/x.parquet").folder(), "s3://lake/a");
        assert_eq!(location("s3://lake/*.parquet").folder(), "s3://lake");
        let sales = location("s3://lake/sales/*.parquet");
        assert!(sales.holds("sales/a.parquet") && !sales.holds("sales/2026/a.parquet"));
        assert!(location("s3://lake/sales/**/*.parquet").holds("sales/2026/01/a.parquet"));
        for bad in ["", "a/b", "s3://", "s3:///a", "gs://b/a", "/a/../b", "/a//b", "/a/[b", "/a/**b"] {
            assert!(Location::of(bad).is_err(), "{bad}");
        }
    }
}
