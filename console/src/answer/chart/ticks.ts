// Marks of an axis of times: at whole seconds, hours, days, months or years of UTC.

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** About. */
const MONTH = 30.5 * DAY;

/** Steps that are so many milliseconds. */
const STEPS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500,
  SECOND, 2 * SECOND, 5 * SECOND, 15 * SECOND, 30 * SECOND,
  MINUTE, 2 * MINUTE, 5 * MINUTE, 15 * MINUTE, 30 * MINUTE,
  HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR,
  DAY, 2 * DAY, 7 * DAY,
] as const; // biome-ignore format: one unit a line

/** Steps of so many months, which are not equally long. */
const MONTHS = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 6000, 12_000, 60_000, 120_000, 1_200_000];

/** Times that a Date holds. */
const MOST = 8.64e15;

export interface Ticks {
  readonly values: readonly number[];
  readonly label: (value: number) => string;
}

/** At most `most` marks between two times. */
export function timeTicks(from: number, to: number, most: number): Ticks {
  const first = Math.max(from, -MOST);
  const last = Math.min(to, MOST);
  const least = (last - first) / Math.max(1, most - 1);
  const step = STEPS.find((each) => each >= least);
  if (step !== undefined)
    return { values: multiples(first, last, step), label: (value) => labelOf(value, step) };
  const months = MONTHS.find((each) => each * MONTH >= least) ?? MONTHS.at(-1) ?? 1;
  return { values: monthsBetween(first, last, months), label: (value) => labelOf(value, months * MONTH) };
}

function multiples(first: number, last: number, step: number): number[] {
  const values = [];
  // Weeks begin on Mondays; the first day of all was a Thursday.
  const begin = step === 7 * DAY ? 4 * DAY : 0;
  for (let value = Math.ceil((first - begin) / step) * step + begin; value <= last; value += step)
    values.push(value);
  return values;
}

function monthsBetween(first: number, last: number, months: number): number[] {
  const values = [];
  const end = monthOf(last);
  for (let month = Math.ceil(monthOf(first) / months) * months; month <= end; month += months) {
    const value = beginOf(month);
    if (value >= first && value <= last) values.push(value);
  }
  return values;
}

/** The month of a time, counted from the year 0. */
function monthOf(value: number): number {
  const date = new Date(value);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

/** When a month begins. */
function beginOf(month: number): number {
  const date = new Date(0);
  return date.setUTCFullYear(Math.floor(month / 12), ((month % 12) + 12) % 12, 1);
}

/** As much of a time as the step leaves to say. */
function labelOf(value: number, step: number): string {
  const date = new Date(value);
  if (Number.isNaN(date.getTime())) return String(value);
  const [day = "", time = ""] = date.toISOString().split("T");
  const isMidnight = value % DAY === 0;
  if (step >= 12 * MONTH) return day.slice(0, -6);
  if (step >= MONTH) return day.slice(0, -3);
  if (step >= DAY || isMidnight) return day;
  if (step >= MINUTE) return time.slice(0, 5);
  return step >= SECOND ? time.slice(0, 8) : time.slice(0, 12);
}
