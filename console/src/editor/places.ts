// Places in a text: the server counts bytes of UTF-8, a page the units of its own strings.

/** The place in a text that is so many bytes from its beginning. */
export function placeOf(text: string, bytes: number): number {
  let counted = 0;
  for (let place = 0; place < text.length; place += 1) {
    if (counted >= bytes) return place;
    const unit = text.charCodeAt(place);
    if (unit < 0x80) counted += 1;
    else if (unit < 0x800) counted += 2;
    else if (unit >= 0xd800 && unit < 0xdc00) {
      counted += 4;
      place += 1;
    } else counted += 3;
  }
  return text.length;
}
