//! What is answered to each kind of request, read off the programs that are known.

#![expect(clippy::mutable_key_type, reason = "the protocol has addresses as keys, and nothing changes one")]

use super::positions::Lines;
use super::workspace::Workspace;
use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, CompletionItem, CompletionItemKind, CompletionTextEdit,
    Diagnostic as Report, DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag, DocumentHighlight,
    DocumentHighlightKind, DocumentSymbol, Documentation, Hover, HoverContents, Location, MarkupContent,
    MarkupKind, NumberOrString, Position, Range, SemanticToken, SemanticTokenType, SemanticTokens,
    SymbolKind, TextEdit, Uri, WorkspaceEdit,
};
use std::collections::HashMap;
use stratalog_engine::commands::COMMANDS;
use stratalog_engine::{Code, Diagnostic, Severity};
use stratalog_language::complete::OfferKind;
use stratalog_language::format::WIDTH;
use stratalog_language::offers::{Among, offers};
use stratalog_language::{Colour, Document, Kind, Occurrence, Role, Symbol, format};

/// The kinds of tokens, in the order of their numbers.
pub(super) const TOKENS: [SemanticTokenType; 11] = [
    SemanticTokenType::CLASS,
    SemanticTokenType::VARIABLE,
    SemanticTokenType::PARAMETER,
    SemanticTokenType::FUNCTION,
    SemanticTokenType::MACRO,
    SemanticTokenType::PROPERTY,
    SemanticTokenType::TYPE,
    SemanticTokenType::KEYWORD,
    SemanticTokenType::NUMBER,
    SemanticTokenType::STRING,
    SemanticTokenType::COMMENT,
];

impl Workspace {
    pub(super) fn reports(&self, uri: &Uri) -> Vec<Report> {
        let Some(document) = self.document(uri) else { return Vec::new() };
        let lines = self.lines(document);
        document.diagnostics().iter().map(|found| report(found, uri, &lines)).collect()
    }

