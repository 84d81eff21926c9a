// A query to be explained, with the values of its parameters.

import type { Params } from "@stratalog/client";
import { useId, useState } from "preact/hooks";
import { meaningOf } from "../program/parameters.ts";
import { paramsFor, textOfParams, typedOf } from "../program/params.ts";
import { parametersOf } from "../program/scan.ts";

interface QueryFormProps {
  q: string;
  /** The JSON of its parameters. */
  p?: string | undefined;
  onAsk: (asked: { q: string; p?: string }) => void;
}

export function QueryForm({ q, p, onAsk }: QueryFormProps) {
  const id = useId();
  const [text, setText] = useState(q);
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>(() => typedAtFirst(q, p));
  const names = parametersOf(text);
  const ask = (event: Event) => {
    event.preventDefault();
    if (text.trim() === "") return;
    const params = textOfParams(
      Object.fromEntries(names.map((name) => [name, meaningOf(typed[name] ?? "")])),
    );
    onAsk({ q: text, ...(params === undefined ? {} : { p: params }) });
  };
  return (
    <form class="why-form" onSubmit={ask}>
      <label for={`${id}-query`}>Query</label>
      <textarea
        id={`${id}-query`}
        class="program"
        rows={Math.min(8, Math.max(1, text.split("\n").length))}
        spellcheck={false}
        autocapitalize="none"
        placeholder="?path(1, X)"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) ask(event);
        }}
      />
      {names.length > 0 && (
        <fieldset class="fact-fields">
          <legend>Parameters</legend>
          {names.map((name) => (
            <div key={name}>
              <label for={`${id}-${name}`}>${name}</label>
              <input
                id={`${id}-${name}`}
                spellcheck={false}
                autocomplete="off"
                autocapitalize="none"
                value={typed[name] ?? ""}
                onInput={(event) => setTyped({ ...typed, [name]: event.currentTarget.value })}
              />
            </div>
          ))}
        </fieldset>
      )}
      <p class="buttons">
        <button type="submit" class="main" disabled={text.trim() === ""}>
          Explain
        </button>
        <span class="quiet">The session's own facts and rules count.</span>
      </p>
    </form>
  );
}

/** What stands in the fields before anybody types. */
function typedAtFirst(q: string, p: string | undefined): Record<string, string> {
  let params: Params = {};
  try {
    params = paramsFor(q, p);
  } catch {
    // Whoever asks is told so.
  }
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, typedOf(value)]));
}
