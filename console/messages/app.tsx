// Brings the page to life, from the document that the server has put into it.

import { render } from "preact";
import { Protocol } from "./asyncapi.ts";
import { PageView } from "./PageView.tsx";
import { type Credentials, Page } from "./page.ts";
import { parseWritten } from "./written.ts";

let page: Page | undefined;

/** With the credentials that it was opened with, if these are known: then it logs in with them. */
export function start(credentials: Credentials = {}): void {
  const place = document.getElementById("app");
  if (page !== undefined || place === null) return;
  const asyncapi = parseWritten(document.getElementById("asyncapi")?.textContent ?? "");
  page = new Page(new Protocol(asyncapi), credentials);
  render(<PageView page={page} />, place);
}