    pub(super) fn hover(&self, uri: &Uri, position: Position) -> Option<Hover> {
        let document = self.document(uri)?;
        let lines = self.lines(document);
        let (span, value) = document.hover(lines.offset(position))?;
        let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value });
        Some(Hover { contents, range: Some(lines.range(span)) })
    }

    /// Where a relation is declared, derived or filled; where a variable first stands.
    pub(super) fn definitions(&self, uri: &Uri, position: Position) -> Vec<Location> {
        let Some((document, named)) = self.named(uri, position) else { return Vec::new() };
        let all = self.places(uri, document, named);
        let best = all.iter().map(|(_, _, each)| each.role).min();
        let defines = |role: Role| match named.kind {
            Kind::Relation | Kind::Type => role != Role::Use && Some(role) == best,
            Kind::Variable | Kind::Parameter | Kind::Column => true,
            Kind::Function | Kind::Condition | Kind::Aggregate => false,
        };
        let found = all.into_iter().filter(|(_, _, each)| defines(each.role));
        let found = found.map(|(uri, document, each)| self.location(uri, document, each));
        let most = match named.kind {
            Kind::Relation | Kind::Type if best != Some(Role::Fact) => usize::MAX,
            _ => 1,
        };
        found.take(most).collect()
    }

    pub(super) fn references(&self, uri: &Uri, position: Position, declarations: bool) -> Vec<Location> {
        let Some((document, named)) = self.named(uri, position) else { return Vec::new() };
        let all = self.places(uri, document, named).into_iter();
        let all = all.filter(|(_, _, each)| declarations || each.role != Role::Declaration);
        all.map(|(uri, document, each)| self.location(uri, document, each)).collect()
    }

    pub(super) fn highlights(&self, uri: &Uri, position: Position) -> Vec<DocumentHighlight> {
        let Some((document, named)) = self.named(uri, position) else { return Vec::new() };
        let lines = self.lines(document);
        let highlight = |each: &Occurrence| DocumentHighlight {
            range: lines.range(each.span),
            kind: Some(match each.role {
                Role::Use => DocumentHighlightKind::READ,
                Role::Declaration | Role::Rule | Role::Fact => DocumentHighlightKind::WRITE,
            }),
        };
        document.same(named).map(highlight).collect()
    }

    /// The place of what can have another name.
    pub(super) fn renamed(&self, uri: &Uri, position: Position) -> Option<Range> {
        let (document, named) = self.named(uri, position)?;
        matches!(named.kind, Kind::Relation | Kind::Variable | Kind::Type | Kind::Parameter)
            .then(|| self.lines(document).range(named.span))
    }

    /// Another name for what stands at a place, wherever it stands; or why it cannot be called so.
    pub(super) fn rename(&self, uri: &Uri, position: Position, new: &str) -> Result<WorkspaceEdit, String> {
        let (document, named) = self.named(uri, position).ok_or("nothing here has a name")?;
        let new = if named.kind == Kind::Parameter { new.trim_start_matches('$') } else { new };
        let is_word = new.chars().all(|c| c.is_alphanumeric() || c == '_');
        let starts = |is_fit: fn(char) -> bool| new.starts_with(is_fit) && new != "_";
        let (fits, rule) = match named.kind {
            Kind::Variable => (
                starts(|c| c.is_uppercase() || c == '_'),
                "a variable begins with an upper-case letter or with `_`",
            ),
            Kind::Type => {
                (starts(char::is_uppercase), "a type that is declared begins with an upper-case letter")
            }
            Kind::Relation | Kind::Parameter => (
                starts(|c| c.is_alphabetic() || c == '_'),
                "a name begins with a letter, or with `_` and goes on",
            ),
            Kind::Function | Kind::Condition | Kind::Aggregate | Kind::Column => {
                return Err("this cannot be renamed".to_owned());
            }
        };
        if !is_word || !fits {
            return Err(format!("`{new}` cannot stand here: {rule}"));
        }
        let all = self.places(uri, document, named);
        if named.kind == Kind::Relation && all.iter().all(|(_, _, each)| each.role == Role::Use) {
            return Err(format!(
                "no program here defines `{}`, so it is called so elsewhere, too",
                named.name
            ));
        }
        if new != named.name && self.is_taken(new, document, named) {
            return Err(format!("`{new}` means something else already"));
        }
        let mut changes: HashMap<Uri, Vec<TextEdit>> = HashMap::new();
        for (uri, document, each) in all {
            let mut range = self.lines(document).range(each.span);
            if named.kind == Kind::Parameter {
                range.start.character += 1; // the dollar sign stays
            }
            changes.entry(uri.clone()).or_default().push(TextEdit { range, new_text: new.to_owned() });
        }
        Ok(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() })
    }

    fn is_taken(&self, new: &str, document: &Document, named: &Occurrence) -> bool {
        let other = Occurrence { name: new.to_owned(), ..named.clone() };
        match named.kind {
            Kind::Variable | Kind::Parameter => document.same(&other).next().is_some(),
            _ => {
                document.columns().relations().contains(&new) && named.kind == Kind::Relation
                    || self.documents().any(|(_, document)| document.same(&other).next().is_some())
            }
        }
    }

    pub(super) fn outline(&self, uri: &Uri) -> Vec<DocumentSymbol> {
        let Some(document) = self.document(uri) else { return Vec::new() };
        let lines = self.lines(document);
        document.symbols().into_iter().map(|symbol| outlined(symbol, &lines)).collect()
    }

    /// What is defined anywhere under a name that holds the letters of `query` in their order.
    #[expect(deprecated, reason = "a field of the protocol that has to be there")]
    pub(super) fn symbols(&self, query: &str) -> Vec<lsp_types::SymbolInformation> {
        let mut found = Vec::new();
        for (uri, document) in self.documents() {
            let lines = self.lines(document);
            for symbol in document.symbols().into_iter().filter(|symbol| is_like(&symbol.name, query)) {
                found.push(lsp_types::SymbolInformation {
                    kind: symbol_kind(&symbol),
                    location: Location { uri: uri.clone(), range: lines.range(symbol.name_span) },
                    name: symbol.name,
                    tags: None,
                    deprecated: None,
                    container_name: symbol.detail,
                });
            }
        }
        found
    }

    pub(super) fn colours(&self, uri: &Uri) -> SemanticTokens {
        let mut data = Vec::new();
        let Some(document) = self.document(uri) else { return SemanticTokens { result_id: None, data } };
        let lines = self.lines(document);
        let mut last = Position::default();
        for (span, colour) in document.colours() {
            let Some(token_type) = token_type(colour) else { continue };
            let text = &document.text()[span.start as usize..span.end as usize];
            let mut start = span.start as usize;
            // A token lies in one line.
            for line in text.split('\n') {
                let position = lines.position(start);
                let length = self.encoding.length(line.trim_end_matches('\r'));
                start += line.len() + 1;
                if length == 0 {
                    continue;
                }
                let delta_line = position.line - last.line;
                let delta_start = position.character - if delta_line == 0 { last.character } else { 0 };
                let defines = matches!(colour, Colour::Named(_, role) if role != Role::Use);
                data.push(SemanticToken {
                    delta_line,
                    delta_start,
                    length,
                    token_type,
                    token_modifiers_bitset: u32::from(defines),
                });
                last = position;
            }
        }
        SemanticTokens { result_id: None, data }
    }

    /// The whole text anew; nothing where it cannot be read, which has been told.
    pub(super) fn formatted(&self, uri: &Uri) -> Option<Vec<TextEdit>> {
        let document = self.document(uri)?;
        let new_text = format(document.text(), WIDTH).ok()?.text;
        if new_text == document.text() {
            return Some(Vec::new());
        }
        Some(vec![TextEdit { range: self.lines(document).whole(), new_text }])
    }

    /// What could be written in the place of what is wrong.
    pub(super) fn actions(&self, uri: &Uri, range: Range) -> Vec<CodeActionOrCommand> {
        let Some(document) = self.document(uri) else { return Vec::new() };
        let lines = self.lines(document);
        let mut actions = Vec::new();
        for found in document.diagnostics() {
            let report = report(found, uri, &lines);
            if report.range.end < range.start || range.end < report.range.start {
                continue;
            }
            for (number, fix) in found.fixes.iter().enumerate() {
                let written = &document.text()[fix.span.start as usize..fix.span.end as usize];
                let title = match fix.text.as_str() {
                    "" => format!("Remove `{written}`"),
                    text => format!("Write `{}`", text.trim()),
                };
                let edit = TextEdit { range: lines.range(fix.span), new_text: fix.text.clone() };
                let changes = HashMap::from([(uri.clone(), vec![edit])]);
                actions.push(CodeActionOrCommand::CodeAction(CodeAction {
                    title,
                    kind: Some(CodeActionKind::QUICKFIX),
                    diagnostics: Some(vec![report.clone()]),
                    edit: Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }),
                    is_preferred: Some(number == 0 && found.fixes.len() == 1),
                    ..CodeAction::default()
                }));
            }
        }
        actions
    }

    pub(super) fn completions(&self, uri: &Uri, position: Position) -> Vec<CompletionItem> {
        let Some(document) = self.document(uri) else { return Vec::new() };
        let lines = self.lines(document);
        let offset = lines.offset(position);
        let commands: Vec<_> = COMMANDS.iter().flat_map(|family| family.entries).collect();
        let among = Among { columns: &[document.columns()], commands: &commands, graphs: &[] };
        let mut found: Vec<CompletionItem> = Vec::new();
        for offer in offers(&document.text()[..offset], &among) {
            let range = Range { start: lines.position(offset - offer.typed), end: position };
            // Editors close brackets by themselves.
            let new_text = offer.value.trim_end_matches(['(', '<']).to_owned();
            found.push(CompletionItem {
                kind: Some(match offer.kind {
                    OfferKind::Relation => CompletionItemKind::CLASS,
                    OfferKind::Function | OfferKind::Aggregate => CompletionItemKind::FUNCTION,
                    OfferKind::Variable => CompletionItemKind::VARIABLE,
                    OfferKind::Word => CompletionItemKind::KEYWORD,
                }),
                detail: offer.about.clone().filter(|_| offer.kind == OfferKind::Relation),
                documentation: offer
                    .about
                    .filter(|_| offer.kind != OfferKind::Relation)
                    .map(Documentation::String),
                filter_text: Some(new_text.clone()),
                text_edit: Some(CompletionTextEdit::Edit(TextEdit { range, new_text })),
                label: offer.value,
                ..CompletionItem::default()
            });
        }
        found
    }

    fn named(&self, uri: &Uri, position: Position) -> Option<(&Document, &Occurrence)> {
        let document = self.document(uri)?;
        let named = document.at(self.lines(document).offset(position))?;
        Some((document, named))
    }

    /// All places that mean the same: of relations and types in all programs.
    fn places<'w>(
        &'w self,
        uri: &Uri,
        document: &'w Document,
        named: &'w Occurrence,
    ) -> Vec<(&'w Uri, &'w Document, &'w Occurrence)> {
        let is_shared = matches!(named.kind, Kind::Relation | Kind::Type);
        let all = self.documents().filter(|(other, _)| is_shared || *other == uri);
        let mut found = Vec::new();
        for (other, among) in all {
            let of = if std::ptr::eq(among, document) { document } else { among };
            found.extend(of.same(named).map(|each| (other, of, each)));
        }
        found
    }

    fn location(&self, uri: &Uri, document: &Document, each: &Occurrence) -> Location {
        Location { uri: uri.clone(), range: self.lines(document).range(each.span) }
    }
}

