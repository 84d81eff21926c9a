// Live queries, each as a table that is kept current.

import { Failure } from "../src/parts/Failure.tsx";
import type { LiveQueries, LiveQuery } from "./live.ts";
import { Cells, Table } from "./Table.tsx";

interface LiveViewProps {
  queries: LiveQueries;
  /** Asks the server to end a subscription. */
  onUnsubscribe: (subscription: number) => void;
}

export function LiveView({ queries, onUnsubscribe }: LiveViewProps) {
  const list = queries.list.value;
  return (
    <section class="panel" id="live-panel" aria-labelledby="live-title" hidden={list.length === 0}>
      <h2 id="live-title">Live queries</h2>
      {list.map((query) => (
        <Subscription
          key={query.number}
          query={query}
          onUnsubscribe={() => onUnsubscribe(query.subscription)}
          onRemove={() => queries.remove(query)}
        />
      ))}
    </section>
  );
}

interface SubscriptionProps {
  query: LiveQuery;
  onUnsubscribe: () => void;
  onRemove: () => void;
}

function Subscription({ query, onUnsubscribe, onRemove }: SubscriptionProps) {
  const { subscription, columns, params } = query;
  const ending = query.ending.value;
  const lines = query.lines.value;
  return (
    <article class={ending === undefined ? "" : "over"} data-subscription={subscription}>
      <div class="title">
        <h3>
          {subscription}: <code>{query.query}</code>
          {params !== undefined && (
            <>
              {" with "}
              <code>{params}</code>
            </>
          )}
        </h3>
        {ending === undefined ? (
          <button type="button" onClick={onUnsubscribe}>
            Unsubscribe
          </button>
        ) : (
          <button type="button" onClick={onRemove}>
            Remove
          </button>
        )}
      </div>
      {ending !== undefined && <p class={ending.looks}>{ending.words}</p>}
      {ending?.problem !== undefined && <Failure problem={ending.problem} />}
      {query.problem.value !== undefined && <Failure problem={query.problem.value} />}
      <p class="quiet" role="status">
        {query.words.value}
      </p>
      {lines !== undefined && (
        <Table label={`Subscription ${subscription}`} columns={columns}>
          {lines.map(({ key, row, looks }) => (
            <tr key={key} class={looks}>
              <Cells row={row} />
            </tr>
          ))}
        </Table>
      )}
    </article>
  );
}
