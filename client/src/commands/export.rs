//! `stratalog export`: a relation or an answer into a file.

use super::reading::only_asks;
use stratalog_client::{Client, ClientError, Code};

/// The program that answers what is to be exported: a query is that already; the name of a relation becomes a query for
/// all its columns.
pub(crate) async fn program(client: &Client, what: &str) -> Result<String, ClientError> {
    if !is_name(what) {
        only_asks(
            what,
            "what is exported is the answer to a query, and this may change something, or asks nothing",
            "name a relation, or ask: `?edge(X, Y)`",
        )?;
        return Ok(what.to_owned());
    }
    Ok(match client.columns(what).await? {
        Some(columns) => {
            // Columns are headed by the names of a declaration, or else by the variables.
            let names: Vec<String> = columns.into_iter().map(|column| column.name).collect();
            let mut own = "V".to_owned();
            while names.iter().any(|name| name.starts_with(&own)) {
                own.push('_'); // one variable for two columns would ask for rows where they are equal
            }
            let variable = |(at, name): (usize, &String)| match name.starts_with(char::is_uppercase) {
                true => name.clone(),
                false => format!("{own}{}", at + 1),
            };
            let variables: Vec<String> = names.iter().enumerate().map(variable).collect();
            format!("?{what}({})", variables.join(", "))
        }
        None => match client.rules().clauses(what).await {
            Ok(_) => format!(".rule {what}"),
            Err(error) if matches!(error.code(), Some(Code::NotFound | Code::UnknownRelation)) => {
                format!("?{what}(_)") // the server says what there is
            }
            Err(error) => return Err(error),
        },
    })
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}
