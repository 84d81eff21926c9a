// Why the rows of a query are its answer.

import type { Result } from "@stratalog/client";
import { Code } from "../parts/Code.tsx";
import { Grid } from "../parts/Grid.tsx";
import { count, counted, duration } from "../parts/text.ts";
import { questionOf } from "../program/question.ts";
import { parametersOf } from "../program/scan.ts";
import { address, go, to } from "../session/address.ts";
import type { Session, ViewProps } from "../session/session.ts";
import { Asking } from "./Asking.tsx";
import { toFact } from "./links.ts";
import { ProofView } from "./ProofView.tsx";
import { QueryForm } from "./QueryForm.tsx";
import { asWhy, factOf, type How } from "./question.ts";

const HOWS: readonly { how: How; title: string }[] = [
  { how: "", title: "the smallest proof" },
  { how: "full", title: "with all inputs of aggregates" },
  { how: "all", title: "up to five proofs" },
];

export function RowView({ session }: ViewProps) {
  const { values } = address.value;
  const { q = "", p } = values;
  const how = HOWS.find((each) => each.how === values["how"])?.how ?? "";
  const program = asWhy(q, how);
  const without = unknownOf(program, p);
  const left = questionOf(q)?.left ?? 0;
  return (
    <>
      <QueryForm key={JSON.stringify([q, p])} q={q} p={p} onAsk={(asked) => go(to("why", ["row"], asked))} />
      {q.trim() !== "" && program === undefined && (
        <p class="notice">There is no query in this program: one begins with ?, as ?path(1, X).</p>
      )}
      {program !== undefined && without.length > 0 && (
        <p class="notice">Give {without.map((name) => `$${name}`).join(", ")} a value.</p>
      )}
      {program !== undefined && without.length === 0 && (
        <>
          {left > 0 && (
            <p class="notice">
              {counted(left, "statement")} of the program {left === 1 ? "is" : "are"} left out here: to
              explain an answer changes nothing.
            </p>
          )}
          <nav class="why-how" aria-label="How much is told">
            {HOWS.map((each) => (
              <a
                key={each.how}
                href={again(values, each.how)}
                aria-current={each.how === how ? "true" : undefined}
              >
                {each.title}
              </a>
            ))}
          </nav>
          <Asking key={JSON.stringify([program, p])} session={session} program={program} p={p}>
            {(result) => <Proofs session={session} result={result} />}
          </Asking>
        </>
      )}
    </>
  );
}

function Proofs({ session, result }: { session: Session; result: Result }) {
  const { values } = address.value;
  const { q = "", p } = values;
  const proofs = result.proofTrees;
  const place = Number(values["row"] ?? 0);
  const tree = proofs[place];
  const choose = (row: number) => go(to("why", ["row"], { ...values, row: String(row) }));
  return (
    <>
      <p class="quiet">
        {counted(proofs.length, "row")}
        {result.totalCount > proofs.length && ` of ${count(result.totalCount)}`}, explained in{" "}
        {duration(result.elapsedMs)}
      </p>
      {proofs.length === 0 && <Nothing q={q} />}
      {proofs.length > 1 && (
        <div class="why-rows" style={{ height: `${Math.min(12, proofs.length + 1) * 28 + 18}px` }}>
          <Grid
            label="Rows that are explained"
            columns={result.columns}
            rowCount={proofs.length}
            cell={(row, column) => result.cell(row, column)}
            onChoose={choose}
            chosen={tree === undefined ? undefined : place}
          />
        </div>
      )}
      {proofs.length > 0 && tree === undefined && (
        <p class="notice">
          The row that was asked for is not among those that are explained: choose one of them.
        </p>
      )}
      {tree !== undefined && (
        <ProofView
          telling={{
            session,
            tree,
            columns: result.names,
            types: result.types,
            ask: (fact, how) => toFact({ program: q, p }, fact, how),
            again: (how) => again(values, how),
          }}
        />
      )}
    </>
  );
}

function Nothing({ q }: { q: string }) {
  const fact = factOf(q);
  return (
    <p>
      No rows, so nothing to explain.{" "}
      {fact !== undefined && (
        <>
          Ask{" "}
          <a href={to("why", ["not"], { fact })}>
            why <Code text={fact} /> does not hold
          </a>
          .
        </>
      )}
    </p>
  );
}

/** The parameters of a program that have no value. */
function unknownOf(program: string | undefined, p: string | undefined): string[] {
  // What is no JSON is said when it is asked.
  if (program === undefined || p !== undefined) return [];
  return parametersOf(program);
}

/** The address of the same question, asked in another way. */
function again({ how: _, ...values }: Record<string, string>, how: How): string {
  return to("why", ["row"], how === "" ? values : { ...values, how });
}

/** Some of the values of an address. */
export function kept(
  values: Readonly<Record<string, string>>,
  names: readonly string[],
): Record<string, string> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => names.includes(name)));
}
