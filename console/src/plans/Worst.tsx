// The steps about which a plan was most wrong, each a way to the step itself.

import { seen } from "../parts/Cell.tsx";
import { count } from "../parts/text.ts";
import { factorText, type Misestimate } from "./misestimates.ts";
import { type Plan, type StepPlace, stepId } from "./plan.ts";

/** So many are told. */
const MOST = 5;

export function Worst({ wrong, plan }: { wrong: readonly Misestimate[]; plan: Plan }) {
  if (plan.answer === undefined) return null;
  if (wrong.length === 0) {
    return <p class="quiet">No step was far from what was expected.</p>;
  }
  const shown = wrong.slice(0, MOST);
  return (
    <section class="plan-worst">
      <h2>Farthest from what was expected</h2>
      {shown.length < wrong.length && (
        <p class="quiet">
          {shown.length} of {count(wrong.length)}
        </p>
      )}
      <ol>
        {shown.map(({ place, factor, expected, measured }) => {
          const step = plan.strata[place.stratum]?.rules[place.rule]?.steps[place.step];
          return (
            <li key={stepId(place)}>
              <strong>{factorText(factor)}</strong> rows by{" "}
              <button type="button" class="link" onClick={() => show(place)}>
                {step?.operator} <bdi>{seen(step?.detail ?? "")}</bdi>
              </button>{" "}
              <span class="quiet">
                in stratum {place.stratum + 1}: {count(measured)}, expected {count(expected)}
              </span>
            </li>
          );
        })}
      </ol>
      <p class="quiet">
        Rows that a step was given too many of do not count, nor do heads. In a recursion, a step is compared
        with the new rows that it was given.
      </p>
    </section>
  );
}

/** Goes to a step, in a rule that may be folded. */
function show(place: StepPlace): void {
  const row = document.getElementById(stepId(place));
  const folded = row?.closest("details");
  if (folded) folded.open = true;
  row?.scrollIntoView({ block: "center" });
  row?.focus({ preventScroll: true });
}
