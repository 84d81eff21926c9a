//! RDF as rows of subject, predicate and object, and back ([`super::rdf_out`]); N-Quads have the graph as a fourth column,
//! null for the default one.
//!
//! Text in angle brackets is an IRI, and text that begins with `_:` a blank node, as in N-Triples. Literals are values:
//! strings, numbers and booleans. What has no value of its own (a string with a language, a date) stays in the notation of
//! N-Triples, `"chat"@fr`, and so do strings that would read as one of these; so nothing is lost on the way back.

use super::cells::Cell;
use super::column_type::{Column, ColumnType};
use super::error::FileError;
use super::format::FileFormat;
use super::sample::{self, Source};
use oxrdf::vocab::xsd;
use oxrdf::{BlankNode, GraphName, Literal, NamedOrBlankNode, Quad, Term, Triple};
use oxttl::nquads::ReaderNQuadsParser;
use oxttl::ntriples::ReaderNTriplesParser;
use oxttl::turtle::ReaderTurtleParser;
use oxttl::{NQuadsParser, NTriplesParser, TurtleParseError, TurtleParser};
use serde_json::Value as Json;
use std::fs::{File, Metadata};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::Path;
use std::time::UNIX_EPOCH;
use stratalog_engine::data::time;
use xxhash_rust::xxh3::xxh3_64;

/// The parser of a format.
enum Parser {
    Turtle(ReaderTurtleParser<Source>),
    NTriples(ReaderNTriplesParser<Source>),
    NQuads(ReaderNQuadsParser<Source>),
}

/// What a parser stumbles over.
enum ParseError {
    /// In a line; others may follow.
    Syntax(u64, String),
    /// Nothing follows.
    Last(String),
}

impl From<TurtleParseError> for ParseError {
    fn from(error: TurtleParseError) -> ParseError {
        match error {
            TurtleParseError::Syntax(error) => {
                ParseError::Syntax(error.location().start.line + 1, error.message().to_owned())
            }
            error @ TurtleParseError::Io(_) => ParseError::Last(error.to_string()),
        }
    }
}

impl Parser {
    fn next(&mut self) -> Option<Result<Quad, ParseError>> {
        let in_default = |triple: Triple| triple.in_graph(GraphName::DefaultGraph);
        Some(match self {
            Parser::Turtle(parser) => parser.next()?.map(in_default).map_err(ParseError::from),
            Parser::NTriples(parser) => parser.next()?.map(in_default).map_err(ParseError::from),
            Parser::NQuads(parser) => parser.next()?.map_err(ParseError::from),
        })
    }
}

/// The triples of a file.
pub(super) struct Triples {
    name: String,
    parser: Parser,
    /// Blank nodes are of one file: those of others with the same labels are others.
    scope: String,
    /// Whether there is a column for the graph.
    quads: bool,
    ended: bool,
}

impl Triples {
    /// The scope tells blank nodes of this file from those of others; where there is none, they are of this reading.
    pub(super) fn new(
        name: &str,
        source: Source,
        format: FileFormat,
        scope: Option<u64>,
    ) -> Result<Triples, FileError> {
        let source = sample::unmarked(source).map_err(|error| FileError::new(name, error))?;
        let parser = match format {
            FileFormat::Turtle => Parser::Turtle(TurtleParser::new().for_reader(source)),
            FileFormat::NQuads => Parser::NQuads(NQuadsParser::new().for_reader(source)),
            _ => Parser::NTriples(NTriplesParser::new().for_reader(source)),
        };
        let scope = format!("f{:016x}-", scope.unwrap_or_else(random));
        Ok(Triples {
            name: name.to_owned(),
            parser,
            scope,
            quads: format == FileFormat::NQuads,
            ended: false,
        })
    }

    /// The columns of every such file.
    pub(super) fn columns(format: FileFormat) -> Vec<Column> {
        let column = |name: &str, column_type| Column { name: name.to_owned(), column_type };
        let mut columns = vec![
            column("subject", ColumnType::Text),
            column("predicate", ColumnType::Text),
            column("object", ColumnType::Any),
        ];
        columns.extend((format == FileFormat::NQuads).then(|| column("graph", ColumnType::Text)));
        columns
    }

