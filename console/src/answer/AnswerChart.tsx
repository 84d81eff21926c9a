// An answer as a chart: bars, lines or points of two or three of its columns.

import type { Result } from "@stratalog/client";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { seen } from "../parts/Cell.tsx";
import { Failure } from "../parts/Failure.tsx";
import "./chart.css";
import { Choice } from "./Choice.tsx";
import { KINDS, planOf, roleOf } from "./chart/plan.ts";
import { describe, pointsOf } from "./chart/points.ts";
import { save } from "./export/save.ts";
import { useColours } from "./useColours.ts";

interface AnswerChartProps {
  answer: Result;
  /** What was chosen: `kind`, `x`, `y` and `series`; what is missing is guessed. Others are left as they are. */
  values: Readonly<Record<string, string>>;
  onValues: (next: Record<string, string>) => void;
}

const KIND_TITLES = { bars: "bars", line: "lines", points: "points" } as const;

export function AnswerChart({ answer, values, onValues }: AnswerChartProps) {
  const colours = useColours();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [problem, setProblem] = useState<unknown>();
  const { kind, x, y, series } = values;
  const plan = useMemo(() => planOf(answer, values), [answer, kind, x, y, series]);
  const drawing = useMemo(() => plan && pointsOf(answer, plan), [answer, plan]);

  useEffect(() => {
    const place = canvas.current;
    if (place === null || plan === undefined || drawing === undefined) return;
    let isGone = false;
    let chart: { destroy(): void } | undefined;
    setProblem(undefined);
    import("./chart/draw.ts")
      .then(({ draw }) => {
        if (!isGone) chart = draw(place, answer, plan, drawing, colours);
      })
      .catch(setProblem);
    return () => {
      isGone = true;
      chart?.destroy();
    };
  }, [answer, plan, drawing, colours]);

  if (plan === undefined || drawing === undefined) {
    return <p class="quiet">A chart takes a column of numbers, and another one beside it.</p>;
  }

  const change = (name: string) => (value: string) => onValues({ ...values, [name]: value });
  const columns = answer.columns.map((column) => ({ value: column.name, title: seen(column.name) }));
  const numbers = answer.columns
    .filter((column) => roleOf(column) === "number")
    .map((column) => ({ value: column.name, title: seen(column.name) }));
  const nameAt = (place: number | undefined) =>
    place === undefined ? "" : (answer.columns[place]?.name ?? "");
  const sentence = seen(describe(answer, plan, drawing, answer.totalCount));
  const savePicture = async () => {
    if (canvas.current === null) return;
    try {
      const { pngOf } = await import("./chart/draw.ts");
      save("chart.png", [await pngOf(canvas.current, colours.panel)], "image/png");
    } catch (failure) {
      setProblem(failure);
    }
  };

  return (
    <section class="chart-answer" aria-label="Chart">
      <div class="chart-choices">
        <Choice
          label="Kind"
          value={plan.kind}
          options={KINDS.map((each) => ({ value: each, title: KIND_TITLES[each] }))}
          onChange={change("kind")}
        />
        <Choice label="Across" value={nameAt(plan.x)} options={columns} onChange={change("x")} />
        <Choice label="Up" value={nameAt(plan.y)} options={numbers} onChange={change("y")} />
        <Choice
          label="Colours"
          value={nameAt(plan.series)}
          options={[{ value: "", title: "one" }, ...columns]}
          onChange={change("series")}
        />
        <button type="button" onClick={() => void savePicture()}>
          Save as PNG
        </button>
      </div>
      {problem !== undefined && <Failure problem={problem} />}
      <div class="chart-frame">
        <canvas ref={canvas} role="img" aria-label={sentence} />
      </div>
      <p class="chart-says quiet" role="status">
        <bdi>{sentence}</bdi>
      </p>
    </section>
  );
}
