// Live queries: answers as they change. What is watched stands at the side, one of it is shown.

import { useEffect } from "preact/hooks";
import { address, rename, to } from "../session/address.ts";
import { Elsewhere } from "./Elsewhere.tsx";
import { WatchedList } from "./WatchedList.tsx";
import { WatchedQuery } from "./WatchedQuery.tsx";
import { WatchForm } from "./WatchForm.tsx";
import { watch, watches } from "./watching.ts";
import "./live.css";
import type { ViewProps } from "../session/session.ts";

export function LiveView({ session }: ViewProps) {
  const { graph, parts, values } = address.value;
  const using = session.graph.value;
  const query = values["q"]?.trim() ?? "";
  const [id] = parts;
  const chosen = id === undefined ? undefined : watches.value.get(id);

  // An address with a query begins to watch it, once the page is on its graph.
  useEffect(() => {
    if (query !== "" && graph === using) rename(to("live", [watch(using, query)]));
  }, [query, graph, using]);

  return (
    <>
      <h1 class="unseen">Live queries</h1>
      <div class="watching">
        <div class="watching-side">
          <WatchForm key={chosen?.id ?? ""} graph={using} query={chosen?.query ?? ""} />
          <WatchedList chosen={id} />
          <p class="quiet">
            What is watched here is watched on <bdi>{using}</bdi>: on another graph it ends, and here it
            begins again. This browser keeps the queries, and no answers.
          </p>
          <Elsewhere graph={using} />
        </div>
        {chosen !== undefined ? (
          <WatchedQuery key={chosen.id} watch={chosen} />
        ) : id !== undefined && query === "" ? (
          <p class="quiet">
            Nothing is watched under this address any more. <a href={to("live")}>What is watched</a>
          </p>
        ) : (
          <p class="quiet">
            {watches.value.size === 0
              ? "Rows come and go here as they come and go on the server."
              : "Choose a query to see its rows."}
          </p>
        )}
      </div>
    </>
  );
}
