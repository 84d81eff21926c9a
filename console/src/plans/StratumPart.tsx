// A stratum of a plan: what it derives, how, and the steps of its rules.

import { seen } from "../parts/Cell.tsx";
import { Code } from "../parts/Code.tsx";
import { counted, duration } from "../parts/text.ts";
import type { PlanRelation, Stratum } from "./plan.ts";
import { StepTable } from "./StepTable.tsx";
import { strategyText } from "./words.ts";

interface StratumPartProps {
  stratum: Stratum;
  /** From 0. */
  number: number;
  /** The longest time of any step. */
  longest: number;
  /** Of misestimated steps, by how much. */
  factors: ReadonlyMap<string, number>;
}

export function StratumPart({ stratum, number, longest, factors }: StratumPartProps) {
  const { relations, recursive, is_alternative, rules, rounds, time_ms } = stratum;
  const strategy = strategyText(stratum);
  return (
    <details class="plan-stratum" open>
      <summary>
        <h3>
          {number + 1}.{" "}
          {relations.map((relation, place) => (
            <span key={relation.name}>
              {place > 0 && ", "}
              <bdi class="value">{seen(relation.name)}</bdi> <small class="quiet">{rowsText(relation)}</small>
            </span>
          ))}
        </h3>
        <span class="plan-marks">
          {is_alternative && <span class="tag">or the one before it</span>}
          {recursive && <span class="tag">recursive</span>}
          {strategy !== undefined && <span class="tag">{strategy}</span>}
          {recursive && rounds !== undefined && <span class="tag">{counted(rounds, "round")}</span>}
          {time_ms !== undefined && <span class="plan-time">{duration(time_ms)}</span>}
        </span>
      </summary>
      {rules.map(({ rule, delta, steps }, place) => (
        <section key={place} class="plan-rule">
          <p>
            <Code text={rule} />{" "}
            {delta !== null && (
              <span class="tag">
                new rows of <bdi>{seen(delta)}</bdi>
              </span>
            )}
          </p>
          <StepTable
            label={`Steps of rule ${place + 1} of stratum ${number + 1}`}
            steps={steps}
            stratum={number}
            rule={place}
            longest={longest}
            factors={factors}
          />
        </section>
      ))}
    </details>
  );
}

function rowsText({ rows, measured_rows }: PlanRelation): string {
  return measured_rows === undefined
    ? `${counted(rows ?? 0, "row")} expected`
    : counted(measured_rows, "row");
}
