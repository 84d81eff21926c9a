// The views of the console, in the order in which they are offered. Each is loaded when it is first opened.

import type { ComponentType } from "preact";
import type { Session, ViewProps } from "../session/session.ts";

export interface View {
  /** Its name in the address. */
  readonly name: string;
  /** What it is called. */
  readonly title: string;
  /** Its sign: the path of an SVG of 24 by 24. */
  readonly sign: string;
  readonly load: () => Promise<ComponentType<ViewProps>>;
  /** Whether it is offered; all are if it is not said. */
  readonly isFor?: (session: Session) => boolean;
}

export const VIEWS: readonly View[] = [
  {
    name: "ask",
    title: "Ask",
    sign: "M4 6h16M4 11h10M4 16h7m6-3 3 3-3 3",
    load: async () => (await import("../ask/AskView.tsx")).AskView,
  },
  {
    name: "live",
    title: "Live",
    sign: "M3 12h4l3-8 4 16 3-8h4",
    load: async () => (await import("../live/LiveView.tsx")).LiveView,
  },
  {
    name: "why",
    title: "Why",
    sign: "M12 4v5m0 0L6 14m6-5 6 5M6 14v5m12-5v5",
    load: async () => (await import("../why/WhyView.tsx")).WhyView,
  },
  {
    name: "relations",
    title: "Relations",
    sign: "M4 5h16v14H4zM4 10h16M10 10v9",
    load: async () => (await import("../graph/RelationsView.tsx")).RelationsView,
  },
  {
    name: "rules",
    title: "Rules",
    sign: "M5 5h5v5H5zM14 14h5v5h-5zM10 7.5h6.5V14",
    load: async () => (await import("../graph/RulesView.tsx")).RulesView,
  },
  {
    name: "plan",
    title: "Plan",
    sign: "M4 6h9M4 12h14M4 18h6",
    load: async () => (await import("../plans/PlanView.tsx")).PlanView,
  },
  {
    name: "admin",
    title: "Server",
    sign: "M4 5h16v6H4zM4 13h16v6H4zM7 8h.01M7 16h.01",
    load: async () => (await import("../admin/AdminView.tsx")).AdminView,
  },
];
