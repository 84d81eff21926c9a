// Long work in slices, between which the page can draw and hear.

/** What whoever started the work has to say, and wants to be told. */
export interface Run {
  /** Ends the work when it is aborted. */
  readonly signal?: AbortSignal;
  /** Told how many rows are done, after each slice. */
  readonly onProgress?: (done: number) => void;
}

/** A slice is no longer than this: a frame of the page has 16. */
const SLICE_MILLISECONDS = 12;
/** The clock is not looked at for each row. */
const BETWEEN_LOOKS = 64;

/** Does something for each of `count` places, in their order. Throws the signal's reason if it is aborted. */
export async function inSlices(count: number, each: (place: number) => void, run: Run = {}): Promise<void> {
  let place = 0;
  run.signal?.throwIfAborted();
  while (place < count) {
    const end = performance.now() + SLICE_MILLISECONDS;
    do {
      const stop = Math.min(count, place + BETWEEN_LOOKS);
      for (; place < stop; place += 1) each(place);
    } while (place < count && performance.now() < end);
    run.onProgress?.(place);
    await breath();
    run.signal?.throwIfAborted();
  }
}

/** Lets the page do what it has to do. Timers would wait longer, and for a second in a page that is hidden. */
export function breath(): Promise<void> {
  return new Promise((done) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      done();
    };
    port2.postMessage(undefined);
  });
}

/** The row that stands at each place: as the order says, or as they came. */
export function rowAt(order: Uint32Array | undefined): (place: number) => number {
  return order === undefined ? (place) => place : (place) => order[place] ?? 0;
}

/** How many rows there are to write. */
export function rowsOf(rowCount: number, order: Uint32Array | undefined): number {
  return order?.length ?? rowCount;
}

/** Text in pieces: one string of a million rows may be longer than a string can be. */
export class Pieces {
  readonly whole: string[] = [];
  #open = "";

  add(text: string): void {
    this.#open += text;
    if (this.#open.length >= 1 << 20) this.#close();
  }

  /** All of it. */
  end(): string[] {
    this.#close();
    return this.whole;
  }

  #close(): void {
    if (this.#open !== "") this.whole.push(this.#open);
    this.#open = "";
  }
}
