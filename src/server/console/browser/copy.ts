// Copy buttons. They are hidden until the script runs, because they do nothing without it.

const SHOWN_MS = 2_000;

/** Shows the buttons and copies the text of the one that is pressed. */
export function startCopying(): void {
  markCopyButtons();
  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("[data-copy]") : null;
    if (!(button instanceof HTMLButtonElement)) return;
    void copy(button);
  });
}

/** Shows the buttons that a swap has brought. */
export function markCopyButtons(): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>("[data-copy]")) button.hidden = false;
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
