// Words of commands that come from people: what can be sent, and what is a name or a password.
//
// A command is cut at blanks, and there is no way to quote one; what begins like a comment is none of its words.

/** The longest name of a user or key, and the longest password, in bytes. */
const LONGEST_NAME = 128;
const LONGEST_PASSWORD = 1024;

/** Half of a character, which is no text. */
const HALF = /\p{Surrogate}/u;

/** A command of these words. What is not one word is refused, before anything is sent. */
export function command(...words: readonly string[]): string {
  for (const word of words) {
    const problem = problemOfWord(word);
    // The word itself may be a secret.
    if (problem !== undefined) throw new RangeError(`a word of this command ${problem}`);
  }
  return `.${words.join(" ")}`;
}

/** Why a text is not one word of a command; undefined if it is. */
export function problemOfWord(text: string): string | undefined {
  if (text === "") return "is missing";
  if (/\s/.test(text)) return "has a blank";
  if (/\p{Cc}/u.test(text)) return "has a control character";
  if (/^\/[/*]/.test(text)) return "begins like a comment";
  return HALF.test(text) ? "has half of a character" : undefined;
}

/** Why this is no name of a user or of a key; undefined if it is. */
export function problemOfName(name: string): string | undefined {
  if (!/^[\p{Alphabetic}\p{N}_]/u.test(name)) return "A name begins with a letter, a digit or _.";
  if (!/^[\p{Alphabetic}\p{N}_.@+-]*$/u.test(name)) return "A name has letters, digits and _ - . @ + only.";
  return bytesOf(name) > LONGEST_NAME ? `A name has at most ${LONGEST_NAME} bytes.` : undefined;
}

/** Why this cannot be the password of a user; undefined if it can. */
export function problemOfPassword(password: string, user?: string): string | undefined {
  const problem = problemOfWord(password);
  if (problem !== undefined) return `This cannot be sent as a password: it ${problem}.`;
  if (bytesOf(password) > LONGEST_PASSWORD) return `A password has at most ${LONGEST_PASSWORD} bytes.`;
  return password === user ? "The name of the user cannot be the password." : undefined;
}

/** Why this cannot be the name of a backup; undefined if it can. */
export function problemOfBackup(name: string): string | undefined {
  if (!/^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}$/.test(name)) {
    return "A backup has at most 128 letters, digits, - _ and ., and does not begin with a dot.";
  }
  return name.toLowerCase() === "list" ? "`list` is a word of the command." : undefined;
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}
