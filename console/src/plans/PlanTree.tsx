// A plan from top to bottom: what is kept, what the rewrites made, and the strata in the order in which they
// are evaluated.

import { seen } from "../parts/Cell.tsx";
import { count, counted, duration } from "../parts/text.ts";
import { misestimates } from "./misestimates.ts";
import { longestStep, type Plan, stepId } from "./plan.ts";
import { StratumPart } from "./StratumPart.tsx";
import { Worst } from "./Worst.tsx";
import { olderText, rewriteText } from "./words.ts";

export function PlanTree({ plan }: { plan: Plan }) {
  const wrong = misestimates(plan);
  const factors = new Map(wrong.map(({ place, factor }) => [stepId(place), factor]));
  const longest = longestStep(plan);
  const { answer, strata } = plan;
  return (
    <div class="plan">
      {answer === undefined ? (
        <p class="quiet">This is what is expected; nothing has run.</p>
      ) : (
        <p class="plan-answer">
          {answer.rows < answer.total
            ? `${count(answer.rows)} of ${counted(answer.total, "row")}`
            : counted(answer.rows, "row")}{" "}
          in {duration(answer.time_ms)}
        </p>
      )}
      <Worst wrong={wrong} plan={plan} />
      <Before plan={plan} />
      <h2>{counted(strata.length, "stratum", "strata")}</h2>
      {strata.map((stratum, number) => (
        <StratumPart key={number} stratum={stratum} number={number} longest={longest} factors={factors} />
      ))}
      {answer !== undefined && (
        <p class="quiet">
          Rows and times of a step are those of all rounds together. Times of several threads add up, so they
          can be longer than that of their stratum.
        </p>
      )}
    </div>
  );
}

/** What is there before anything is evaluated. */
function Before({ plan: { kept, older, rewrites, place } }: { plan: Plan }) {
  const changing = rewrites.filter(({ changed }) => changed);
  const idle = rewrites.filter(({ changed }) => !changed);
  if (kept.length + older.length + rewrites.length === 0) return null;
  return (
    <>
      <h2>Before that</h2>
      <dl class="plan-before">
        {place !== undefined && (
          <div>
            <dt>where</dt>
            <dd>{place}</dd>
          </div>
        )}
        {kept.map(({ name, rows, measured_rows }) => (
          <div key={`kept ${name}`}>
            <dt>
              kept <bdi>{seen(name)}</bdi>
            </dt>
            <dd>{counted(measured_rows ?? rows ?? 0, "row")}, read as stored ones are</dd>
          </div>
        ))}
        {older.map((relation) => (
          <div key={`older ${relation.name}`}>
            <dt>
              older <bdi>{seen(relation.name)}</bdi>
            </dt>
            <dd>{olderText(relation)}</dd>
          </div>
        ))}
        {changing.map((rewrite) => (
          <div key={`rewrite ${rewrite.name}`}>
            <dt>rewrite {rewrite.name.replaceAll("_", " ")}</dt>
            <dd>
              <bdi>{seen(rewriteText(rewrite))}</bdi>
            </dd>
          </div>
        ))}
        {idle.length > 0 && (
          <div>
            <dt>{counted(idle.length, "other rewrite")}</dt>
            <dd class="quiet">
              {idle.map(({ name }) => name.replaceAll("_", " ")).join(", ")}: nothing to change
            </dd>
          </div>
        )}
      </dl>
    </>
  );
}
