// A table of any number of rows, of which only those that can be seen are in the page.
//
// The keyboard moves from cell to cell as in a spreadsheet; a cell is a value when somebody looks at it. It is no table
// element, as the rows of one cannot be some of many: roles say what is what.

import type { ColumnType, Value } from "@stratalog/client";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Cell } from "./Cell.tsx";
import { copy } from "./clipboard.ts";
import { count, textOf } from "./text.ts";

export interface GridColumn {
  readonly name: string;
  readonly type: ColumnType | undefined;
}

export interface GridProps {
  label: string;
  columns: readonly GridColumn[];
  rowCount: number;
  cell: (row: number, column: number) => Value;
  /** The number to show beside a row; its place, counted from 1, if it is not said. */
  number?: (row: number) => number;
  /** The greatest of these numbers. */
  highest?: number;
  /** How the rows are sorted, and what a click on a title does. */
  sorted?: { column: number; descends: boolean } | undefined;
  onSort?: (column: number) => void;
  /** Told when somebody has chosen a row, by a click or with Enter. */
  onChoose?: (row: number) => void;
  /** The row that is chosen. */
  chosen?: number | undefined;
  /** A further class of a row. */
  rowClass?: (row: number) => string;
}

const ROW = 28;
/** Rows beyond the edges, so that nothing is missing while one scrolls. */
const BEYOND = 8;
/** Browsers make nothing higher than some millions of pixels; what is higher is scrolled in longer steps. */
const HIGHEST = 15_000_000;

