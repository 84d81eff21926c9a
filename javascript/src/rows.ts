// Rows as they came: an Arrow table, of which a cell becomes a value of JavaScript when somebody looks at it.

import type { Table } from "apache-arrow";
import { Column, type ColumnType } from "./column.js";
import type { Value } from "./values.js";

/** A row: one value a column. */
export type Row = Value[];

export class Rows implements Iterable<Row> {
  /** The Arrow table. */
  readonly table: Table;
  /** The columns. */
  readonly columns: readonly Column[];

  constructor(table: Table) {
    this.table = table;
    this.columns = table.schema.fields.map((field, place) => {
      const vector = table.getChildAt(place);
      if (vector === null) throw new RangeError(`no column ${place}`);
      return new Column(field, vector);
    });
  }

  /** The names of the columns; no two are the same. */
  get names(): string[] {
    return this.columns.map(({ name }) => name);
  }

  /** What they hold. */
  get types(): ColumnType[] {
    return this.columns.map(({ type }) => type);
  }

  /** How many rows these are. */
  get rowCount(): number {
    return this.table.numRows;
  }

  /** A column, by its name. */
  column(name: string): Column {
    const found = this.columns.find((column) => column.name === name);
    if (found === undefined)
      throw new RangeError(`there is no column ${name}: there are ${this.names.join(", ")}`);
    return found;
  }

  /** The value in a row and a column, both counted from 0. */
  cell(row: number, column: number): Value {
    this.#check(row);
    const found = this.columns[column];
    if (found === undefined)
      throw new RangeError(`there is no column ${column}: there are ${this.columns.length}`);
    return found.get(row);
  }

  /** One row, counted from 0. */
  row(row: number): Row {
    this.#check(row);
    return this.columns.map((column) => column.get(row));
  }

  /** Every row. */
  rows(): Row[] {
    return [...this];
  }

  /** Every row as an object, by the names of the columns. */
  objects<T extends object = Record<string, Value>>(): T[] {
    const { names } = this;
    return this.rows().map((row) => Object.fromEntries(names.map((name, place) => [name, row[place]])) as T);
  }

  *[Symbol.iterator](): IterableIterator<Row> {
    for (let row = 0; row < this.rowCount; row += 1) yield this.columns.map((column) => column.get(row));
  }

  #check(row: number): void {
    if (!Number.isInteger(row) || row < 0 || row >= this.rowCount) {
      throw new RangeError(`there is no row ${row}: there are ${this.rowCount}`);
    }
  }
}
