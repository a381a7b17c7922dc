// Forms: a second press does nothing, and leaving an edited form asks first.

/** Time to press the link that stops a long action between two of its parts. */
const CONTINUE_MS = 500;

/** Starts with every form that posts. */
export function startForms(): void {
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || form.getAttribute("method") !== "post") return;
    if (form.dataset.sending === "yes") {
      event.preventDefault();
      return;
    }
    form.dataset.sending = "yes";
  });
  window.addEventListener("beforeunload", (event) => {
    if (![...document.forms].some((form) => form.dataset.sending !== "yes" && isEdited(form))) return;
    event.preventDefault();
    setTimeout(allowSending); // for readers who stay
  });
  const next = document.querySelector<HTMLFormElement>("form[data-continue]");
  if (next) setTimeout(() => next.requestSubmit(), CONTINUE_MS);
  // A page that comes back from the browser's cache can be sent again.
  window.addEventListener("pageshow", allowSending);
}

function allowSending(): void {
  for (const form of document.forms) delete form.dataset.sending;
}

/** Only forms marked `data-edits` hold something that would be lost. Refused values differ from the server's without a key press. */
const isEdited = (form: HTMLFormElement): boolean =>
  form.dataset.edits === "refused" || (form.dataset.edits === "saved" && [...form.elements].some(isChanged));

function isChanged(field: Element): boolean {
  if (field instanceof HTMLInputElement)
    return field.type === "checkbox" || field.type === "radio"
      ? field.checked !== field.defaultChecked
      : field.value !== field.defaultValue;
  if (field instanceof HTMLTextAreaElement) return field.value !== field.defaultValue;
  if (!(field instanceof HTMLSelectElement)) return false;
  const first = field.querySelector("option[selected]") ?? field.options[0];
  return field.selectedOptions[0] !== first;
}
