// What a table is made of.

/** What `parseWritten` gives for a row. */
export type Row = readonly unknown[];

/** The most rows of a table that are shown. */
export const MOST_ROWS = 500;
