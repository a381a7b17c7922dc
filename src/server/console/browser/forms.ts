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
    sent = true;
  });
  window.addEventListener("beforeunload", (event) => {
    if (!sent && [...document.forms].some(isEdited)) event.preventDefault();
  });
  const next = document.querySelector<HTMLFormElement>("form[data-continue]");
  if (next) setTimeout(() => next.requestSubmit(), CONTINUE_MS);
  // A page that comes back from the browser's cache can be sent again.
  window.addEventListener("pageshow", () => {
    sent = false;
    for (const form of document.forms) delete form.dataset.sending;
  });
}

let sent = false;

/** Only forms marked `data-edits` hold something that would be lost. */
const isEdited = (form: HTMLFormElement): boolean =>
  form.matches("[data-edits]") &&
  [...form.elements].some((field) => {
    if (field instanceof HTMLInputElement)
      return field.type === "checkbox" || field.type === "radio"
        ? field.checked !== field.defaultChecked
        : field.value !== field.defaultValue;
    if (field instanceof HTMLTextAreaElement) return field.value !== field.defaultValue;
    return (
      field instanceof HTMLSelectElement &&
      [...field.options].some((option) => option.selected !== option.defaultSelected)
    );
  });
