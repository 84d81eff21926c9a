// What a task has to show: its value, that it is not there yet, or why it is not.

import type { ComponentChildren } from "preact";
import { Failure } from "./Failure.tsx";
import type { Task } from "./useTask.ts";

interface ShownProps<T> {
  task: Task<T>;
  children: (value: T) => ComponentChildren;
}

export function Shown<T>({ task, children }: ShownProps<T>) {
  if (task.state === "failed") return <Failure problem={task.problem} />;
  if (task.value === undefined) return <p class="waiting quiet">…</p>;
  return <div aria-busy={task.state === "running"}>{children(task.value)}</div>;
}
