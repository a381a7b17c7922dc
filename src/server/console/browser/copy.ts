// Copy buttons. improvements.ts shows them, because they do nothing without the script.

const SHOWN_MS = 2_000;

/** Copies the text of the button that is pressed. */
export function startCopying(): void {
  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("[data-copy]") : null;
    if (!(button instanceof HTMLButtonElement)) return;
    void copy(button);
  });
}

async function copy(button: HTMLButtonElement): Promise<void> {
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(button.dataset.copy ?? "");
    button.textContent = "Copied";
  } catch {
    button.textContent = "Cannot copy"; // plain http without localhost has no clipboard
  }
  setTimeout(() => {
    button.textContent = label;
  }, SHOWN_MS);
}
