// What users may be.

export const ROLES = [
  { role: "viewer", may: "uses the graphs where there is a level" },
  { role: "editor", may: "also creates graphs" },
  { role: "admin", may: "everything, on every graph" },
] as const;
