// Forms: a second press does nothing, and leaving an edited form asks first.

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
