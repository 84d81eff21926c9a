//! The programs of an editor: those that are open, and those that lie in its folders.

use super::positions::{Encoding, Lines};
use lsp_types::{TextDocumentContentChangeEvent, Uri};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use stratalog_language::{Document, Kind};
use url::Url;

/// So many files of the folders are read, and so many bytes of them.
const MOST_FILES: usize = 2_000;
const MOST_BYTES: u64 = 16 << 20;
/// So many entries of folders are looked at: somebody may have opened a whole disk.
const MOST_ENTRIES: usize = 200_000;
/// What no program lies in.
const NO_PROGRAMS: [&str; 3] = ["target", "node_modules", "__pycache__"];

/// All programs that are known, by their address.
#[derive(Debug)]
pub(super) struct Workspace {
    pub(super) encoding: Encoding,
    files: BTreeMap<Uri, File>,
    /// The declarations and rules of the database.
    database: String,
}

#[derive(Debug)]
struct File {
    text: String,
    /// What is known of the text, as it was when that was last looked at.
    document: Document,
    /// The version of the editor, if it has the file open.
    version: Option<i32>,
    /// Whether the text is another one than that of the document.
    stale: bool,
    /// Whether something has changed that has not been told.
    untold: bool,
}

impl Workspace {
    pub(super) fn new(encoding: Encoding) -> Workspace {
        Workspace { encoding, files: BTreeMap::new(), database: String::new() }
    }

    pub(super) fn document(&self, uri: &Uri) -> Option<&Document> {
        self.files.get(uri).map(|file| &file.document)
    }

    /// All programs, open or not.
    pub(super) fn documents(&self) -> impl Iterator<Item = (&Uri, &Document)> {
        self.files.iter().map(|(uri, file)| (uri, &file.document))
    }