    /// The next triple, or what is wrong in its place.
    pub(super) fn next(&mut self) -> Option<Result<Vec<Cell<'static>>, FileError>> {
        if self.ended {
            return None;
        }
        Some(match self.parser.next()? {
            Ok(quad) => self.row(&quad),
            Err(ParseError::Syntax(line, problem)) => Err(FileError::at(&self.name, line, problem)),
            Err(ParseError::Last(problem)) => {
                self.ended = true;
                Err(FileError::new(&self.name, problem))
            }
        })
    }

    fn row(&self, quad: &Quad) -> Result<Vec<Cell<'static>>, FileError> {
        let Quad { subject, predicate, object, graph_name } = quad;
        let subject = match subject {
            NamedOrBlankNode::NamedNode(node) => node.to_string(),
            NamedOrBlankNode::BlankNode(node) => self.blank(node),
        };
        let object: Json = match object {
            Term::NamedNode(node) => node.to_string().into(),
            Term::BlankNode(node) => self.blank(node).into(),
            Term::Literal(literal) => of_literal(literal),
            #[allow(unreachable_patterns, reason = "a feature of the library may add triples as terms")]
            other => return Err(FileError::new(&self.name, format!("`{other}` has no place in a column"))),
        };
        let text = |text: String| Cell::Text(text.into());
        let mut row = vec![text(subject), text(predicate.to_string()), Cell::Json(object.to_string())];
        row.extend(self.quads.then(|| match graph_name {
            GraphName::NamedNode(node) => text(node.to_string()),
            GraphName::BlankNode(node) => text(self.blank(node)),
            GraphName::DefaultGraph => Cell::Null,
        }));
        Ok(row)
    }

    fn blank(&self, node: &BlankNode) -> String {
        format!("_:{}{}", self.scope, node.as_str())
    }
}

/// What tells a file from others, and from what it was before: where it lies, how long it is and when it was written. Read
/// again, it has the same. `None` for what is no regular file, and comes but once.
pub(super) fn scope(path: &Path, file: &File) -> Option<u64> {
    let metadata = file.metadata().ok().filter(Metadata::is_file)?;
    let written = metadata.modified().ok()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut identity = path.canonicalize().ok()?.into_os_string().into_encoded_bytes();
    identity.extend(metadata.len().to_le_bytes());
    identity.extend(written.as_nanos().to_le_bytes());
    Some(xxh3_64(&identity))
}

fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// The value of a literal, or its N-Triples notation.
fn of_literal(literal: &Literal) -> Json {
    let text = literal.value();
    let notation = || Json::from(literal.to_string());
    let datatype = literal.datatype();
    if datatype == xsd::STRING {
        return if is_notation(text) { notation() } else { text.into() };
    }
    if datatype == xsd::BOOLEAN {
        return match text {
            "true" | "1" => true.into(),
            "false" | "0" => false.into(),
            _ => notation(),
        };
    }
    let integers = [xsd::INTEGER, xsd::INT, xsd::LONG, xsd::SHORT, xsd::BYTE];
    if integers.contains(&datatype) {
        return text.parse::<i64>().map_or_else(|_| notation(), Json::from);
    }
    if [xsd::DOUBLE, xsd::FLOAT, xsd::DECIMAL].contains(&datatype) {
        let number = text.parse().ok().and_then(serde_json::Number::from_f64);
        return number.map_or_else(notation, Json::from);
    }
    notation()
}

/// The time that the notation of a literal stands for, if it is one.
pub(super) fn time_of(notation: &str) -> Option<i64> {
    let (text, datatype) = notation.strip_prefix('"')?.split_once("\"^^<")?;
    let datatype = datatype.strip_suffix('>')?;
    let is_time = datatype == xsd::DATE_TIME.as_str() || datatype == xsd::DATE.as_str();
    is_time.then(|| time::read(text).ok()).flatten()
}

/// Whether text reads as an IRI, a blank node or a literal in quotes.
pub(super) fn is_notation(text: &str) -> bool {
    text.starts_with('<') && text.ends_with('>') || text.starts_with("_:") || text.starts_with('"')
}

#[cfg(test)]
mod tests {
    use super::super::rdf_out::{TripleWriter, triple};
    use super::*;
    use std::io;
    use stratalog_protocol::Value;

