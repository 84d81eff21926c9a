// A small chart of lines, which is read aloud as its first, last, least and greatest value.

import { boundsOf, frameOf, type Point, pathOf, summaryOf } from "./scale.ts";

export interface Series {
  readonly name: string;
  readonly points: readonly Point[];
}

interface LinesProps {
  title: string;
  /** At most two: the second is dashed. */
  series: readonly Series[];
  /** How a value is written. */
  yText: (y: number) => string;
  /** How a place is written. */
  xText: (x: number) => string;
  /** Whether a value holds until the next one. */
  isStep?: boolean;
  /** Whether zero is seen. */
  fromZero?: boolean;
  /** Only the line, beside which the values stand as text. */
  isSmall?: boolean;
}

export function Lines(props: LinesProps) {
  const { title, series, yText, xText, isStep = false, fromZero = false, isSmall = false } = props;
  const frame = frameOf(
    series.map(({ points }) => points),
    fromZero,
  );
  if (frame === undefined) return isSmall ? null : <p class="quiet">{title}: nothing yet</p>;
  const values = series.flatMap(({ points }) => points.flatMap(({ y }) => (y === undefined ? [] : [y])));
  const [least, most] = boundsOf(fromZero ? [0, ...values] : values);
  const places =
    frame.left === frame.right ? xText(frame.left) : `${xText(frame.left)} to ${xText(frame.right)}`;
  const heard = series.map(({ name, points }) => summaryOf(name, points, yText)).join("; ");
  const paths = series.map(({ name, points }, number) => (
    <path
      key={name}
      class={`lines-path lines-path-${number}`}
      d={pathOf(points, frame, isStep)}
      vector-effect="non-scaling-stroke"
    />
  ));
  return (
    <figure class={`lines ${isSmall ? "lines-small" : ""}`}>
      {!isSmall && (
        <figcaption>
          <strong>{title}</strong>
          {series.map(({ name, points }, number) => (
            <Legend
              key={name}
              number={number}
              name={series.length > 1 ? name : ""}
              points={points}
              text={yText}
            />
          ))}
        </figcaption>
      )}
      <div class="lines-plot">
        {isSmall ? (
          <svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">
            {paths}
          </svg>
        ) : (
          <svg
            viewBox="0 0 100 100"
            preserveAspectRatio="none"
            role="img"
            aria-label={`${title}, ${places}. ${heard}`}
          >
            {paths}
          </svg>
        )}
        {!isSmall && (
          <span class="lines-most" aria-hidden="true">
            {yText(most)}
          </span>
        )}
        {!isSmall && least !== most && (
          <span class="lines-least" aria-hidden="true">
            {yText(least)}
          </span>
        )}
      </div>
      {!isSmall && (
        <div class="lines-places" aria-hidden="true">
          <span>{xText(frame.left)}</span>
          {frame.right !== frame.left && <span>{xText(frame.right)}</span>}
        </div>
      )}
    </figure>
  );
}

interface LegendProps {
  number: number;
  name: string;
  points: readonly Point[];
  text: (y: number) => string;
}

/** The name of a line, with how it looks and where it is now. */
function Legend({ number, name, points, text }: LegendProps) {
  const now = points.at(-1)?.y;
  return (
    <span class="lines-name">
      {name !== "" && (
        <svg viewBox="0 0 20 4" aria-hidden="true">
          <path class={`lines-path lines-path-${number}`} d="M0 2H20" />
        </svg>
      )}
      {name} {now === undefined ? "–" : text(now)}
    </span>
  );
}
