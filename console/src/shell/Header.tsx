// Which graph, how the connection is, and who is there.

import { useState } from "preact/hooks";
import { Failure } from "../parts/Failure.tsx";
import { Window } from "../parts/Window.tsx";
import { address, go, writeAddress } from "../session/address.ts";
import { forget, type Session } from "../session/session.ts";

const STATES = {
  connecting: "connecting",
  open: "connected",
  lost: "connection lost, trying again",
  closed: "closed",
} as const;

export function Header({ session }: { session: Session }) {
  const graph = session.graph.value;
  const graphs = session.graphs.value;
  const state = session.state.value;
  const [isNew, setNew] = useState(false);
  const choose = (event: Event) => {
    const select = event.currentTarget as HTMLSelectElement;
    if (select.value === "") {
      select.value = graph;
      setNew(true);
    } else {
      go(writeAddress({ graph: select.value, view: address.value.view, parts: [], values: {} }));
    }
  };
  // In a list that is closed, a browser would go to one graph after the other, and drop what the session has.
  const open = (event: KeyboardEvent) => {
    const select = event.currentTarget as HTMLSelectElement;
    if (!/^Arrow(Up|Down)$/.test(event.key) || !("showPicker" in select)) return;
    event.preventDefault();
    select.showPicker();
  };
  const leave = () => {
    forget();
    session.close();
  };
  return (
    <header class="top">
      <span class="mark">Stratalog</span>
      <label class="graph">
        <span class="unseen">Knowledge graph</span>
        <select value={graph} onChange={choose} onKeyDown={open}>
          {(graphs.includes(graph) ? graphs : [graph, ...graphs]).map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
          {session.mayCreate && <option value="">New graph…</option>}
        </select>
      </label>
      <span class="state" data-state={state} role="status">
        {STATES[state]}
      </span>
      <span class="who">
        {session.user ?? "API key"}{" "}
        <small class="quiet">
          {session.scope === undefined ? session.role : `${session.role}, ${session.scope}`}
        </small>
      </span>
      <button type="button" onClick={leave}>
        Log out
      </button>
      {isNew && <NewGraph session={session} onClose={() => setNew(false)} />}
    </header>
  );
}

function NewGraph({ session, onClose }: { session: Session; onClose: () => void }) {
  const [problem, setProblem] = useState<unknown>();
  const create = async (event: SubmitEvent) => {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget as HTMLFormElement).get("name"));
    try {
      if (!/^\S+$/.test(name)) throw new TypeError("a name has no blanks");
      // The session that looks goes along first: the address then leads the other one.
      await session.looking.execute(`.kg create ${name}`);
      onClose();
      go(writeAddress({ graph: name, view: "ask", parts: [], values: {} }));
    } catch (failure) {
      setProblem(failure);
    }
  };
  return (
    <Window title="New graph" onClose={onClose}>
      <form onSubmit={(event) => void create(event)}>
        <label for="new-graph">Name</label>
        <input id="new-graph" name="name" required autocomplete="off" spellcheck={false} />
        {problem !== undefined && <Failure problem={problem} />}
        <p class="buttons">
          <button type="submit" class="main">
            Create
          </button>
        </p>
      </form>
    </Window>
  );
}
