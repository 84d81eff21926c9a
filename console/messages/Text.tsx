// A text of several lines, which the keyboard can scroll.

export function Text({ id, text }: { id?: string; text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard
    <pre id={id} tabIndex={0}>
      {text}
    </pre>
  );
}
