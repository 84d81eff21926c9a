// Gives the browser something to save: what it saves, it asks its user.

/** For how long what is saved stays in memory after the browser was told of it. */
const KEPT_MILLISECONDS = 60_000;

/** Saves pieces of text, bytes or a picture as a file. */
export function save(name: string, pieces: readonly BlobPart[], type: string): void {
  const address = URL.createObjectURL(new Blob([...pieces], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = fileName(name);
  link.hidden = true;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), KEPT_MILLISECONDS);
}

/** A name that is one on every system: what has a meaning in paths, or is not seen, is a dash. */
export function fileName(name: string): string {
  const plain = name
    .normalize("NFC")
    .replace(/[^\p{L}\p{M}\p{N}._ -]+/gu, "-")
    .replace(/^[.\s-]+|[.\s]+$/g, "");
  return plain === "" ? "answer" : plain.slice(-120);
}
