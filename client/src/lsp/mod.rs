//! `stratalog lsp`: a language server over standard input and output (Language Server Protocol 3.17).
//!
//! All is read off the programs that are open and those in the folders of the editor, by the engine's own front end; with a
//! server or folder given, also off the relations that are there. One thread answers one message after the other, and tells
//! what is wrong once the editor pauses.

mod answers;
mod positions;
mod workspace;

use self::positions::Encoding;
use self::workspace::Workspace;
use crate::arguments::ConnectionArguments;
use crate::database;
use crate::names;
use lsp_server::{Connection, ErrorCode, ExtractError, Message, Notification, Request, Response};
use lsp_types::notification::{self, Notification as _};
use lsp_types::request::{self, Request as _};
use lsp_types::{
    CodeActionKind, CodeActionOptions, CodeActionProviderCapability, CompletionOptions, CompletionResponse,
    DocumentSymbolResponse, GotoDefinitionResponse, HoverProviderCapability, InitializeParams, MessageType,
    OneOf, PublishDiagnosticsParams, RenameOptions, SemanticTokenModifier, SemanticTokensFullOptions,
    SemanticTokensLegend, SemanticTokensOptions, ServerCapabilities, ShowMessageParams,
    TextDocumentSyncCapability, TextDocumentSyncKind, Uri, WorkspaceSymbolResponse,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::time::Duration;

/// How long an editor has to pause before it is told what is wrong.
const PAUSE: Duration = Duration::from_millis(60);

/// Serves until the editor ends. The relations of a database that is named are known, too.
pub(crate) fn run(database: &ConnectionArguments) -> Result<(), String> {
    let (connection, threads) = Connection::stdio();
    let served = serve(&connection, database);
    drop(connection);
    let ended = threads.join().map_err(|error| format!("the editor cannot be reached: {error}"));
    served.and(ended)
}

fn serve(connection: &Connection, database: &ConnectionArguments) -> Result<(), String> {
    let broken = |error: lsp_server::ProtocolError| format!("not what an editor says: {error}");
    let (id, asked) = connection.initialize_start().map_err(broken)?;
    let asked: InitializeParams =
        serde_json::from_value(asked).map_err(|error| format!("initialize: {error}"))?;
    let general = asked.capabilities.general.as_ref();
    let encoding = Encoding::chosen(general.and_then(|general| general.position_encodings.as_deref()));
    let told = serde_json::json!({
        "capabilities": capabilities(encoding),
        "serverInfo": {"name": "stratalog", "version": env!("CARGO_PKG_VERSION")},
    });
    connection.initialize_finish(id, told).map_err(broken)?;
    let mut server = Server { connection, workspace: Workspace::new(encoding) };
    let workspace = asked.capabilities.workspace.as_ref();
    let watched = workspace.and_then(|workspace| workspace.did_change_watched_files.as_ref());
    if watched.is_some_and(|watched| watched.dynamic_registration == Some(true)) {
        server.watch_programs();
    }
    for folder in asked.workspace_folders.unwrap_or_default() {
        server.workspace.read(&folder.uri);
    }
    match database::ask(database, names::definitions) {
        Ok(definitions) => server.workspace.set_database(definitions.unwrap_or_default()),
        Err(problem) => server.warn(&format!("the relations of the database are not known: {problem}")),
    }
    server.run()
}

fn capabilities(encoding: Encoding) -> ServerCapabilities {
    let characters = ["(", ",", "?", "+", "-", "!", "."];
    ServerCapabilities {
        position_encoding: Some(encoding.kind()),
        text_document_sync: Some(TextDocumentSyncCapability::Kind(TextDocumentSyncKind::INCREMENTAL)),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some(characters.map(str::to_owned).to_vec()),
            ..CompletionOptions::default()
        }),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_highlight_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        workspace_symbol_provider: Some(OneOf::Left(true)),
        document_formatting_provider: Some(OneOf::Left(true)),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: Default::default(),
        })),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(vec![CodeActionKind::QUICKFIX]),
            ..CodeActionOptions::default()
        })),
        semantic_tokens_provider: Some(
            SemanticTokensOptions {
                legend: SemanticTokensLegend {
                    token_types: answers::TOKENS.to_vec(),
                    token_modifiers: vec![SemanticTokenModifier::DEFINITION],
                },
                full: Some(SemanticTokensFullOptions::Bool(true)),
                ..SemanticTokensOptions::default()
            }
            .into(),
        ),
        ..ServerCapabilities::default()
    }
}

