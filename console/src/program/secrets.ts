// Programs with passwords in them, which are not kept and are part of no address.

import { plain } from "./scan.ts";

/** Whether a program has a password in it. */
export function tellsASecret(program: string): boolean {
  return /^\s*\.user\s+(?:create|password)\b/im.test(plain(program));
}
