// Where a query is written that is to be watched.

import { go, to } from "../session/address.ts";
import { watch } from "./watching.ts";

export function WatchForm({ graph, query }: { graph: string; query: string }) {
  const begin = (event: SubmitEvent) => {
    event.preventDefault();
    const text = String(new FormData(event.currentTarget as HTMLFormElement).get("query")).trim();
    if (text !== "") go(to("live", [watch(graph, text)]));
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    (event.currentTarget as HTMLTextAreaElement).form?.requestSubmit();
  };
  return (
    <form class="watch-form" onSubmit={begin}>
      <label for="watch-query">Query to watch</label>
      <textarea
        id="watch-query"
        name="query"
        class="program"
        rows={3}
        required
        spellcheck={false}
        autocapitalize="none"
        placeholder="?relation(X, Y)"
        aria-describedby="watch-keys"
        defaultValue={query}
        onKeyDown={onKey}
      />
      <p class="buttons">
        <button type="submit" class="main">
          Watch
        </button>
        <span id="watch-keys" class="quiet">
          or <kbd>Ctrl</kbd> <kbd>Enter</kbd>
        </span>
      </p>
    </form>
  );
}
