//! What agents can read: the schema, the rules, and the language in a page; and prompts that hand it to them.

use super::Agent;
use crate::names;
use rmcp::model::{
    ErrorData, GetPromptRequestParams, GetPromptResponse, GetPromptResult, Implementation, ListPromptsResult,
    ListResourcesResult, PaginatedRequestParams, Prompt, PromptArgument, PromptMessage,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource, ResourceContents, Role,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ServerHandler, tool_handler};
use stratalog_client::ClientError;
use stratalog_language::primer;

/// Address, title, what it is.
const RESOURCES: [(&str, &str, &str); 3] = [
    ("stratalog://schema", "Schema", "The relations that the graph stores, as declarations."),
    ("stratalog://rules", "Rules", "The rules of the graph."),
    (
        "stratalog://language",
        "Language",
        "The language in a page, with all functions, aggregates and commands.",
    ),
];

/// The prompt that teaches the language.
const LANGUAGE: &str = "language";
/// The prompt that asks for an answer from the graph.
const ANSWER: &str = "answer";

const INSTRUCTIONS: &str = "A Datalog knowledge graph. List the relations first, then ask with `query`: a query reads \
`?relation(X, \"constant\"), X > 3`, variables begin with an upper-case letter, text stands in double quotes. The resource \
stratalog://language has the language in a page. `why` proves an answer; say how you know.";

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Agent {
    fn get_info(&self) -> ServerConfig {
        let capabilities =
            ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts().build();
        let mut info = ServerConfig::new(capabilities);
        info.server_info = Implementation::new("stratalog", env!("CARGO_PKG_VERSION"));
        info.instructions = Some(INSTRUCTIONS.to_owned());
        info
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let resources = RESOURCES.map(|(address, title, about)| {
            Resource::new(address, title).with_description(about).with_mime_type("text/plain")
        });
        Ok(ListResourcesResult::with_all_items(resources.to_vec()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let read = match request.uri.as_str() {
            "stratalog://schema" => self.schema().await,
            "stratalog://rules" => self.rules().await,
            "stratalog://language" => Ok(primer()),
            other => return Err(ErrorData::resource_not_found(format!("there is no {other}"), None)),
        };
        let text = read.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        Ok(ReadResourceResult::new(vec![ResourceContents::text(text, request.uri)]).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let question =
            PromptArgument::new("question").with_description("What is to be found out").with_required(true);
        Ok(ListPromptsResult::with_all_items(vec![
            Prompt::new(LANGUAGE, Some("How programs are written"), None),
            Prompt::new(ANSWER, Some("Answers a question from the graph, with proof"), Some(vec![question])),
        ]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let text = match request.name.as_str() {
            LANGUAGE => primer(),
            ANSWER => {
                let arguments = request.arguments.unwrap_or_default();
                let question = arguments.get("question").and_then(|question| question.as_str());
                let question =
                    question.ok_or_else(|| ErrorData::invalid_params("`question` is missing", None))?;
                let schema = self.schema().await;
                let schema = schema.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
                format!(
                    "Answer from the knowledge graph: {question}\n\nIts relations:\n\n{schema}\nUse the tool `query`, \
                     check what you write with `check` where you are not sure, and show with `why` what the answer rests on.\n\n{}",
                    primer()
                )
            }
            other => return Err(ErrorData::invalid_params(format!("there is no prompt `{other}`"), None)),
        };
        Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).into())
    }
}

impl Agent {
    async fn schema(&self) -> Result<String, ClientError> {
        names::declarations(&self.client).await
    }

    async fn rules(&self) -> Result<String, ClientError> {
        names::rules(&self.client).await
    }
}
