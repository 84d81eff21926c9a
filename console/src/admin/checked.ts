// What is wrong with a field, told by the browser where the field is, before anything is sent.

/** Checks a field as somebody writes in it; what `problemOf` says is wrong keeps the form from being sent. */
export function checked(problemOf: (text: string) => string | undefined) {
  return (event: Event) => {
    const field = event.currentTarget as HTMLInputElement;
    // What is empty is told by `required`.
    field.setCustomValidity(field.value === "" ? "" : (problemOf(field.value) ?? ""));
  };
}