    pub(super) fn lines<'d>(&self, document: &'d Document) -> Lines<'d> {
        Lines::new(document.text(), self.encoding)
    }

    /// The editor has a program open.
    pub(super) fn open(&mut self, uri: &Uri, version: i32, text: String) {
        self.set(uri, Some(version), text);
    }

    /// Applies changes in their order.
    pub(super) fn change(&mut self, uri: &Uri, version: i32, changes: Vec<TextDocumentContentChangeEvent>) {
        let mut text = self.files.get(uri).map(|file| file.text.clone()).unwrap_or_default();
        for change in changes {
            match change.range {
                None => text = change.text,
                Some(range) => {
                    let lines = Lines::new(&text, self.encoding);
                    let (start, end) = (lines.offset(range.start), lines.offset(range.end));
                    text.replace_range(start..end.max(start), &change.text);
                }
            }
        }
        self.set(uri, Some(version), text);
    }

    /// The editor has closed a program: what counts is the file, if there is one.
    pub(super) fn close(&mut self, uri: &Uri) {
        if let Some(file) = self.files.get_mut(uri) {
            file.version = None;
        }
        self.read_again(uri);
    }

    /// A file has changed, has come or gone. One that is open is as the editor has it.
    pub(super) fn read_again(&mut self, uri: &Uri) {
        if self.files.get(uri).is_some_and(|file| file.version.is_some()) {
            return;
        }
        match path(uri).and_then(|path| std::fs::read_to_string(path).ok()) {
            Some(text) => self.set(uri, None, text),
            None => {
                self.files.remove(uri);
                self.renew_others(None);
            }
        }
    }

    /// Reads all files again that are not open.
    pub(super) fn read_closed_again(&mut self) {
        let closed = self.files.iter().filter(|(_, file)| file.version.is_none());
        let closed: Vec<Uri> = closed.map(|(uri, _)| uri.clone()).collect();
        closed.iter().for_each(|uri| self.read_again(uri));
    }

    /// Reads the programs of a folder that are not open.
    pub(super) fn read(&mut self, folder: &Uri) {
        let Some(folder) = path(folder) else { return };
        let mut bytes = 0;
        for file in programs(&folder) {
            bytes += file.metadata().map_or(0, |metadata| metadata.len());
            if self.files.len() >= MOST_FILES || bytes > MOST_BYTES {
                break;
            }
            if let (Ok(text), Some(uri)) = (std::fs::read_to_string(&file), address(&file)) {
                self.set(&uri, None, text);
            }
        }
        self.settle();
    }

    /// What the database defines.
    pub(super) fn set_database(&mut self, definitions: String) {
        self.database = definitions;
        self.renew_others(None);
    }

    /// Open programs about which something is to be told.
    pub(super) fn untold(&mut self) -> Vec<(Uri, i32)> {
        let files = self
            .files
            .iter_mut()
            .filter_map(|(uri, file)| std::mem::take(&mut file.untold).then_some((uri, file)));
        files.filter_map(|(uri, file)| Some((uri.clone(), file.version?))).collect()
    }

    fn set(&mut self, uri: &Uri, version: Option<i32>, text: String) {
        match self.files.get_mut(uri) {
            Some(file) => {
                let changes = file.text != text || file.version.is_none() != version.is_none();
                (file.text, file.version, file.stale) = (text, version, file.stale || changes);
            }
            None => {
                let document = Document::default();
                let file = File { text, document, version, stale: true, untold: false };
                self.files.insert(uri.clone(), file);
            }
        }
    }

    /// Looks at what has changed, however often it has: one types faster than a large program is read.
    pub(super) fn settle(&mut self) {
        let stale = self.files.iter().filter(|(_, file)| file.stale);
        let stale: Vec<Uri> = stale.map(|(uri, _)| uri.clone()).collect();
        for uri in &stale {
            let Some(file) = self.files.get(uri) else { continue };
            let before = definitions(&file.document);
            // What is not open is not told of, and need not stand among others.
            let document = match file.version {
                Some(_) => self.read_among(uri, file.text.clone()),
                None => Document::new(file.text.clone(), []),
            };
            let changes = definitions(&document) != before;
            if let Some(file) = self.files.get_mut(uri) {
                (file.document, file.stale, file.untold) = (document, false, true);
            }
            if changes {
                self.renew_others(Some(uri));
            }
        }
    }

    /// Checks again what stands among others.
    fn renew_others(&mut self, but: Option<&Uri>) {
        let open = self.files.iter().filter(|(uri, file)| file.version.is_some() && Some(*uri) != but);
        let open: Vec<Uri> = open.map(|(uri, _)| uri.clone()).collect();
        for uri in open {
            let Some(file) = self.files.get(&uri).filter(|file| !file.stale) else { continue };
            let document = self.read_among(&uri, file.text.clone());
            if let Some(file) = self.files.get_mut(&uri) {
                (file.document, file.untold) = (document, true);
            }
        }
    }

    fn read_among(&self, uri: &Uri, text: String) -> Document {
        let others = self.files.iter().filter(|(other, _)| *other != uri).map(|(_, file)| file.text.as_str());
        Document::new(text, std::iter::once(self.database.as_str()).chain(others))
    }
}

/// What others see of a program.
fn definitions(document: &Document) -> Vec<(String, Kind, Option<String>)> {
    document.symbols().into_iter().map(|symbol| (symbol.name, symbol.kind, symbol.detail)).collect()
}

/// The programs in a folder and those below it.
fn programs(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    let mut seen = 0;
    while let Some(folder) = open.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        let mut entries: Vec<_> = entries.flatten().collect();
        entries.sort_by_key(std::fs::DirEntry::file_name);
        seen += entries.len();
        for entry in entries {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder && !name.starts_with('.') && !NO_PROGRAMS.contains(&name.as_str()) {
                open.push(entry.path());
            } else if !is_folder && name.ends_with(".dl") {
                found.push(entry.path());
            }
        }
        if found.len() > MOST_FILES || seen > MOST_ENTRIES {
            break;
        }
    }
    found
}

fn path(uri: &Uri) -> Option<PathBuf> {
    Url::parse(uri.as_str()).ok()?.to_file_path().ok()
}

fn address(path: &Path) -> Option<Uri> {
    Uri::from_str(Url::from_file_path(path).ok()?.as_str()).ok()
}
