// Tables of rows whose values are shown as they travelled.

import type { ComponentChildren } from "preact";
import { Cell } from "../src/parts/Cell.tsx";
import type { Row } from "./rows.ts";
import { isNumber, textOf } from "./written.ts";

interface TableProps {
  label: string;
  columns: readonly string[];
  caption?: string;
  /** Each a `tr`. */
  children: ComponentChildren;
}

/** A table to scroll. */
export function Table({ label, columns, caption, children }: TableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard
    <section class="scroll" tabIndex={0} aria-label={label}>
      <table>
        {caption !== undefined && <caption>{caption}</caption>}
        <thead>
          <tr>
            {columns.map((column, place) => (
              <th key={place} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}

/** The cells of a row. */
export function Cells({ row }: { row: Row }) {
  return (
    <>
      {row.map((value, place) => (
        <td key={place} class={isNumber(value) ? "right" : ""}>
          <Written value={value} />
        </td>
      ))}
    </>
  );
}

/** A value: text as it is, all else as it stands in JSON. */
function Written({ value }: { value: unknown }) {
  const isShownSo = value === null || typeof value === "string" || typeof value === "boolean";
  if (isShownSo) return <Cell value={value} most={Number.POSITIVE_INFINITY} />;
  return <bdi class={`value ${isNumber(value) ? "number" : "list"}`}>{textOf(value)}</bdi>;
}
