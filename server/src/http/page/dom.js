// Making elements. Text is always text: nothing here reads HTML.

/** An element with attributes (properties where they are no strings) and children. */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'string') made.setAttribute(name, value);
    else made[name] = value;
  }
  made.append(...children);
  return made;
}

export const byId = (id) => document.getElementById(id);
