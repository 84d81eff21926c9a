// A list of things, each with what can be done with it. Of very many, some are shown at first.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { count } from "../parts/text.ts";

/** How many are shown at first, and how many more each time. */
const PAGE = 200;

/** From so many on, there is something to search with. */
const SEARCHED = 12;

interface ListingColumn<T> {
  readonly title: string;
  readonly cell: (item: T) => ComponentChildren;
  readonly isNumber?: boolean;
}

interface ListingProps<T> {
  label: string;
  items: readonly T[];
  columns: readonly ListingColumn<T>[];
  /** What tells an item apart. */
  keyOf: (item: T) => string;
  /** What is searched. */
  textOf: (item: T) => string;
  /** What is said where there is none. */
  none: string;
}

export function Listing<T>({ label, items, columns, keyOf, textOf, none }: ListingProps<T>) {
  const [filter, setFilter] = useState("");
  const [most, setMost] = useState(PAGE);
  const wanted = filter.trim().toLowerCase();
  const found = wanted === "" ? items : items.filter((item) => textOf(item).toLowerCase().includes(wanted));
  const shown = found.slice(0, most);
  return (
    <div class="listing">
      {(items.length >= SEARCHED || filter !== "") && (
        <input
          class="listing-filter"
          type="search"
          aria-label={`Search ${label}`}
          placeholder="Search"
          value={filter}
          onInput={(event) => setFilter(event.currentTarget.value)}
        />
      )}
      {items.length === 0 && <p class="quiet">{none}</p>}
      {items.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what is scrolled has to be reached by the keyboard
        <section class="listing-frame" aria-label={label} tabIndex={0}>
          <table>
            <thead>
              <tr>
                {columns.map(({ title, isNumber }) => (
                  <th key={title} scope="col" class={isNumber ? "right" : ""}>
                    {title === "" ? <span class="unseen">Actions</span> : title}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {shown.map((item) => (
                <tr key={keyOf(item)}>
                  {columns.map(({ title, cell, isNumber }) => (
                    <td key={title} class={isNumber ? "right" : title === "" ? "listing-actions" : ""}>
                      {cell(item)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
      {(shown.length < items.length || filter !== "") && (
        <p class="quiet">
          {count(shown.length)} of {count(items.length)}
          {found.length < items.length && `, ${count(found.length)} found`}{" "}
          {shown.length < found.length && (
            <button type="button" class="link" onClick={() => setMost(most + PAGE)}>
              Show more
            </button>
          )}
        </p>
      )}
    </div>
  );
}
