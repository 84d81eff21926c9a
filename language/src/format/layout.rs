//! One statement as a document of groups, each in one line if it fits and else with its items in lines of their own (Wadler,
//! "A prettier printer").

use super::tokens::Piece;
use pretty::{Arena, DocAllocator, DocBuilder};
use stratalog_engine::syntax::TokenClass;
use stratalog_engine::syntax::ast::StatementKind;

type Doc<'a> = DocBuilder<'a, Arena<'a>>;

const INDENT: isize = 4;

/// A statement in its layout.
pub(super) fn statement(pieces: &[Piece<'_>], kind: &StatementKind, width: usize) -> String {
    let declares = matches!(kind, StatementKind::Declare(_) | StatementKind::DeclareType(_));
    let mut reader = Reader { pieces, at: 0, declares };
    let nodes = reader.nodes(None);
    let arena = Arena::new();
    let document = Layout { arena: &arena, declares }.statement(&nodes);
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = document.render_fmt(width, &mut text);
    text
}

/// A piece, or what stands between brackets.
#[derive(Debug)]
enum Node<'t> {
    Piece(Piece<'t>),
    Group { open: Piece<'t>, inside: Vec<Node<'t>>, close: &'t str },
}

impl<'t> Node<'t> {
    fn first(&self) -> Piece<'t> {
        match self {
            Node::Piece(piece) => *piece,
            Node::Group { open, .. } => *open,
        }
    }

    fn is(&self, text: &str) -> bool {
        matches!(self, Node::Piece(piece) if piece.text == text && piece.class != TokenClass::Text)
    }

    fn line_comment(&self) -> Option<Piece<'t>> {
        match self {
            Node::Piece(piece) if piece.is_line_comment() => Some(*piece),
            _ => None,
        }
    }

    fn is_comment(&self) -> bool {
        matches!(self, Node::Piece(piece) if piece.is_line_comment() || piece.is_block_comment())
    }

    fn ends_operand(&self) -> bool {
        match self {
            Node::Piece(piece) => piece.ends_operand(),
            Node::Group { .. } => true,
        }
    }
}

/// Reads pieces into nodes.
struct Reader<'p, 't> {
    pieces: &'p [Piece<'t>],
    at: usize,
    declares: bool,
}

impl<'t> Reader<'_, 't> {
    /// Up to the bracket that closes what is open.
    fn nodes(&mut self, close: Option<&str>) -> Vec<Node<'t>> {
        let mut nodes: Vec<Node<'t>> = Vec::new();
        while let Some(piece) = self.pieces.get(self.at).copied() {
            if close == Some(piece.text) && piece.class == TokenClass::Sign {
                return nodes;
            }
            self.at += 1;
            let closing = match piece.text {
                _ if piece.class != TokenClass::Sign => None,
                "(" => Some(")"),
                "[" => Some("]"),
                "{" => Some("}"),
                "<" if !self.declares && nodes.last().is_some_and(is_word) => Some(">"),
                _ => None,
            };
            nodes.push(match closing {
                Some(closing) => {
                    let inside = self.nodes(Some(closing));
                    let close = self.pieces.get(self.at).map_or("", |piece| piece.text);
                    self.at += 1;
                    Node::Group { open: piece, inside, close }
                }
                None => Node::Piece(piece),
            });
        }
        nodes
    }
}

/// A name: it is no operand, so `<` behind it opens what is aggregated.
fn is_word(node: &Node<'_>) -> bool {
    matches!(node, Node::Piece(piece) if piece.class == TokenClass::Name && !matches!(piece.text, "true" | "false" | "null"))
}

/// What stands between two commas.
struct Item<'p, 't> {
    /// Comments on lines of their own before it.
    before: Vec<Piece<'t>>,
    /// `or`, where it begins another alternative.
    or: bool,
    nodes: &'p [Node<'t>],
    /// The comment behind it, and behind its comma.
    behind: Option<Piece<'t>>,
}

/// The items of a list. Comments behind the last comma are an item without nodes.
fn items<'p, 't>(nodes: &'p [Node<'t>], alternatives: bool) -> Vec<Item<'p, 't>> {
    let mut found = Vec::new();
    let mut rest = nodes;
    let mut or = false;
    while !rest.is_empty() {
        let leading = rest.iter().take_while(|node| node.line_comment().is_some()).count();
        let before: Vec<Piece<'t>> = rest[..leading].iter().map(Node::first).collect();
        rest = &rest[leading..];
        let is_or = |at: usize| {
            let before = rest[..at].iter().rev().find(|node| !node.is_comment());
            alternatives && rest[at].is("or") && before.is_some_and(Node::ends_operand)
        };
        let end = (0..rest.len()).find(|at| rest[*at].is(",") || is_or(*at)).unwrap_or(rest.len());
        let filled =
            rest[..end].iter().rposition(|node| node.line_comment().is_none()).map_or(0, |at| at + 1);
        let (nodes, after) = rest[..end].split_at(filled);
        let mut after: Vec<Piece<'t>> = after.iter().map(Node::first).collect();
        let next_or = rest.get(end).is_some_and(|node| node.is("or"));
        rest = &rest[(end + 1).min(rest.len())..];
        let mut behind = after.first().copied().filter(|comment| !comment.begins_line);
        if behind.is_some() {
            after.remove(0);
        } else if !next_or
            && after.is_empty()
            && let Some(comment) = rest.first().and_then(Node::line_comment)
            && !comment.begins_line
        {
            behind = Some(comment);
            rest = &rest[1..];
        }
        found.push(Item { before, or, nodes, behind });
        if !after.is_empty() {
            found.push(Item { before: after, or: false, nodes: &[], behind: None });
        }
        or = next_or;
    }
    found
}

