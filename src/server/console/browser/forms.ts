// Forms: ignores a second press of the button, checks the session, and asks before the reader leaves an edited form.
import { mayBeSent } from "./session.ts";

/** Pause between two parts of a long action, so that the reader can press the link that stops it. */
const CONTINUE_MS = 500;

/** Handles every form with method POST. */
export function startForms(): void {
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || form.getAttribute("method") !== "post") return;
    if (form.dataset.sending === "yes") {
      event.preventDefault();
      return;
    }
    form.dataset.sending = "yes";
    if (!mayBeSent(form, event.submitter)) event.preventDefault();
  });
  window.addEventListener("beforeunload", (event) => {
    if (![...document.forms].some((form) => form.dataset.sending !== "yes" && isEdited(form))) return;
    event.preventDefault();
    setTimeout(allowSending); // if the reader stays on the page
  });
  const next = document.querySelector<HTMLFormElement>("form[data-continue]");
  if (next) setTimeout(() => next.requestSubmit(), CONTINUE_MS);
  // After the browser restores a page from its cache, its form can be sent again.
  window.addEventListener("pageshow", allowSending);
}

function allowSending(): void {
  for (const form of document.forms) delete form.dataset.sending;
}

/** Only forms marked `data-edits` hold something that would be lost. Values that the server refused count as edited. */
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
