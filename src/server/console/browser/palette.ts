// The command palette: the search page in a dialog, updated while the user types.
import { fetchPage } from "./trusted-html.ts";

const PAUSE_MS = 120;

/** Opens the palette with the search form of the header, which pages of members do not have. */
export function openPalette(): void {
  const form = document.querySelector<HTMLFormElement>(".search form");
  if (!form || document.querySelector("dialog.palette")) return;
  const dialog = document.createElement("dialog");
  dialog.className = "palette";
  dialog.setAttribute("aria-label", "Search");
  const input = document.createElement("input");
  input.type = "search";
  input.maxLength = 200;
  input.setAttribute("aria-label", "Search pages, workstations, people and more");
  const results = document.createElement("div");
  results.setAttribute("aria-live", "polite");
  dialog.append(input, results);
  dialog.addEventListener("close", () => dialog.remove());
  let found = ask(form.action, "", results);
  input.addEventListener("input", () => {
    found = ask(form.action, input.value, results);
  });
  input.addEventListener("keydown", async ({ key }) => {
    if (key !== "Enter") return;
    await found;
    results.querySelector("a")?.click();
  });
  dialog.addEventListener("keydown", (event) => move(event, dialog));
  document.body.append(dialog);
  dialog.showModal();
}

let requests = 0;

/** Shows the results once typing has paused. Only the newest search is shown. */
async function ask(action: string, text: string, results: Element): Promise<void> {
  requests += 1;
  const own = requests;
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  if (own !== requests) return;
  try {
    const { page } = await fetchPage(`${action}?q=${encodeURIComponent(text)}`);
    const found = page.getElementById("results");
    if (own !== requests || !found) return;
    found.removeAttribute("id");
    results.replaceChildren(document.adoptNode(found));
  } catch {
    results.replaceChildren("The search does not respond.");
  }
}

/** Arrows move between the field and the results. Escape closes the dialog immediately instead of only emptying the search field. */
function move(event: KeyboardEvent, dialog: HTMLDialogElement): void {
  if (event.key === "Escape") {
    event.preventDefault();
    dialog.close();
    return;
  }
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  const stops = [...dialog.querySelectorAll<HTMLElement>("input, a")];
  const focused = document.activeElement;
  const at = focused instanceof HTMLElement ? stops.indexOf(focused) : -1;
  stops[at + (event.key === "ArrowDown" ? 1 : -1)]?.focus();
  event.preventDefault();
}