/// Makes documents of nodes.
#[derive(Clone, Copy)]
struct Layout<'a> {
    arena: &'a Arena<'a>,
    declares: bool,
}

impl<'a> Layout<'a> {
    fn statement(self, nodes: &[Node<'a>]) -> Doc<'a> {
        let Some(arrow) = nodes.iter().position(|node| node.is("<-")) else {
            return self.conditions(&items(nodes, false));
        };
        let head = items(&nodes[..arrow], false);
        // Behind a comment there is nothing in its line: the arrow has one with the body.
        let own_line = head.last().is_some_and(|item| item.behind.is_some() || item.nodes.is_empty());
        let list = self.list(&head, is_broken(&head), false).nest(INDENT).group();
        let (comment, body) = opening_comment(&nodes[arrow + 1..]);
        let body = items(body, false);
        let broken = comment.is_some() || is_broken(&body);
        let body = self.line(broken).append(self.list(&body, broken, false)).nest(INDENT);
        let body = self.arena.text("<-").append(self.behind(comment)).append(body);
        match own_line {
            true => list.append(self.arena.hardline().append(body.group()).nest(INDENT)),
            false => list.append(self.arena.text(" ")).append(body).group(),
        }
    }

    /// A goal or fact, and the conditions behind it.
    fn conditions(self, items: &[Item<'_, 'a>]) -> Doc<'a> {
        let (first, rest) = items.split_at(items.len().min(1));
        let document = self.list(first, false, !rest.is_empty());
        if rest.is_empty() {
            return document;
        }
        let broken = is_broken(items);
        let rest = self.line(broken).append(self.list(rest, broken, false)).nest(INDENT);
        document.append(rest).group()
    }

    /// A line break, for certain or where the group does not fit.
    fn line(self, broken: bool) -> Doc<'a> {
        if broken { self.arena.hardline() } else { self.arena.line() }
    }

