// The form for credentials. It asks for the page again with them in a header, and puts it in its own place: they are in no
// address, no cookie and no storage, and no page of another site can have them sent.

import "./style.css";
import type { Credentials } from "./page.ts";

const form = byId("login-form", HTMLFormElement);
const refused = byId("refused", HTMLElement);

byId("in-clear", HTMLElement).hidden = window.isSecureContext;
form.addEventListener("change", choose);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  void enter();
});
choose();

function byId<T extends HTMLElement>(id: string, type: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`the page has no ${id}`);
  return found;
}

function typedIn(id: string): string {
  return byId(id, HTMLInputElement).value;
}

function isByKey(): boolean {
  return new FormData(form).get("how") === "authenticate";
}

function choose(): void {
  for (const part of form.querySelectorAll<HTMLElement>("[data-how]")) {
    part.hidden = (part.dataset["how"] === "authenticate") !== isByKey();
    for (const input of part.querySelectorAll("input")) input.required = !part.hidden;
  }
}

async function enter(): Promise<void> {
  const button = form.querySelector("button");
  const busy = (isBusy: boolean) => button?.toggleAttribute("disabled", isBusy);
  const credentials = isByKey()
    ? { key: typedIn("api-key").trim() }
    : { user: typedIn("user").trim(), password: typedIn("password") };
  refused.hidden = true;
  busy(true);
  try {
    await open(credentials);
  } catch (problem) {
    refused.textContent = problem instanceof Error ? problem.message : String(problem);
    refused.hidden = false;
    busy(false);
    byId(isByKey() ? "api-key" : "password", HTMLInputElement).focus();
  }
}

async function open(credentials: Credentials): Promise<void> {
  const headers = { Authorization: authorization(credentials), Accept: "application/json, text/html;q=0.1" };
  const answer = await fetch(location.href, { headers, cache: "no-store", credentials: "omit" });
  if (answer.status === 401) {
    const isKey = credentials.key !== undefined;
    throw new Error(`This ${isKey ? "key is not valid" : "user has another password, or does not exist"}.`);
  }
  if (!answer.ok) throw new Error((await answer.json()).error.message);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  document.replaceChild(document.adoptNode(page.documentElement), document.documentElement);
  const { start } = await import("./app.tsx");
  start(credentials);
}

/** A key as Bearer, user and password as Basic, which is base64 of UTF-8. */
function authorization({ key, user, password }: Credentials): string {
  if (key !== undefined) return `Bearer ${key}`;
  return `Basic ${btoa(String.fromCharCode(...new TextEncoder().encode(`${user}:${password}`)))}`;
}
