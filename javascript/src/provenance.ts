// Where rows come from: while the session has facts or rules of its own, a last column says of each row whether it needs
// something of the session. It is no column of the answer.

import type { Table } from "apache-arrow";
import type { Provenance } from "./messages.js";

const NAME = "_provenance";

/** The table without that column, if it has one beside the `width` columns of the answer. */
export function withoutProvenance(table: Table, width: number): { table: Table; provenance: Provenance[] } {
  const { fields } = table.schema;
  if (fields.length !== width + 1 || fields[width]?.name !== NAME) return { table, provenance: [] };
  const column = table.getChildAt(width);
  const provenance = Array.from(column ?? [], (value) => String(value) as Provenance);
  return { table: table.selectAt(Array.from({ length: width }, (_, place) => place)), provenance };
}