struct Server<'c> {
    connection: &'c Connection,
    workspace: Workspace,
}

impl Server<'_> {
    fn run(&mut self) -> Result<(), String> {
        let receiver = &self.connection.receiver;
        loop {
            let message = match receiver.recv_timeout(PAUSE) {
                Ok(message) => message,
                Err(error) if error.is_timeout() => {
                    self.workspace.settle();
                    self.tell();
                    match receiver.recv() {
                        Ok(message) => message,
                        Err(_) => return Ok(()),
                    }
                }
                Err(_) => return Ok(()),
            };
            match message {
                Message::Request(request) => {
                    let ends = self.connection.handle_shutdown(&request);
                    if ends.map_err(|error| format!("not what an editor says: {error}"))? {
                        return Ok(());
                    }
                    if request.method == request::Rename::METHOD {
                        // Not every editor tells of files that have changed, and they are about to be written.
                        self.workspace.read_closed_again();
                    }
                    self.workspace.settle();
                    let response = self.answer(request);
                    self.send(Message::Response(response));
                }
                Message::Notification(told) => self.take(told),
                Message::Response(_) => {}
            }
        }
    }

    /// An editor that has gone needs no answer.
    fn send(&self, message: Message) {
        let _ = self.connection.sender.send(message);
    }

    fn notify<N: notification::Notification>(&self, params: N::Params) {
        self.send(Message::Notification(Notification::new(N::METHOD.to_owned(), params)));
    }

    fn warn(&self, message: &str) {
        let (typ, message) = (MessageType::WARNING, message.to_owned());
        self.notify::<notification::ShowMessage>(ShowMessageParams { typ, message });
    }

    /// Wants to be told when a program changes that is not open.
    fn watch_programs(&self) {
        let params = serde_json::json!({"registrations": [{
            "id": "programs",
            "method": notification::DidChangeWatchedFiles::METHOD,
            "registerOptions": {"watchers": [{"globPattern": "**/*.dl"}]},
        }]});
        let method = request::RegisterCapability::METHOD.to_owned();
        self.send(Message::Request(Request { id: "watch".to_owned().into(), method, params }));
    }

    /// Tells what is wrong with programs that have changed.
    fn tell(&mut self) {
        for (uri, version) in self.workspace.untold() {
            self.tell_of(uri, Some(version));
        }
    }

    fn tell_of(&self, uri: Uri, version: Option<i32>) {
        let diagnostics = if version.is_some() { self.workspace.reports(&uri) } else { Vec::new() };
        self.notify::<notification::PublishDiagnostics>(PublishDiagnosticsParams {
            uri,
            diagnostics,
            version,
        });
    }

    fn take(&mut self, told: Notification) {
        let workspace = &mut self.workspace;
        match told.method.as_str() {
            notification::DidOpenTextDocument::METHOD => {
                if let Some(params) = params::<notification::DidOpenTextDocument>(told) {
                    let document = params.text_document;
                    workspace.open(&document.uri, document.version, document.text);
                }
            }
            notification::DidChangeTextDocument::METHOD => {
                if let Some(params) = params::<notification::DidChangeTextDocument>(told) {
                    let document = params.text_document;
                    workspace.change(&document.uri, document.version, params.content_changes);
                }
            }
            notification::DidCloseTextDocument::METHOD => {
                if let Some(params) = params::<notification::DidCloseTextDocument>(told) {
                    workspace.close(&params.text_document.uri);
                    self.tell_of(params.text_document.uri, None);
                }
            }
            notification::DidChangeWatchedFiles::METHOD => {
                let changes =
                    params::<notification::DidChangeWatchedFiles>(told).map(|params| params.changes);
                changes.iter().flatten().for_each(|change| workspace.read_again(&change.uri));
            }
            _ => {}
        }
    }

    fn answer(&self, request: Request) -> Response {
        let (id, method) = (request.id.clone(), request.method.clone());
        let workspace = &self.workspace;
        match method.as_str() {
            request::HoverRequest::METHOD => reply::<request::HoverRequest>(request, |params| {
                let at = params.text_document_position_params;
                Ok(workspace.hover(&at.text_document.uri, at.position))
            }),
            request::Completion::METHOD => reply::<request::Completion>(request, |params| {
                let at = params.text_document_position;
                let found = workspace.completions(&at.text_document.uri, at.position);
                Ok(Some(CompletionResponse::Array(found)))
            }),
            request::GotoDefinition::METHOD => reply::<request::GotoDefinition>(request, |params| {
                let at = params.text_document_position_params;
                let found = workspace.definitions(&at.text_document.uri, at.position);
                Ok(Some(GotoDefinitionResponse::Array(found)))
            }),
            request::References::METHOD => reply::<request::References>(request, |params| {
                let (at, context) = (params.text_document_position, params.context);
                let found =
                    workspace.references(&at.text_document.uri, at.position, context.include_declaration);
                Ok(Some(found))
            }),
            request::DocumentHighlightRequest::METHOD => {
                reply::<request::DocumentHighlightRequest>(request, |params| {
                    let at = params.text_document_position_params;
                    Ok(Some(workspace.highlights(&at.text_document.uri, at.position)))
                })
            }
            request::DocumentSymbolRequest::METHOD => {
                reply::<request::DocumentSymbolRequest>(request, |params| {
                    let found = workspace.outline(&params.text_document.uri);
                    Ok(Some(DocumentSymbolResponse::Nested(found)))
                })
            }
            request::WorkspaceSymbolRequest::METHOD => {
                reply::<request::WorkspaceSymbolRequest>(request, |params| {
                    Ok(Some(WorkspaceSymbolResponse::Flat(workspace.symbols(&params.query))))
                })
            }
            request::PrepareRenameRequest::METHOD => reply::<request::PrepareRenameRequest>(request, |at| {
                let range = workspace.renamed(&at.text_document.uri, at.position);
                Ok(range.map(lsp_types::PrepareRenameResponse::Range))
            }),
            request::Rename::METHOD => reply::<request::Rename>(request, |params| {
                let at = params.text_document_position;
                workspace.rename(&at.text_document.uri, at.position, &params.new_name).map(Some)
            }),
            request::SemanticTokensFullRequest::METHOD => {
                reply::<request::SemanticTokensFullRequest>(request, |params| {
                    Ok(Some(workspace.colours(&params.text_document.uri).into()))
                })
            }
            request::Formatting::METHOD => reply::<request::Formatting>(request, |params| {
                Ok(workspace.formatted(&params.text_document.uri))
            }),
            request::CodeActionRequest::METHOD => reply::<request::CodeActionRequest>(request, |params| {
                Ok(Some(workspace.actions(&params.text_document.uri, params.range)))
            }),
            _ => {
                let message = format!("`{method}` is not offered");
                Response::new_err(id, ErrorCode::MethodNotFound as i32, message)
            }
        }
    }
}

fn params<N: notification::Notification>(told: Notification) -> Option<N::Params>
where
    N::Params: DeserializeOwned,
{
    told.extract(N::METHOD).ok()
}

/// Reads what is asked and answers it, or says why it cannot be done.
fn reply<R: request::Request>(
    request: Request,
    answer: impl FnOnce(R::Params) -> Result<R::Result, String>,
) -> Response
where
    R::Params: DeserializeOwned,
    R::Result: Serialize,
{
    let id = request.id.clone();
    match request.extract::<R::Params>(R::METHOD) {
        Ok((id, params)) => match answer(params) {
            Ok(result) => Response::new_ok(id, result),
            Err(problem) => Response::new_err(id, ErrorCode::RequestFailed as i32, problem),
        },
        Err(ExtractError::JsonError { error, .. }) => {
            Response::new_err(id, ErrorCode::InvalidParams as i32, error.to_string())
        }
        Err(ExtractError::MethodMismatch(_)) => {
            Response::new_err(id, ErrorCode::MethodNotFound as i32, "not offered".to_owned())
        }
    }
}