fn report(found: &Diagnostic, uri: &Uri, lines: &Lines<'_>) -> Report {
    let related = found.labels.iter().map(|(span, message)| DiagnosticRelatedInformation {
        location: Location { uri: uri.clone(), range: lines.range(*span) },
        message: message.clone(),
    });
    let related: Vec<_> = related.collect();
    let message = match &found.help {
        Some(help) => format!("{}\n{help}", found.message),
        None => found.message.clone(),
    };
    Report {
        range: found.span.map(|span| lines.range(span)).unwrap_or_default(),
        severity: Some(match found.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
        }),
        code: Some(NumberOrString::String(found.code.as_str().to_owned())),
        source: Some("stratalog".to_owned()),
        message,
        related_information: (!related.is_empty()).then_some(related),
        tags: (found.code == Code::UnusedVariable).then(|| vec![DiagnosticTag::UNNECESSARY]),
        ..Report::default()
    }
}

fn symbol_kind(symbol: &Symbol) -> SymbolKind {
    match (symbol.kind, symbol.role) {
        (Kind::Type, _) => SymbolKind::STRUCT,
        (_, Role::Rule) => SymbolKind::FUNCTION,
        _ => SymbolKind::CLASS,
    }
}

#[expect(deprecated, reason = "a field of the protocol that has to be there")]
fn outlined(symbol: Symbol, lines: &Lines<'_>) -> DocumentSymbol {
    DocumentSymbol {
        kind: symbol_kind(&symbol),
        range: lines.range(symbol.span),
        selection_range: lines.range(symbol.name_span),
        detail: symbol.detail.map(|columns| format!("({columns})")),
        name: symbol.name,
        tags: None,
        deprecated: None,
        children: None,
    }
}

fn token_type(colour: Colour) -> Option<u32> {
    Some(match colour {
        Colour::Named(Kind::Relation, _) => 0,
        Colour::Named(Kind::Variable, _) => 1,
        Colour::Named(Kind::Parameter, _) => 2,
        Colour::Named(Kind::Function | Kind::Condition, _) => 3,
        Colour::Named(Kind::Aggregate, _) => 4,
        Colour::Named(Kind::Column, _) => 5,
        Colour::Named(Kind::Type, _) => 6,
        Colour::Word => 7,
        Colour::Number => 8,
        Colour::Text => 9,
        Colour::Comment => 10,
        Colour::Sign => return None,
    })
}

/// Whether a name holds these letters in this order, in any case.
fn is_like(name: &str, query: &str) -> bool {
    let mut letters = name.chars().flat_map(char::to_lowercase);
    query.chars().flat_map(char::to_lowercase).all(|wanted| letters.any(|letter| letter == wanted))
}
