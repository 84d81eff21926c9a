// Indexes with how far they are built; for editors, with what can be done with them.

import { seen } from "../parts/Cell.tsx";
import { Said } from "../parts/Said.tsx";
import { Sure } from "../parts/Sure.tsx";
import { count } from "../parts/text.ts";
import { useAction } from "../parts/useAction.ts";
import { to } from "../session/address.ts";
import type { Session } from "../session/session.ts";
import type { Index } from "./details.ts";
import { INDEXES } from "./indexes.ts";
import { Wide } from "./Wide.tsx";

interface IndexTableProps {
  session: Session;
  indexes: readonly Index[];
  /** Whether it is said over which relation they are. */
  hasRelation: boolean;
  /** Told when there is something new to be looked at. */
  onDone: () => void;
}

export function IndexTable({ session, indexes, hasRelation, onDone }: IndexTableProps) {
  const action = useAction();
  const isEditor = session.may("editor");
  const rebuild = async (name: string) => {
    if (await action.run(() => session.looking.execute(`.index rebuild ${name}`))) onDone();
  };
  const drop = async (name: string) => {
    await session.looking.execute(`.index drop ${name}`);
    onDone();
  };
  return (
    <>
      <Wide label="Indexes">
        <table class="relation-table">
          <thead>
            <tr>
              <th scope="col">Index</th>
              {hasRelation && <th scope="col">Relation</th>}
              <th scope="col">Column</th>
              <th scope="col">Type</th>
              <th scope="col" class="right">
                Rows
              </th>
              <th scope="col">Built</th>
              {isEditor && (
                <th scope="col">
                  <span class="unseen">What can be done</span>
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {indexes.map((index) => (
              <tr key={index.name}>
                <th scope="row">
                  <a href={to("relations", [INDEXES, index.name])}>
                    <bdi>{seen(index.name)}</bdi>
                  </a>
                </th>
                {hasRelation && (
                  <td>
                    <a href={to("relations", [index.relation])}>
                      <bdi>{seen(index.relation)}</bdi>
                    </a>
                  </td>
                )}
                <td>
                  <bdi>{seen(index.column)}</bdi>
                </td>
                <td>
                  {index.type} {index.metric !== undefined && <span class="quiet">{index.metric}</span>}
                </td>
                <td class="right">{count(index.rows)}</td>
                <td>{index.isCurrent ? "up to date" : "being built…"}</td>
                {isEditor && (
                  <td>
                    <div class="buttons">
                      <button type="button" disabled={action.isBusy} onClick={() => void rebuild(index.name)}>
                        Rebuild <span class="unseen">{index.name}</span>
                      </button>
                      <Sure
                        label="Drop"
                        class="danger"
                        what={
                          <>
                            The index <bdi>{seen(index.name)}</bdi> is dropped. No rows are; searches look at
                            all of them then, and a search that names it is refused.
                          </>
                        }
                        act={() => drop(index.name)}
                      />
                    </div>
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
      <Said action={action} />
    </>
  );
}
