// A plan as `.explain json` and `.profile json` tell it; docs/plans.md says what it means. What is measured
// is only there in a profile.

export interface Plan {
  readonly kept: readonly PlanRelation[];
  readonly older: readonly OlderRelation[];
  readonly rewrites: readonly Rewrite[];
  /** Where it is evaluated, and why, where there is a choice. */
  readonly place?: string;
  readonly strata: readonly Stratum[];
  readonly answer?: { readonly rows: number; readonly total: number; readonly time_ms: number };
}

/** A relation with its rows: expected ones before an evaluation, those that there are after it. */
export interface PlanRelation {
  readonly name: string;
  readonly rows?: number;
  readonly measured_rows?: number;
}

/** Rows of an earlier state of the graph, and what becomes of them. */
export interface OlderRelation {
  readonly name: string;
  readonly rows: number;
  readonly fate: "tried" | "anew" | "forward" | "given_up";
  readonly time_ms: number;
  /** In which way they were brought forward. */
  readonly by?: string;
}

export interface Rewrite {
  readonly name: string;
  readonly changed: boolean;
  readonly made: readonly string[];
  readonly given_up: boolean;
}

export interface Strategy {
  readonly name: string;
  readonly column?: number;
  readonly rules?: number;
  readonly why?: string;
}

export interface Stratum {
  readonly relations: readonly PlanRelation[];
  readonly recursive: boolean;
  /** Whether it may stand in the place of the one before it. */
  readonly is_alternative?: boolean;
  readonly strategy: Strategy | null;
  readonly rules: readonly PlanRule[];
  readonly rounds?: number;
  /** Whether the strategy took the place of rounds. */
  readonly switched?: boolean;
  readonly strategy_ms?: number;
  readonly time_ms?: number;
}

export interface PlanRule {
  readonly rule: string;
  /** The relation whose new rows drive it, in a recursion. */
  readonly delta: string | null;
  readonly steps: readonly Step[];
}

export interface Step {
  readonly operator: string;
  readonly detail: string;
  /** Expected. */
  readonly rows: number;
  readonly estimated: boolean;
  readonly measured_rows?: number;
  readonly time_ms?: number;
}

/** Where a step is, counted from 0. */
export interface StepPlace {
  readonly stratum: number;
  readonly rule: number;
  readonly step: number;
}

/** The id of a step in the page. */
export function stepId({ stratum, rule, step }: StepPlace): string {
  return `step-${stratum}-${rule}-${step}`;
}

/** The longest time of any step, of which others are parts. */
export function longestStep({ strata }: Plan): number {
  let longest = 0;
  for (const { rules } of strata) {
    for (const { steps } of rules) for (const { time_ms = 0 } of steps) longest = Math.max(longest, time_ms);
  }
  return longest;
}
