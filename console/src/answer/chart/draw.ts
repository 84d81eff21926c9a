// Draws a chart on a canvas. Only what is used of the library is imported, so that no more of it comes to the browser.

import type { Rows } from "@stratalog/client";
import {
  BarController,
  BarElement,
  CategoryScale,
  Chart,
  type ChartDataset,
  type ChartOptions,
  Legend,
  LinearScale,
  LineController,
  LineElement,
  PointElement,
  type PointStyle,
  Tooltip,
} from "chart.js";
import { seen } from "../../parts/Cell.tsx";
import { textOf } from "../../parts/text.ts";
import type { Colours } from "../useColours.ts";
import { type Plan, roleOf } from "./plan.ts";
import type { Drawing, Point } from "./points.ts";
import { type Ticks, timeTicks } from "./ticks.ts";

Chart.register(
  BarController,
  BarElement,
  CategoryScale,
  Legend,
  LinearScale,
  LineController,
  LineElement,
  PointElement,
  Tooltip,
);

type Axis = NonNullable<ChartOptions<"bar" | "line">["scales"]>[string];

/** Signs and dashes, so that series are not told apart by colour alone. */
const SIGNS: readonly PointStyle[] = ["circle", "triangle", "rect", "rectRot", "star", "crossRot"];
const DASHES: readonly number[][] = [[], [7, 4], [2, 3]];
/** A name on the axis is no longer; the whole one shows when one points at it. */
const NAME = 22;
/** Of more points the signs are small, and those of lines are left away. */
const MANY = 300;

/** Draws; whoever gets the chart destroys it. */
export function draw(
  canvas: HTMLCanvasElement,
  answer: Rows,
  plan: Plan,
  drawing: Drawing,
  colours: Colours,
): Chart {
  const { labels, series } = drawing;
  const title = (place: number) => seen(answer.columns[place]?.name ?? "");
  const isMany = drawing.drawn > MANY;
  const datasets: ChartDataset<"bar" | "line", Point[]>[] = series.map(({ name, points }, number) => {
    const colour = colourOf(colours, number);
    // When all colours are taken they come again: bars are hollow then, lines dashed, and points have other signs.
    const turn = Math.floor(number / PALETTE.length);
    const common = { label: seen(name), data: points, backgroundColor: colour, borderColor: colour };
    if (plan.kind === "bars") {
      const look = turn === 0 ? { borderWidth: 0 } : { borderWidth: 2, backgroundColor: colours.panel };
      return { ...common, ...look, type: "bar", maxBarThickness: 60 };
    }
    const isLine = plan.kind === "line";
    return {
      ...common,
      type: "line",
      showLine: isLine,
      borderWidth: 1.75,
      borderDash: DASHES[turn % DASHES.length] ?? [],
      pointStyle: SIGNS[(number + turn) % SIGNS.length] ?? "circle",
      pointRadius: isMany ? (isLine ? 0 : 2) : 3,
      pointHitRadius: 6,
    };
  });
  return new Chart<"bar" | "line", Point[]>(canvas, {
    type: plan.kind === "bars" ? "bar" : "line",
    data: { ...(labels === undefined ? {} : { labels: labels.map(seen) }), datasets },
    options: {
      animation: false,
      responsive: true,
      maintainAspectRatio: false,
      parsing: false,
      locale: "en-US",
      color: colours.text,
      font: { family: colours.font, size: 12 },
      interaction: {
        mode: "nearest",
        intersect: plan.kind === "points",
        axis: plan.kind === "points" ? "xy" : "x",
      },
      scales: {
        x: axis(colours, title(plan.x), along(answer, plan, labels)),
        y: axis(colours, title(plan.y), { beginAtZero: plan.kind === "bars" }),
      },
      plugins: {
        legend: {
          display: plan.series !== undefined,
          labels: { usePointStyle: plan.kind !== "bars", boxWidth: 14, font: { family: colours.font } },
        },
        tooltip: {
          backgroundColor: colours.panel,
          borderColor: colours.line,
          borderWidth: 1,
          titleColor: colours.text,
          bodyColor: colours.text,
          callbacks: {
            title: ([item]) => text(answer, (item?.raw as Point | undefined)?.row, plan.x),
            label: (item) => {
              const value = text(answer, (item.raw as Point).row, plan.y);
              return plan.series === undefined ? value : `${item.dataset.label}: ${value}`;
            },
          },
        },
      },
    },
  }) as Chart;
}

/** What one axis has and the other has not. */
interface Particular {
  readonly ticks?: object;
  readonly [setting: string]: unknown;
}

/** An axis, in the colours of the page. */
function axis(colours: Colours, title: string, { ticks, ...particular }: Particular): Axis {
  return {
    title: { display: true, text: title, color: colours.text },
    border: { color: colours.line },
    grid: { color: colours.line },
    ticks: { color: colours.quiet, maxRotation: 60, ...ticks },
    ...particular,
  } as Axis;
}

/** What is particular of the axis along which the points stand. */
function along(answer: Rows, plan: Plan, labels: readonly string[] | undefined): Particular {
  if (labels !== undefined) {
    const short = (value: string | number) => shortened(seen(labels[Number(value)] ?? ""));
    return { type: "category", grid: { display: false }, ticks: { callback: short, autoSkipPadding: 6 } };
  }
  const column = answer.columns[plan.x];
  if (column === undefined || roleOf(column) !== "time") return { type: "linear" };
  let ticks: Ticks = { values: [], label: String };
  return {
    type: "linear",
    bounds: "data",
    afterBuildTicks: (scale: { min: number; max: number; width: number; ticks: { value: number }[] }) => {
      ticks = timeTicks(scale.min, scale.max, Math.max(2, Math.floor(scale.width / 90)));
      scale.ticks = ticks.values.map((value) => ({ value }));
    },
    ticks: { callback: (value: string | number) => ticks.label(Number(value)), maxRotation: 0 },
  };
}

function text(answer: Rows, row: number | undefined, column: number): string {
  return row === undefined ? "" : seen(textOf(answer.cell(row, column), 200));
}

function shortened(name: string): string {
  return name.length > NAME ? `${name.slice(0, NAME - 1)}…` : name;
}

const PALETTE = ["accent", "warn", "good", "variable", "bad", "quiet"] as const;

function colourOf(colours: Colours, number: number): string {
  return colours[PALETTE[number % PALETTE.length] ?? "accent"];
}

/** The chart as a picture, on the ground that it has in the page. */
export function pngOf(canvas: HTMLCanvasElement, ground: string): Promise<Blob> {
  const copy = document.createElement("canvas");
  copy.width = canvas.width;
  copy.height = canvas.height;
  const context = copy.getContext("2d");
  if (context === null) return Promise.reject(new Error("the browser draws no pictures"));
  context.fillStyle = ground;
  context.fillRect(0, 0, copy.width, copy.height);
  context.drawImage(canvas, 0, 0);
  return new Promise((done, failed) => {
    copy.toBlob(
      (blob) => (blob === null ? failed(new Error("the picture is too large")) : done(blob)),
      "image/png",
    );
  });
}
