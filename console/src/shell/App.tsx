// The page: the door for whoever is not logged in, and else the header, the views to choose from and the view that is chosen.

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { cancel } from "../ask/asked.ts";
import { Failure } from "../parts/Failure.tsx";
import { address, rename, writeAddress } from "../session/address.ts";
import { type Session, session, type ViewProps } from "../session/session.ts";
import { Door } from "./Door.tsx";
import { Header } from "./Header.tsx";
import { Navigation } from "./Navigation.tsx";
import { VIEWS } from "./views.ts";

export function App() {
  const open = session.value;
  return open === undefined ? <Door /> : <Inside session={open} />;
}

function Inside({ session }: { session: Session }) {
  const { graph, view } = address.value;
  const using = session.graph.value;
  const goal = session.goal.value;
  const [problem, setProblem] = useState<unknown>();

  // The graph in the address is the one in use; whoever goes back goes back to the graph, too.
  useEffect(() => {
    setProblem(undefined);
    if (graph === undefined) rename(writeAddress({ ...address.peek(), graph: using }));
    else if (graph !== (session.goal.peek() ?? using)) session.use(graph).catch(setProblem);
  }, [session, graph]);

  const chosen = VIEWS.find(({ name }) => name === view);
  useEffect(() => {
    document.title = chosen === undefined ? "Stratalog" : `${chosen.title} · ${using} · Stratalog`;
  }, [chosen, using]);

  return (
    <div class="page">
      <button type="button" class="skip" onClick={toMain}>
        To the content
      </button>
      <Header session={session} />
      <Navigation session={session} current={view} />
      <main id="main" tabIndex={-1} class={`view view-${view}`}>
        {graph !== undefined && (graph !== using || goal !== undefined) ? (
          // What an address asks for is asked on the graph that it names.
          problem === undefined ? (
            <Waiting session={session} />
          ) : (
            <>
              <h1 class="unseen">{graph}</h1>
              <Failure problem={problem} />
            </>
          )
        ) : chosen === undefined ? (
          <h1>There is no view called {view}</h1>
        ) : (
          <Chosen key={`${using} ${view}`} load={chosen.load} session={session} />
        )}
      </main>
    </div>
  );
}

/** Sessions go over to another graph behind the program that they run. */
function Waiting({ session }: { session: Session }) {
  if (!session.isBusy.value) return <p class="waiting quiet">…</p>;
  return (
    <p class="waiting" role="status">
      A program still runs.{" "}
      <button type="button" class="danger" onClick={cancel}>
        Cancel
      </button>
    </p>
  );
}

/** The fragment says which view there is, so it cannot say where in the page one is: this is no link. */
function toMain(): void {
  document.getElementById("main")?.focus();
}

function Chosen({ load, session }: { load: () => Promise<ComponentType<ViewProps>>; session: Session }) {
  const [view, setView] = useState<{ View: ComponentType<ViewProps> } | undefined>();
  const [problem, setProblem] = useState<unknown>();
  useEffect(() => {
    load().then((View) => setView({ View }), setProblem);
  }, [load]);
  if (problem !== undefined) return <Failure problem={problem} />;
  if (view === undefined) return <p class="waiting quiet">…</p>;
  return <view.View session={session} />;
}
