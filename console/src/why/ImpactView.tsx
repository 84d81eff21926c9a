// What of all that rules derive would come and go with some changes.

import type { Result, Value } from "@stratalog/client";
import { seen } from "../parts/Cell.tsx";
import { Code } from "../parts/Code.tsx";
import { count, counted, duration } from "../parts/text.ts";
import { goalOf } from "../program/goal.ts";
import { address, go, to } from "../session/address.ts";
import type { ViewProps } from "../session/session.ts";
import { Asking } from "./Asking.tsx";
import { ChangesForm } from "./ChangesForm.tsx";
import { toFact, toIf } from "./links.ts";
import { impact } from "./suppose.ts";

export function ImpactView({ session }: ViewProps) {
  const { values } = address.value;
  const { changes = "" } = values;
  const program = impact(changes);
  return (
    <>
      <ChangesForm
        key={changes}
        changes={changes}
        label="Show the impact"
        onAsk={(supposed) => go(to("why", ["impact"], { ...values, changes: supposed }))}
      />
      {program !== undefined && (
        <Asking key={program} session={session} program={program} p={values["p"]}>
          {(result) => <Relations result={result} changes={changes} />}
        </Asking>
      )}
    </>
  );
}

interface RelationsProps {
  result: Result;
  changes: string;
}

function Relations({ result, changes }: RelationsProps) {
  const rows = result.objects();
  return (
    <>
      <p class="quiet">
        {counted(rows.length, "derived relation")} would change, found in {duration(result.elapsedMs)}.
        Nothing is stored.
      </p>
      {rows.length === 0 && <p>Nothing that rules derive would come or go.</p>}
      {rows.map((row) => (
        <Impact
          key={String(row["relation"])}
          relation={String(row["relation"])}
          removed={{ whole: Number(row["removed"]), first: textsOf(row["first_removed"]) }}
          added={{ whole: Number(row["added"]), first: textsOf(row["first_added"]) }}
          changes={changes}
        />
      ))}
    </>
  );
}

/** How many rows would go, or come, and the first of them. */
interface Moved {
  readonly whole: number;
  readonly first: readonly string[];
}

interface ImpactProps {
  relation: string;
  removed: Moved;
  added: Moved;
  changes: string;
}

function Impact({ relation, removed, added, changes }: ImpactProps) {
  // Of what rules alone derive, nobody has said how many columns it has: a row has as many.
  const [row] = [...removed.first, ...added.first];
  const any = (goalOf(`?${row}`)?.terms ?? []).map((_, column) => `X${column + 1}`).join(", ");
  return (
    <section class="panel impact">
      <h2>
        <a href={to("relations", [relation])}>
          <bdi>{seen(relation)}</bdi>
        </a>{" "}
        {removed.whole > 0 && <span class="bad">−{count(removed.whole)} </span>}
        {added.whole > 0 && <span class="good">+{count(added.whole)}</span>}
      </h2>
      {any !== "" && <a href={toIf(changes, `?${relation}(${any})`)}>all of these rows</a>}
      <First title="would go" sign="−" moved={removed} />
      <First title="would come" sign="+" moved={added} />
    </section>
  );
}

function First({ title, sign, moved: { whole, first } }: { title: string; sign: string; moved: Moved }) {
  if (whole === 0) return null;
  return (
    <>
      <h3>
        {count(whole)} {title}
        {first.length < whole && (
          <small class="quiet"> {`${count(first.length)} of ${count(whole)} are shown`}</small>
        )}
      </h3>
      <ul>
        {first.map((fact) => (
          <li key={fact}>
            <span aria-hidden="true">{sign} </span>
            {sign === "+" ? (
              <Code text={seen(fact)} />
            ) : (
              <a href={toFact({ program: "" }, fact)} title="Why it holds now">
                <Code text={seen(fact)} />
              </a>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

function textsOf(value: Value | undefined): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
