// The steps of a rule in their order: what leaves one enters the next.

import { Wide } from "../graph/Wide.tsx";
import { seen } from "../parts/Cell.tsx";
import { count, duration } from "../parts/text.ts";
import { factorText } from "./misestimates.ts";
import { type Step, stepId } from "./plan.ts";

interface StepTableProps {
  label: string;
  steps: readonly Step[];
  /** Where they are, from 0. */
  stratum: number;
  rule: number;
  /** The longest time of any step of the plan. */
  longest: number;
  factors: ReadonlyMap<string, number>;
}

export function StepTable({ label, steps, stratum, rule, longest, factors }: StepTableProps) {
  const isMeasured = steps.some(({ measured_rows }) => measured_rows !== undefined);
  return (
    <Wide label={label}>
      <table class="plan-steps" aria-label={label}>
        <thead>
          <tr>
            <th scope="col">Step</th>
            <th scope="col">What it reads or computes</th>
            <th scope="col" class="right">
              Expected rows
            </th>
            {isMeasured && (
              <>
                <th scope="col" class="right">
                  Rows
                </th>
                <th scope="col">Time</th>
              </>
            )}
          </tr>
        </thead>
        <tbody>
          {steps.map((step, number) => {
            const id = stepId({ stratum, rule, step: number });
            const factor = factors.get(id);
            return (
              <tr key={id} id={id} tabIndex={-1} class={factor === undefined ? "" : "misestimated"}>
                <th scope="row">{step.operator}</th>
                <td>
                  <bdi class="value">{seen(step.detail)}</bdi>
                </td>
                <td class="right">
                  {count(step.rows)} {step.estimated && <small class="quiet">estimated</small>}
                </td>
                {isMeasured && <Measured step={step} longest={longest} factor={factor} />}
              </tr>
            );
          })}
        </tbody>
      </table>
    </Wide>
  );
}

interface MeasuredProps {
  step: Step;
  longest: number;
  factor: number | undefined;
}

function Measured({ step: { measured_rows, time_ms = 0 }, longest, factor }: MeasuredProps) {
  if (measured_rows === undefined) {
    return (
      <td colSpan={2} class="quiet">
        did not run by itself
      </td>
    );
  }
  const part = longest === 0 ? 0 : (time_ms / longest) * 100;
  return (
    <>
      <td class="right">
        {count(measured_rows)}
        {factor !== undefined && <span class="tag plan-factor">▲ {factorText(factor)}</span>}
      </td>
      <td>
        <span class="plan-bar">
          <span aria-hidden="true">
            <span style={{ width: `${part}%` }} />
          </span>
          {timeText(time_ms)}
        </span>
      </td>
    </>
  );
}

/** Many steps take microseconds. */
function timeText(milliseconds: number): string {
  return milliseconds < 1 ? `${Math.round(milliseconds * 1000)} µs` : duration(milliseconds);
}
