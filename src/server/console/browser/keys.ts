// Keyboard: two-letter shortcuts to pages, movement between rows, and search. Single letters never act inside fields, and can be
// turned off on the page of keys (WCAG 2.1.4).
import { openPalette } from "./palette.ts";
import { keysAreOn, setKeys } from "./preferences.ts";

/** Second letter after `g`. The page of keys lists all of them. */
const PLACES: Readonly<Record<string, string>> = {
  o: "/console",
  p: "/console/policy",
  c: "/console/clients",
  u: "/console/users",
  a: "/console/audit",
  m: "/console/me",
};
const SEQUENCE_MS = 1_000;

let startedAt = Number.NEGATIVE_INFINITY;

/** Listens for keys of the whole page. */
export function startKeys(): void {
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      openPalette();
      return;
    }
    if ((event.ctrlKey || event.metaKey) && event.key === "Enter" && accept()) {
      event.preventDefault();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || isField(event.target) || !keysAreOn()) return;
    if (press(event.key, event.timeStamp)) event.preventDefault();
  });
}

/** Presses the page's main button, such as the one that publishes. @returns whether there is one */
function accept(): boolean {
  const button = document.querySelector("dialog[open]")
    ? null
    : document.querySelector<HTMLButtonElement>("button[data-accept]");
  button?.click();
  return button !== null;
}

/** Shows the switch on the page of keys, which works in this browser only. */
export function startKeysSwitch(): void {
  const line = document.querySelector<HTMLElement>("[data-keys-switch]");
  const button = line?.querySelector("button");
  if (!line || !button) return;
  const show = () => button.setAttribute("aria-pressed", String(keysAreOn()));
  button.addEventListener("click", () => {
    setKeys(!keysAreOn());
    show();
  });
  show();
  line.hidden = false;
}

const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    target.matches("input:not([type=checkbox], [type=radio]), textarea, select, [role=textbox]") ||
    target.shadowRoot !== null);

/** @returns whether the key did something */
function press(key: string, at: number): boolean {
  if (at - startedAt < SEQUENCE_MS) {
    startedAt = Number.NEGATIVE_INFINITY;
    const place = PLACES[key];
    if (place !== undefined) location.assign(place);
    return place !== undefined;
  }
  if (key === "g") {
    startedAt = at;
    return true;
  }
  if (key === "?") location.assign("/console/help/keys");
  else if (key === "/") document.querySelector<HTMLElement>("#search")?.focus();
  else if (key === "j" || key === "k") moveRow(key === "j" ? 1 : -1);
  else if (key === "x") currentRow()?.querySelector<HTMLInputElement>("input[type=checkbox]")?.click();
  else if (key === "e") document.querySelector<HTMLAnchorElement>("a[data-edit]")?.click();
  else return false;
  return true;
}

const rows = (): Element[] => [...document.querySelectorAll("table.rows tbody tr")];
const currentRow = (): Element | null => document.activeElement?.closest("table.rows tbody tr") ?? null;

/** Focuses the first link of the next row, so that Enter opens it. */
function moveRow(step: number): void {
  const all = rows();
  const row = currentRow();
  const at = row ? all.indexOf(row) : -1;
  const next = all[at < 0 ? (step > 0 ? 0 : all.length - 1) : at + step];
  (next?.querySelector("a") ?? next?.querySelector("input"))?.focus();
}
