// What a plan says, in words.

import { counted, duration } from "../parts/text.ts";
import type { OlderRelation, Rewrite, Stratum } from "./plan.ts";

/** How the recursion of a stratum goes on, or went on; nothing where it is in rounds. */
export function strategyText({ strategy, switched, strategy_ms }: Stratum): string | undefined {
  if (strategy === null || strategy.name === "tuples") return undefined;
  const names: Record<string, string> = {
    walk: `walk along column ${strategy.column}`,
    both_ends: "walk from both ends",
    matrices: "matrices",
    relaxation: "relaxation",
    partitions: `partitions of column ${strategy.column}`,
    plans: "plans",
    plans_in_parts: "plans in parts",
    no_plan: `no plan (${strategy.why})`,
    mixed: `matrices for ${strategy.rules} of the rules`,
  };
  const name = Object.hasOwn(names, strategy.name) ? names[strategy.name] : strategy.name;
  if (switched === undefined) return `${name} if large`;
  if (!switched) return `in rounds: ${name} was not needed`;
  return strategy_ms === undefined ? name : `${name} in ${duration(strategy_ms)}`;
}

/** What a rewrite has made of the program. */
export function rewriteText({ changed, made, given_up }: Rewrite): string {
  const what = !changed
    ? "changes nothing"
    : made.length === 0
      ? "changes rules"
      : `makes ${made.join(", ")}`;
  return given_up ? `${what}; given up, as that asks for many more rows than are stored` : what;
}

/** What becomes of rows of an earlier state. */
export function olderText({ rows, fate, time_ms, by }: OlderRelation): string {
  const time = duration(time_ms);
  switch (fate) {
    case "tried":
      return `${counted(rows, "row")} of an earlier state, to be brought forward in ${time} or less`;
    case "anew":
      return `${counted(rows, "row")} of an earlier state, to be derived anew in about ${time}`;
    case "forward":
      return `brought forward to ${counted(rows, "row")} ${wayText(by)}in ${time}`;
    case "given_up":
      return `${counted(rows, "row")} of an earlier state: to bring them forward was given up after ${time}`;
  }
}

function wayText(by: string | undefined): string {
  const ways: Record<string, string> = {
    as_they_are: "as they are ",
    shared: "by sharing ",
    joins: "by joins ",
    groups: "by groups ",
    walk: "by a walk ",
    best_values: "by best values ",
    ranks: "by ranks ",
    rederivation: "by rederivation ",
  };
  return by !== undefined && Object.hasOwn(ways, by) ? (ways[by] ?? "") : "";
}