    fn read(text: &str, format: FileFormat) -> Vec<Result<Vec<Json>, String>> {
        let source: Source = Box::new(io::Cursor::new(text.as_bytes().to_vec()));
        let mut triples = Triples::new("f", source, format, Some(7)).unwrap();
        let json = |cell: &Cell<'_>| match cell {
            Cell::Text(text) => Json::from(text.as_ref()),
            Cell::Json(text) => serde_json::from_str(text).unwrap(),
            other => panic!("{other:?}"),
        };
        std::iter::from_fn(|| triples.next())
            .map(|row| row.map(|row| row.iter().map(json).collect()).map_err(|error| error.to_string()))
            .collect()
    }

    const EVERYTHING: &str = "\
<http://e/a> <http://e/p> <http://e/b> .
<http://e/a> <http://e/p> \"text\" .
<http://e/a> <http://e/p> \"<not an IRI>\" .
<http://e/a> <http://e/p> \"chat\"@fr .
<http://e/a> <http://e/p> \"7\"^^<http://www.w3.org/2001/XMLSchema#integer> .
<http://e/a> <http://e/p> \"true\"^^<http://www.w3.org/2001/XMLSchema#boolean> .
<http://e/a> <http://e/p> \"2025-11-21\"^^<http://www.w3.org/2001/XMLSchema#date> .
";

    #[test]
    fn literals_are_values_and_what_is_none_keeps_its_notation() {
        let objects: Vec<Json> =
            read(EVERYTHING, FileFormat::NTriples).into_iter().map(|row| row.unwrap().remove(2)).collect();
        assert_eq!(
            objects,
            [
                Json::from("<http://e/b>"),
                "text".into(),
                "\"<not an IRI>\"".into(),
                "\"chat\"@fr".into(),
                7.into(),
                true.into(),
                "\"2025-11-21\"^^<http://www.w3.org/2001/XMLSchema#date>".into(),
            ]
        );
    }

    #[test]
    fn what_was_read_is_written_as_it_was() {
        let mut writer = TripleWriter::new(Vec::new(), FileFormat::NTriples);
        for row in read(EVERYTHING, FileFormat::NTriples) {
            let row: Vec<Value> =
                row.unwrap().into_iter().map(|json| serde_json::from_value(json).unwrap()).collect();
            writer.write(&row).unwrap();
        }
        assert_eq!(String::from_utf8(writer.finish().unwrap()).unwrap(), EVERYTHING);
    }

    #[test]
    fn blank_nodes_belong_to_their_file() {
        let rows = read("_:b <http://e/p> _:b .", FileFormat::NTriples);
        let row = rows[0].as_ref().unwrap();
        assert_eq!((row[0].as_str(), &row[0]), (Some("_:f0000000000000007-b"), &row[2]));
    }

    #[test]
    fn a_file_is_known_again_until_it_changes() {
        let folder = tempfile::tempdir().unwrap();
        let scope_of = |name: &str| {
            let path = folder.path().join(name);
            scope(&path, &File::open(&path).unwrap()).unwrap()
        };
        std::fs::write(folder.path().join("a.nt"), "1").unwrap();
        std::fs::write(folder.path().join("b.nt"), "1").unwrap();
        let before = scope_of("a.nt");
        assert_eq!(before, scope_of("./a.nt"));
        assert_ne!(before, scope_of("b.nt"));
        std::fs::write(folder.path().join("a.nt"), "12").unwrap();
        assert_ne!(before, scope_of("a.nt"));
    }

    #[test]
    fn the_mark_of_utf_8_is_left_out() {
        let rows = read("\u{feff}<http://e/a> <http://e/p> \"x\" .", FileFormat::NTriples);
        assert!(rows.len() == 1 && rows[0].is_ok(), "{rows:?}");
    }

    #[test]
    fn a_fault_has_its_line_and_reading_goes_on() {
        let rows = read(
            "<http://e/a> <http://e/p> 1 .\n<a b> oops\n<http://e/a> <http://e/p> \"x\" .\n",
            FileFormat::NTriples,
        );
        assert!(rows[0].as_ref().unwrap_err().starts_with("f:1: "), "{rows:?}");
        assert!(rows.last().unwrap().is_ok(), "{rows:?}");
        let rows = read("@prefix e: <http://e/> .\ne:a e:p 1, 2.5 .", FileFormat::Turtle);
        assert_eq!(rows[1].as_ref().unwrap()[2], Json::from(2.5));
    }

    #[test]
    fn rows_that_are_no_triples_are_refused() {
        let text = |text: &str| Value::Text(text.to_owned());
        for row in [
            vec![text("ada"), text("<http://e/p>"), Value::Int(1)],
            vec![text("<http://e/a>"), text("_:p"), Value::Int(1)],
            vec![text("<http://e/a>"), text("<http://e/p>"), Value::Null],
            vec![text("<http://e/a>"), text("<http://e/p>")],
        ] {
            assert!(triple(&row).is_err(), "{row:?}");
        }
    }
}
