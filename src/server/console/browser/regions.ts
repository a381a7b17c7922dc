// Swaps the region of a list when its filters, order or page change, and updates the address in the browser's bar.
import { Idiomorph } from "idiomorph";
import { fetchPage } from "./trusted-html.ts";

let running: AbortController | undefined;

/** Handles links and forms inside regions. Those with `data-plain` navigate as usual. */
export function startRegions(): void {
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (!link || event.defaultPrevented || hasModifier(event) || !isSwapLink(link)) return;
    event.preventDefault();
    void goTo(link.href);
  });
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || !form.matches("[data-swap]")) return;
    event.preventDefault();
    const query = new URLSearchParams();
    for (const [name, value] of new FormData(form))
      if (typeof value === "string" && value !== "") query.append(name, value);
    // Not form.action: a field named `action` would hide it.
    void goTo(`${form.getAttribute("action") ?? ""}${query.size > 0 ? `?${query}` : ""}`);
  });
  window.addEventListener("popstate", () => void show(location.href));
}

const hasModifier = (event: MouseEvent): boolean =>
  event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;

const isSwapLink = (link: HTMLAnchorElement): boolean =>
  link.closest("[data-region]") !== null &&
  link.pathname === location.pathname &&
  link.origin === location.origin &&
  !link.hasAttribute("download") &&
  !link.hasAttribute("data-plain") &&
  link.hash === "";

async function goTo(address: string): Promise<void> {
  const shown = await show(address);
  if (shown !== undefined) history.pushState(null, "", shown);
}

/** Shows the regions of an address. @returns the address to put into the bar; undefined if the browser navigates by itself */
async function show(address: string): Promise<string | undefined> {
  running?.abort();
  const own = new AbortController();
  running = own;
  const regions = [...document.querySelectorAll("[data-region]")];
  for (const region of regions) region.setAttribute("aria-busy", "true");
  try {
    const { page, url } = await fetchPage(address, { signal: own.signal });
    if (!swapRegions(page)) throw new Error("no region in common");
    document.title = page.title;
    return url;
  } catch {
    if (!own.signal.aborted) location.assign(address);
    return undefined;
  } finally {
    for (const region of regions) region.removeAttribute("aria-busy");
  }
}

/**
 * Replaces the regions of this document with the regions of another document. Focus and typed text stay.
 * @param isFree returns false for regions to leave unchanged
 * @returns whether the documents have regions in common
 */
export function swapRegions(
  page: Document,
  isFree: (region: Element, next: Element) => boolean = () => true,
): boolean {
  let isAny = false;
  for (const region of document.querySelectorAll("[data-region]")) {
    const next = region.id === "" ? null : page.getElementById(region.id);
    if (!next) continue;
    isAny = true;
    if (isFree(region, next)) swapRegion(region, next);
  }
  return isAny;
}

/** Replaces one region by its successor. A field that is being edited keeps its value; a link that has the focus gets its new text. */
export function swapRegion(region: Element, next: Element): void {
  const ignoreActiveValue = document.activeElement?.matches("input, textarea, select") ?? false;
  void Idiomorph.morph(region, next, { morphStyle: "outerHTML", ignoreActiveValue });
}