    /// A comment at the end of its line.
    fn behind(self, comment: Option<Piece<'a>>) -> Doc<'a> {
        match comment {
            Some(comment) => self.arena.text(" ").append(self.comment(comment)),
            None => self.arena.nil(),
        }
    }

    fn comment(self, comment: Piece<'a>) -> Doc<'a> {
        self.arena.text(comment.text.trim_end())
    }

    /// Items with commas between. `last` says that the last one has one too.
    fn list(self, items: &[Item<'_, 'a>], broken: bool, last: bool) -> Doc<'a> {
        let mut document = self.arena.nil();
        let filled = items.iter().rposition(|item| !item.nodes.is_empty());
        for (number, item) in items.iter().enumerate() {
            if number > 0 {
                document = document.append(self.line(broken));
            }
            for (line, comment) in item.before.iter().enumerate() {
                document = document.append(self.comment(*comment));
                if line + 1 < item.before.len() || !item.nodes.is_empty() {
                    document = document.append(self.arena.hardline());
                }
            }
            if item.or {
                document = document.append(self.arena.text("or "));
            }
            document = document.append(self.sequence(item.nodes));
            let comma = match filled {
                Some(filled) if number < filled => {
                    let next = items[number + 1..].iter().find(|next| !next.nodes.is_empty());
                    next.is_none_or(|next| !next.or)
                }
                Some(filled) => number == filled && last,
                None => false,
            };
            if comma && !item.nodes.is_empty() {
                document = document.append(self.arena.text(","));
            }
            document = document.append(self.behind(item.behind));
        }
        document
    }

    /// Nodes one behind the other, with the blanks that belong between them.
    fn sequence(self, nodes: &[Node<'a>]) -> Doc<'a> {
        let mut document = self.arena.nil();
        for (at, node) in nodes.iter().enumerate() {
            let before = at.checked_sub(1).map(|at| &nodes[at]);
            if let Some(before) = before {
                let operand = at.checked_sub(2).map(|at| &nodes[at]);
                let owns_line = node.line_comment().is_some_and(|comment| comment.begins_line);
                if before.line_comment().is_some() || owns_line {
                    // What begins its line at the left begins a statement, and `%` a comment only where it begins one.
                    let rest = self.arena.hardline().append(self.sequence(&nodes[at..]));
                    return document.append(rest.nest(INDENT));
                }
                if is_apart(operand, before, node, self.declares) {
                    document = document.append(self.arena.text(" "));
                }
            }
            document = document.append(match node {
                Node::Piece(piece) if piece.is_line_comment() => self.comment(*piece),
                Node::Piece(piece) => self.arena.text(piece.text),
                Node::Group { open, inside, close } => self.group(before, *open, inside, close),
            });
        }
        document
    }

    fn group(
        self,
        before: Option<&Node<'a>>,
        open: Piece<'a>,
        inside: &[Node<'a>],
        close: &'a str,
    ) -> Doc<'a> {
        let (comment, inside) = opening_comment(inside);
        let opening = self.arena.text(open.text).append(self.behind(comment));
        // Alternatives stand in brackets that belong to no name.
        let found = items(inside, open.text == "(" && !before.is_some_and(Node::ends_operand));
        if found.is_empty() && comment.is_none() {
            return opening.append(self.arena.text(close));
        }
        let broken = comment.is_some() || is_broken(&found);
        // Rows have a comma each, so that a line more changes no other line.
        let rows = open.text == "[" && before.is_some_and(is_word) && found.iter().all(is_row);
        let line = || match (broken, open.text) {
            (true, _) => self.arena.hardline(),
            (false, "{") => self.arena.line(),
            (false, _) => self.arena.line_(),
        };
        let inner = match open.text == "[" && !broken && found.iter().all(is_number) {
            true => self.fill(&found),
            false => self.list(&found, broken, broken && rows),
        };
        let comma = match rows && !broken {
            true => self.arena.text(",").flat_alt(self.arena.nil()),
            false => self.arena.nil(),
        };
        let inner = line().append(inner).append(comma).nest(INDENT);
        opening.append(inner).append(line()).append(self.arena.text(close)).group()
    }

    /// Numbers of a vector: as many in a line as it holds.
    fn fill(self, items: &[Item<'_, 'a>]) -> Doc<'a> {
        let last = items.len() - 1;
        let numbers = items.iter().enumerate().map(|(number, item)| {
            let comma = if number < last { "," } else { "" };
            let one = self.sequence(item.nodes).append(self.arena.text(comma));
            if number == 0 { one } else { self.arena.line().append(one).group() }
        });
        self.arena.concat(numbers)
    }
}

/// A comment in the line of the bracket or arrow before, and the rest.
fn opening_comment<'n, 't>(nodes: &'n [Node<'t>]) -> (Option<Piece<'t>>, &'n [Node<'t>]) {
    match nodes.first().and_then(Node::line_comment) {
        Some(comment) if !comment.begins_line => (Some(comment), &nodes[1..]),
        _ => (None, nodes),
    }
}

/// Whether a comment lasts until the end of its line somewhere in a list.
fn is_broken(items: &[Item<'_, '_>]) -> bool {
    items.iter().any(|item| !item.before.is_empty() || item.behind.is_some() || holds_comment(item.nodes))
}

fn holds_comment(nodes: &[Node<'_>]) -> bool {
    nodes.iter().any(|node| match node {
        Node::Piece(piece) => piece.is_line_comment(),
        Node::Group { inside, .. } => holds_comment(inside),
    })
}

fn is_row(item: &Item<'_, '_>) -> bool {
    matches!(item.nodes, [Node::Group { open, .. }] if open.text == "(") || item.nodes.is_empty()
}

fn is_number(item: &Item<'_, '_>) -> bool {
    let is_digits = |node: &Node<'_>| matches!(node, Node::Piece(piece) if piece.class == TokenClass::Number);
    match item.nodes {
        [number] => is_digits(number),
        [sign, number] => (sign.is("-") || sign.is("+")) && is_digits(number),
        _ => false,
    }
}

/// Whether a blank stands between two nodes; `operand` is what stands before the first.
fn is_apart(operand: Option<&Node<'_>>, before: &Node<'_>, node: &Node<'_>, declares: bool) -> bool {
    let is_block = |node: &Node<'_>| matches!(node, Node::Piece(piece) if piece.is_block_comment());
    if is_block(before) || is_block(node) || node.line_comment().is_some() {
        return true;
    }
    match (before, node) {
        (_, Node::Piece(piece)) if piece.class == TokenClass::Sign && piece.text == ":" => false,
        (Node::Piece(piece), _) if piece.class == TokenClass::Sign => match piece.text {
            "?" | "!" | "." => false,
            ":" => declares,
            "+" | "-" => operand.is_some_and(Node::ends_operand),
            _ => true,
        },
        (_, Node::Piece(piece)) if piece.class == TokenClass::Sign => !matches!(piece.text, "," | "."),
        (Node::Piece(word), Node::Group { .. }) if word.class == TokenClass::Name => word.text == "or",
        // `t"2024-01-01"`
        (Node::Piece(_), Node::Piece(text)) if text.class == TokenClass::Text => !text.touches,
        (Node::Group { .. }, Node::Group { open, .. }) => !open.touches,
        (Node::Piece(_), Node::Group { open, .. }) => !open.touches || open.text == "(" && open.begins_line,
        _ => true,
    }
}
