// Changes to suppose, and of `.what_if` the query that they are supposed for.

import { useId, useState } from "preact/hooks";

interface ChangesFormProps {
  changes: string;
  /** The query; without one, everything that rules derive is looked at. */
  q?: string | undefined;
  label: string;
  onAsk: (changes: string, q: string) => void;
}

export function ChangesForm({ changes, q, label, onAsk }: ChangesFormProps) {
  const id = useId();
  const [typed, setTyped] = useState({ changes, q: q ?? "" });
  const isWhole = typed.changes.trim() !== "" && (q === undefined || typed.q.trim() !== "");
  const ask = (event: Event) => {
    event.preventDefault();
    if (isWhole) onAsk(typed.changes, typed.q);
  };
  const key = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) ask(event);
  };
  return (
    <form class="why-form" onSubmit={ask}>
      <label for={`${id}-changes`}>Changes</label>
      <textarea
        id={`${id}-changes`}
        class="program"
        rows={Math.min(12, Math.max(3, typed.changes.split("\n").length))}
        spellcheck={false}
        autocapitalize="none"
        placeholder={"-edge(1, 2)\n+edge(1, 3)"}
        aria-describedby={`${id}-about`}
        value={typed.changes}
        onInput={(event) => setTyped({ ...typed, changes: event.currentTarget.value })}
        onKeyDown={key}
      />
      <p id={`${id}-about`} class="quiet">
        Facts and rules that come (+) and go (-), one after the other. Nothing is stored: no writer waits for
        it, and nobody else sees it.
      </p>
      {q !== undefined && (
        <>
          <label for={`${id}-query`}>Query</label>
          <textarea
            id={`${id}-query`}
            class="program"
            rows={Math.min(8, Math.max(1, typed.q.split("\n").length))}
            spellcheck={false}
            autocapitalize="none"
            placeholder="?path(1, X)"
            value={typed.q}
            onInput={(event) => setTyped({ ...typed, q: event.currentTarget.value })}
            onKeyDown={key}
          />
        </>
      )}
      <p class="buttons">
        <button type="submit" class="main" disabled={!isWhole}>
          {label}
        </button>
      </p>
    </form>
  );
}