export function Grid(props: GridProps) {
  const {
    label,
    columns,
    rowCount,
    cell,
    number,
    highest = rowCount,
    sorted,
    onSort,
    onChoose,
    chosen,
    rowClass,
  } = props;
  const frame = useRef<HTMLDivElement>(null);
  const [scroll, setScroll] = useState(0);
  const [room, setRoom] = useState(400);
  const [focus, setFocus] = useState({ row: 0, column: 0 });
  const [widths, setWidths] = useState<readonly number[]>([]);
  const moved = useRef(false);

  const natural = useMemo(
    () => columns.map((column, place) => widthOf(column, place, rowCount, cell)),
    [columns, cell],
  );
  useEffect(() => setWidths([]), [columns]);
  const width = (place: number) => widths[place] ?? natural[place] ?? 120;

  useLayoutEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const watch = new ResizeObserver(() => setRoom(element.clientHeight));
    watch.observe(element);
    return () => watch.disconnect();
  }, []);

  // Rows that are not there any more cannot be looked at.
  const row = Math.min(focus.row, Math.max(0, rowCount - 1));

  const whole = rowCount * ROW;
  const height = Math.min(whole, HIGHEST);
  const visible = Math.max(ROW, room - ROW);
  const ratio = height > visible ? Math.max(1, (whole - visible) / (height - visible)) : 1;
  const top = Math.min(scroll, Math.max(0, height - visible)) * ratio;
  const first = Math.max(0, Math.floor(top / ROW) - BEYOND);
  const end = Math.min(rowCount, Math.ceil((top + visible) / ROW) + BEYOND);
  const shift = scroll - (top - first * ROW);

  const show = (to: number) => {
    const element = frame.current;
    if (element === null) return;
    const above = to * ROW;
    if (above < top) element.scrollTop = above / ratio;
    else if (above + ROW > top + visible) element.scrollTop = (above + ROW - visible) / ratio;
  };

  useLayoutEffect(() => {
    if (!moved.current) return;
    moved.current = false;
    const element = frame.current;
    const place = `[data-place="${row} ${focus.column}"]`;
    const here = element?.querySelector<HTMLElement>(place);
    if (!element || !here) return;
    here.focus({ preventScroll: true });
    // From side to side only: the browser would look for the row where it was before it was moved down.
    const [left, right] = [here.offsetLeft, here.offsetLeft + here.offsetWidth];
    if (left < element.scrollLeft) element.scrollLeft = left;
    else if (right > element.scrollLeft + element.clientWidth)
      element.scrollLeft = right - element.clientWidth;
  });

  const move = (to: { row: number; column: number }) => {
    const bounded = {
      row: Math.max(0, Math.min(rowCount - 1, to.row)),
      column: Math.max(0, Math.min(columns.length - 1, to.column)),
    };
    moved.current = true;
    setFocus(bounded);
    show(bounded.row);
    setScroll(frame.current?.scrollTop ?? 0);
  };

  const onKey = (event: KeyboardEvent) => {
    // The table itself has the keyboard where the cell that had it has been scrolled away.
    const isHere = event.target === event.currentTarget && rowCount > 0;
    if (!isHere && !(event.target as HTMLElement).hasAttribute("data-place")) return;
    const page = Math.max(1, Math.floor(visible / ROW) - 1);
    const far = event.ctrlKey || event.metaKey;
    const { column } = focus;
    const places: Record<string, { row: number; column: number }> = {
      ArrowDown: { row: row + 1, column },
      ArrowUp: { row: row - 1, column },
      ArrowLeft: { row, column: column - 1 },
      ArrowRight: { row, column: column + 1 },
      PageDown: { row: row + page, column },
      PageUp: { row: row - page, column },
      Home: { row: far ? 0 : row, column: 0 },
      End: { row: far ? rowCount - 1 : row, column: columns.length - 1 },
    };
    const to = places[event.key];
    if (to !== undefined) {
      event.preventDefault();
      move(to);
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      onChoose?.(row);
    } else if (event.key.toLowerCase() === "c" && far && getSelection()?.isCollapsed !== false) {
      event.preventDefault();
      void copy(textOf(cell(row, column)));
    }
  };

  const shown = [];
  for (let each = first; each < end; each += 1) shown.push(each);
  const digits = Math.max(2, count(highest).length);
  const template = `${digits + 3}ch ${columns.map((_, place) => `${width(place)}px`).join(" ")}`;

  return (
    <div
      ref={frame}
      class="grid"
      role="grid"
      aria-label={label}
      aria-rowcount={rowCount + 1}
      aria-colcount={columns.length + 1}
      tabIndex={row < first || row >= end ? 0 : -1}
      onScroll={(event) => setScroll(event.currentTarget.scrollTop)}
      onKeyDown={onKey}
    >
      <div class="grid-head" role="row" aria-rowindex={1} style={{ gridTemplateColumns: template }}>
        <span class="grid-cell number" role="columnheader">
          <span class="unseen">Number</span>
        </span>
        {columns.map((column, place) => (
          <Title
            key={place}
            column={column}
            sorted={sorted?.column === place ? sorted.descends : undefined}
            width={width(place)}
            onSort={onSort && (() => onSort(place))}
            onWidth={(now) => setWidths(columns.map((_, other) => (other === place ? now : width(other))))}
          />
        ))}
      </div>
      <div class="grid-body" role="presentation" style={{ height: `${height}px` }}>
        <div class="grid-rows" role="rowgroup" style={{ transform: `translateY(${shift}px)` }}>
          {shown.map((each) => (
            <div
              key={each}
              class={`grid-row ${rowClass?.(each) ?? ""}`}
              role="row"
              aria-rowindex={each + 2}
              aria-selected={chosen === undefined ? undefined : each === chosen}
              style={{ gridTemplateColumns: template }}
              onClick={() => {
                if (getSelection()?.isCollapsed !== false) onChoose?.(each);
              }}
            >
              <span class="grid-cell number" role="rowheader">
                {count(number?.(each) ?? each + 1)}
              </span>
              {columns.map(({ type }, place) => {
                const isHere = each === row && place === focus.column;
                const value = cell(each, place);
                return (
                  <span
                    key={place}
                    class={`grid-cell ${typeof value === "number" || typeof value === "bigint" ? "right" : ""}`}
                    role="gridcell"
                    data-place={`${each} ${place}`}
                    tabIndex={isHere ? 0 : -1}
                    onFocus={() => {
                      if (!isHere) setFocus({ row: each, column: place });
                    }}
                  >
                    <Cell value={value} {...(type === undefined ? {} : { type })} />
                  </span>
                );
              })}
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}

interface TitleProps {
  column: GridColumn;
  sorted: boolean | undefined;
  width: number;
  onSort: (() => void) | undefined;
  onWidth: (width: number) => void;
}

function Title({ column, sorted, width, onSort, onWidth }: TitleProps) {
  const drag = (event: PointerEvent) => {
    const edge = event.currentTarget as HTMLElement;
    const start = event.clientX - width;
    edge.setPointerCapture(event.pointerId);
    edge.onpointermove = (moved) => onWidth(bounded(moved.clientX - start));
    edge.onpointerup = () => {
      edge.onpointermove = null;
    };
  };
  const key = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -16, ArrowRight: 16 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    onWidth(bounded(width + step));
  };
  const order = sorted === undefined ? "none" : sorted ? "descending" : "ascending";
  return (
    <span class="grid-title" role="columnheader" aria-sort={order}>
      <button type="button" title={column.name} disabled={onSort === undefined} onClick={onSort}>
        {column.name} <small>{column.type}</small>
        {sorted !== undefined && <span aria-hidden="true">{sorted ? " ↓" : " ↑"}</span>}
      </button>
      <button
        type="button"
        class="grid-edge"
        aria-label={`Width of ${column.name}`}
        onPointerDown={drag}
        onKeyDown={key}
      />
    </span>
  );
}

function bounded(width: number): number {
  return Math.max(48, Math.min(1200, Math.round(width)));
}

/** A width in which the first values have room. */
function widthOf(column: GridColumn, place: number, rowCount: number, cell: GridProps["cell"]): number {
  let longest = column.name.length + (column.type?.length ?? 0) + 3;
  for (let row = 0; row < Math.min(rowCount, 60); row += 1) {
    longest = Math.max(longest, textOf(cell(row, place), 60).length);
  }
  return bounded(Math.min(longest, 48) * 8.3 + 22);
}
