// The keyboard stays where it is. A browser forgets where that was when the element goes away, or cannot be used for
// a while: whoever works by keyboard would begin again at the top of the page.

/** What the keyboard comes to. */
const STOPS = "a[href], button, input, select, textarea, summary, [tabindex], [contenteditable='true']";

/** A table, which has the keys of its cells. */
const GRID = '[role="grid"]';

/** Keeps the keyboard in its place, from now on. */
export function keepFocus(): void {
  let last: HTMLElement | SVGElement | undefined;
  document.addEventListener("focusin", (event) => {
    last = event.target as HTMLElement | SVGElement;
  });
  document.addEventListener("focusout", () => {
    // Whoever leaves an element that could have kept the keyboard wants to be nowhere.
    queueMicrotask(() => {
      if (last?.isConnected && isNowhere() && isUsable(last)) last = undefined;
    });
  });
  const look = (records: readonly MutationRecord[]) => {
    if (last === undefined || !isNowhere()) return;
    if (last.isConnected) {
      // What can be used again has the keyboard again, but not while somebody goes on from it.
      if (records.some((record) => isAbout(record, last))) last.focus({ preventScroll: true });
      return;
    }
    // What comes in the place of a whole page may come later than that goes.
    const to = successorOf(last, records) ?? document.getElementById("main");
    // A row may have gone because somebody scrolls.
    to?.focus({ preventScroll: to.matches(GRID) });
  };
  new MutationObserver(look).observe(document, {
    subtree: true,
    childList: true,
    attributeFilter: ["disabled"],
  });
}

/** Whether an element can be used again by this, or stands elsewhere. */
function isAbout({ type, target, addedNodes }: MutationRecord, element: Element | undefined): boolean {
  if (element === undefined) return false;
  return type === "attributes" ? target === element : [...addedNodes].some((node) => node.contains(element));
}

function isNowhere(): boolean {
  return document.activeElement === null || document.activeElement === document.body;
}

/** Whether an element can have the keyboard now. */
function isUsable(element: HTMLElement | SVGElement): boolean {
  return !element.matches(":disabled") && element.checkVisibility();
}

/** Whether the keyboard comes to an element. */
function isStop(element: HTMLElement | SVGElement): boolean {
  // Browsers say -1 of what can be written in.
  return (element.tabIndex >= 0 || element.matches("[contenteditable='true']")) && isUsable(element);
}

/** Where the keyboard goes after an element that has gone: to what comes next there, or was before it. */
function successorOf(
  gone: HTMLElement | SVGElement,
  records: readonly MutationRecord[],
): HTMLElement | SVGElement | undefined {
  let place: Node = gone;
  let before: Node | null = null;
  for (const { target, removedNodes, previousSibling } of records) {
    if (![...removedNodes].some((node) => node.contains(place))) continue;
    place = target;
    before = previousSibling;
  }
  if (!(place instanceof Element) || !place.isConnected) return undefined;
  const grid = place.closest<HTMLElement>(GRID);
  if (grid !== null) return grid;
  const main = document.getElementById("main") ?? undefined;
  const whole = place.closest<HTMLElement>("dialog, main") ?? main;
  // Whoever followed a link is where what it leads to begins, as whoever has another page.
  if (whole === undefined || place.contains(main ?? null) || gone.getAttribute("href") === location.hash) {
    return main;
  }
  const from = before?.isConnected ? before : place;
  for (let around: Element | null = place; around !== null; around = around.parentElement) {
    const stops = [...around.querySelectorAll<HTMLElement | SVGElement>(STOPS)].filter(isStop);
    if (stops.length > 0) return stops.find((stop) => isAfter(stop, from, place)) ?? stops.at(-1);
    if (around === whole) return main;
  }
  return main;
}

/** Whether a stop comes after a node, which may be what it stands in, but not what was before. */
function isAfter(stop: Element, from: Node, place: Node): boolean {
  if (from !== place && from.contains(stop)) return false;
  return (from.compareDocumentPosition(stop) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
}
