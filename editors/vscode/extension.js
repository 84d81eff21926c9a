// Starts `stratalog lsp` for the programs that are open, and ends it with the editor.

const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function activate() {
  const settings = workspace.getConfiguration("stratalog");
  const database = settings.get("database");
  const args = ["lsp"];
  if (database) {
    args.push(database.includes("://") ? "--url" : "--open", database);
  }
  const server = { command: settings.get("command"), args };
  const documents = { documentSelector: [{ language: "stratalog" }] };
  client = new LanguageClient("stratalog", "Stratalog", server, documents);
  return client.start();
}

function deactivate() {
  return client?.stop();
}

module.exports = { activate, deactivate };
