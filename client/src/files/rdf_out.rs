//! Rows of subject, predicate and object as RDF, of which [`super::rdf`] tells how values stand for terms.

use super::format::FileFormat;
use super::rdf::is_notation;
use oxrdf::{GraphName, Literal, NamedNode, NamedOrBlankNode, Quad, Term, Triple};
use oxttl::nquads::WriterNQuadsSerializer;
use oxttl::ntriples::WriterNTriplesSerializer;
use oxttl::turtle::WriterTurtleSerializer;
use oxttl::{NQuadsSerializer, NTriplesSerializer, TurtleSerializer};
use std::io::{self, Write};
use stratalog_protocol::Value;

/// Writes rows as triples.
pub(super) enum TripleWriter<W: Write> {
    Turtle(Box<WriterTurtleSerializer<W>>),
    NTriples(WriterNTriplesSerializer<W>),
    NQuads(WriterNQuadsSerializer<W>),
}

impl<W: Write> TripleWriter<W> {
    pub(super) fn new(out: W, format: FileFormat) -> TripleWriter<W> {
        match format {
            FileFormat::Turtle => TripleWriter::Turtle(Box::new(TurtleSerializer::new().for_writer(out))),
            FileFormat::NQuads => TripleWriter::NQuads(NQuadsSerializer::new().for_writer(out)),
            _ => TripleWriter::NTriples(NTriplesSerializer::new().for_writer(out)),
        }
    }

    pub(super) fn write(&mut self, row: &[Value]) -> io::Result<()> {
        let invalid = |problem| io::Error::new(io::ErrorKind::InvalidData, problem);
        match self {
            TripleWriter::Turtle(serializer) => serializer.serialize_triple(&triple(row).map_err(invalid)?),
            TripleWriter::NTriples(serializer) => serializer.serialize_triple(&triple(row).map_err(invalid)?),
            TripleWriter::NQuads(serializer) => serializer.serialize_quad(&quad(row).map_err(invalid)?),
        }
    }

    pub(super) fn finish(self) -> io::Result<W> {
        match self {
            TripleWriter::Turtle(serializer) => serializer.finish(),
            TripleWriter::NTriples(serializer) => Ok(serializer.finish()),
            TripleWriter::NQuads(serializer) => Ok(serializer.finish()),
        }
    }
}

/// A row of four columns, of which the last is the graph; without it, the graph is the default one.
fn quad(row: &[Value]) -> Result<Quad, String> {
    let (spo, graph) = match row {
        [spo @ .., graph] if row.len() == 4 => (spo, Some(graph)),
        [_, _, _] => (row, None),
        _ => return Err(format!("a quad has three columns or four, found {}", row.len())),
    };
    let graph = match graph {
        None | Some(Value::Null) => Some(GraphName::DefaultGraph),
        Some(Value::Text(text)) if text.starts_with("_:") => text.parse().map(GraphName::BlankNode).ok(),
        Some(Value::Text(text)) => text.parse().map(GraphName::NamedNode).ok(),
        Some(_) => None,
    };
    let graph = graph.ok_or_else(|| {
        format!("{} is no graph: it is an IRI in angle brackets, or null", row[row.len() - 1])
    })?;
    triple(spo).map(|triple| triple.in_graph(graph))
}

pub(super) fn triple(row: &[Value]) -> Result<Triple, String> {
    let [subject, predicate, object] = row else {
        return Err(format!("a triple has three columns, found {}", row.len()));
    };
    let unlike = |value: &Value, what| {
        format!("{value} is no {what}: IRIs stand in angle brackets, \"<http://example.org/ada>\"")
    };
    let subject = match subject {
        Value::Text(text) if text.starts_with("_:") => text.parse().map(NamedOrBlankNode::BlankNode).ok(),
        Value::Text(text) => text.parse().map(NamedOrBlankNode::NamedNode).ok(),
        _ => None,
    }
    .ok_or_else(|| unlike(subject, "subject"))?;
    let predicate: Option<NamedNode> = match predicate {
        Value::Text(text) => text.parse().ok(),
        _ => None,
    };
    let predicate = predicate.ok_or_else(|| unlike(&row[1], "predicate"))?;
    let object = match object {
        Value::Text(text) if is_notation(text) => text.parse().map_err(|_| unlike(&row[2], "object"))?,
        Value::Text(text) => Term::Literal(Literal::new_simple_literal(text)),
        Value::Int(number) => Term::Literal(Literal::from(*number)),
        Value::Float(number) => Term::Literal(Literal::from(*number)),
        Value::Bool(value) => Term::Literal(Literal::from(*value)),
        Value::Null | Value::Vector(_) | Value::List(_) => return Err(unlike(&row[2], "object")),
    };
    Ok(Triple::new(subject, predicate, object))
}
