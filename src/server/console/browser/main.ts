// The script of every console page. It only improves pages: reading and changing work without it.
import { startDialogs } from "./dialogs.ts";
import { startForms } from "./forms.ts";
import { enhanceDocument } from "./improvements.ts";
import { startKeys, startKeysSwitch } from "./keys.ts";
import { startLive } from "./live.ts";
import { startPeople } from "./people.ts";
import { rememberZone } from "./preferences.ts";
import { startRegions } from "./regions.ts";
import { startUploads } from "./upload.ts";

rememberZone();
enhanceDocument(document);
const SHOWN_MS = 2_000;

/** Copies the text of the pressed button, or of the element before it. */
function startCopying(): void {
  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("[data-copy]") : null;
    if (!(button instanceof HTMLButtonElement)) return;
    void copy(button);
  });
}

async function copy(button: HTMLButtonElement): Promise<void> {
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(
      button.dataset.copy || (button.previousElementSibling?.textContent ?? ""),
    );
    button.textContent = "Copied";
  } catch {
    button.textContent = "Cannot copy"; // plain http without localhost has no clipboard
  }
  setTimeout(() => {
    button.textContent = label;
  }, SHOWN_MS);
}

startCopying();
startRegions();
startDialogs();
startForms();
startUploads();
startPeople();
startKeys();
startKeysSwitch();
startLive();
