//! The tools: what each takes, and what it does.

use super::Agent;
use super::answers::{refused, table, told};
use crate::commands::reading::only_asks;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::CallToolResult;
use rmcp::schemars::JsonSchema;
use rmcp::{tool, tool_router};
use serde::Deserialize;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use stratalog_client::{ClientError, Code, ExecuteOptions, Failure, Value};
use stratalog_engine::Limits;
use stratalog_engine::syntax::ast::{Scope, Statement, StatementKind};
use stratalog_engine::syntax::parse;

/// A relation is shown by so many of its rows.
const SAMPLE: u64 = 5;

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct Named {
    /// The name of a relation.
    relation: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct Text {
    /// A program.
    program: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct Asked {
    /// A program whose last statement is a query, such as `?edge(X, Y), X > 3`. Rules without `+` above it count for it alone.
    program: String,
    /// A value for each `$name` in the program.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, Json>")]
    params: BTreeMap<String, Value>,
    /// At most so many rows.
    limit: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct Question {
    /// A query, such as `?controls("ada", X)`.
    query: String,
    /// At most so many rows are explained; 5 if nothing is said.
    limit: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct Missing {
    /// A fact that is no answer, such as `controls("lab", "ada")`.
    fact: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct Supposed {
    /// Facts that come and go, one a line: `+edge(1, 2)`, `-edge(2, 3)`.
    changes: String,
    /// The query whose answer is compared.
    query: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct Facts {
    /// The relation, which is made if there is none.
    relation: String,
    /// The rows, each a list with a value for each column.
    #[schemars(with = "Vec<Vec<Json>>")]
    rows: Vec<Vec<Value>>,
}

#[tool_router(router = reading, vis = "pub(super)")]
impl Agent {
    /// Lists the relations of the graph with their columns, how many rows each has, and whether rules derive it.
    #[tool(annotations(read_only_hint = true))]
    async fn list_relations(&self) -> CallToolResult {
        let listed = async {
            let relations = self.client.relations().all().await?;
            let shown = relations.into_iter().map(|relation| {
                json!({
                    "name": relation.name,
                    "columns": relation.columns,
                    "rows": relation.tuples,
                    "kind": relation.kind,
                })
            });
            Ok(json!({"relations": shown.collect::<Vec<_>>()}))
        };
        told(listed.await, "")
    }

    /// Tells the columns of a relation, its rules, and a few of its rows.
    #[tool(annotations(read_only_hint = true))]
    async fn describe_relation(&self, Parameters(Named { relation }): Parameters<Named>) -> CallToolResult {
        let described = async {
            let client = &self.client;
            let all = client.relations().all().await?;
            let Some(known) = all.iter().find(|known| known.name == relation) else {
                let names: Vec<&str> = all.iter().map(|known| known.name.as_str()).collect();
                let failure =
                    Failure::new(Code::UnknownRelation, format!("no relation is called `{relation}`"));
                let help = format!("there are: {}", names.join(", "));
                return Err(ClientError::Refused(Box::new(failure.help(help))));
            };
            let rules = match known.kind.as_str() {
                "derived" => client.rules().clauses(&relation).await?,
                _ => Vec::new(),
            };
            let variables: Vec<String> = (0..known.arity).map(|column| format!("C{column}")).collect();
            let sample = format!("?{relation}({}), limit({SAMPLE})", variables.join(", "));
            let sample = client.execute(&sample, self.options(Some(SAMPLE))).await?;
            Ok(json!({
                "name": known.name,
                "columns": known.columns,
                "rows": known.tuples,
                "rules": rules,
                "sample": sample.rows,
            }))
        };
        told(described.await, "")
    }

    /// Tells what is wrong with a program, as far as that can be said without running it: errors and warnings with their places,
    /// and what to write instead.
    #[tool(annotations(read_only_hint = true))]
    async fn check(&self, Parameters(Text { program }): Parameters<Text>) -> CallToolResult {
        let checked = async {
            let found = self.client.check(&program).await?;
            Ok(json!({"findings": found}))
        };
        told(checked.await, &program)
    }

    /// Runs a program that asks something and changes nothing, and gives the rows of its query.
    #[tool(annotations(read_only_hint = true))]
    async fn query(&self, Parameters(asked): Parameters<Asked>) -> CallToolResult {
        let mut options = self.options(asked.limit);
        options.params = asked.params;
        self.ask(&asked.program, options).await
    }

    /// Explains why rows are answers of a query: the facts and rules that each follows from.
    #[tool(annotations(read_only_hint = true))]
    async fn why(&self, Parameters(Question { query, limit }): Parameters<Question>) -> CallToolResult {
        self.command(&format!(".why {query}"), self.options(limit.or(Some(SAMPLE)))).await
    }

    /// Explains why a fact is no answer: which conditions of which rules fail, and which facts would make it one.
    #[tool(annotations(read_only_hint = true))]
    async fn why_not(&self, Parameters(Missing { fact }): Parameters<Missing>) -> CallToolResult {
        self.command(&format!(".why_not {fact}"), self.options(None)).await
    }

    /// Tells which rows a query would gain and lose if facts came and went. Changes nothing.
    #[tool(annotations(read_only_hint = true))]
    async fn what_if(&self, Parameters(Supposed { changes, query }): Parameters<Supposed>) -> CallToolResult {
        let changes: Vec<&str> = changes.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        self.command(&format!(".what_if {} {query}", changes.join(" ")), self.options(None)).await
    }
}

#[tool_router(router = writing, vis = "pub(super)")]
impl Agent {
    /// Stores facts, all of them or none. Those that are there already count as duplicates.
    #[tool(annotations(read_only_hint = false, destructive_hint = false, idempotent_hint = true))]
    async fn insert(&self, Parameters(Facts { relation, rows }): Parameters<Facts>) -> CallToolResult {
        let inserted = async {
            let inserted = self.client.insert_rows(&relation, rows).await?;
            Ok(json!({
                "inserted": inserted.inserted,
                "duplicates": inserted.duplicates,
                "warnings": inserted.warnings,
            }))
        };
        told(inserted.await, "")
    }

    /// Runs any program, as one transaction: declarations, rules and facts that are stored or deleted, and at its end perhaps a query.
    #[tool(annotations(read_only_hint = false, destructive_hint = true))]
    async fn execute(&self, Parameters(Text { program }): Parameters<Text>) -> CallToolResult {
        let options = self.options(None).atomic();
        let (statements, _) = parse(&program, &Limits::default());
        if statements.iter().any(attaches) {
            let failure = Failure::new(Code::AccessDenied, "agents attach no files");
            let failure = failure.help("whoever the data belongs to attaches them, without an agent");
            return refused(&ClientError::Refused(Box::new(failure)), &program);
        }
        let asks = statements.iter().any(|statement| matches!(statement.kind, StatementKind::Query(_)));
        if !asks && statements.iter().any(is_of_the_session) {
            let message = "facts and rules without `+` are of one session, which all agents share";
            let failure = Failure::new(Code::InvalidParameter, message);
            let failure =
                failure.help("write `+` before what is to stay, or ask something below what is not");
            return refused(&ClientError::Refused(Box::new(failure)), &program);
        }
        self.told_of(&program, options).await
    }
}

/// Whether it makes a relation of files. In a folder that is open here, an agent would read whatever may be read by whoever started it.
fn attaches(statement: &Statement) -> bool {
    let StatementKind::Command(command) = &statement.kind else { return false };
    let words: Vec<String> = command.words.iter().map(|word| word.text.to_lowercase()).take(2).collect();
    matches!(words.as_slice(), [family, action] if family.starts_with("rel") && action == "attach")
}

/// Whether it would be there for later programs of this session, and for nobody else.
fn is_of_the_session(statement: &Statement) -> bool {
    match &statement.kind {
        StatementKind::Insert(insert) => insert.scope == Scope::Session,
        StatementKind::Rule(rule) => rule.scope == Scope::Session,
        StatementKind::Declare(declare) => declare.scope == Scope::Session,
        _ => false,
    }
}

impl Agent {
    /// What bounds every program.
    fn options(&self, limit: Option<u64>) -> ExecuteOptions {
        let rows = limit.unwrap_or(self.terms.rows).min(self.terms.rows);
        ExecuteOptions::default().limit(rows).timeout(self.terms.timeout)
    }

    /// Runs a program, if it changes nothing.
    async fn ask(&self, program: &str, options: ExecuteOptions) -> CallToolResult {
        let help = match self.terms.write {
            true => "use the tool `execute`",
            false => "start `stratalog mcp` with --write to allow that",
        };
        if let Err(error) = only_asks(program, "this program runs a command, or changes something", help) {
            return refused(&error, program);
        }
        self.told_of(program, options).await
    }

    /// Runs a command that changes nothing, unless more than that stands in what it is given.
    async fn command(&self, program: &str, options: ExecuteOptions) -> CallToolResult {
        let (statements, errors) = parse(program, &Limits::default());
        let is_one = statements.len() + errors.len() == 1;
        if !is_one {
            let failure = Failure::new(Code::InvalidParameter, "this is more than one statement");
            return refused(
                &ClientError::Refused(Box::new(failure.help("give one query, and nothing else"))),
                program,
            );
        }
        self.told_of(program, options).await
    }

    async fn told_of(&self, program: &str, options: ExecuteOptions) -> CallToolResult {
        match self.client.execute(program, options).await {
            Ok(answer) => table(&answer),
            Err(error) => refused(&error, program),
        }
    }
}
