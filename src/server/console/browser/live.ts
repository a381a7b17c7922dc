// Live regions: each visible tab has one event stream. After an event the script reads the page again and swaps its regions, at
// most once in two seconds. A region that has the pointer or the focus is swapped after they have left it. Where rows would move, a
// button shows the new ones.
import { swapRegion, swapRegions } from "./regions.ts";
import { fetchPage, NotThisPage } from "./trusted-html.ts";

const EVENTS_PATH = "/admin/events";
const PAUSE_MS = 2_000;
/** Without a stream the page is read again this often. */
const POLL_MS = 30_000;
/** The form of a region with `data-check` is sent this often. */
const CHECK_MS = 60_000;

let stream: EventSource | undefined;
let polling: ReturnType<typeof setInterval> | undefined;
let isWaiting = false;
/** Regions that were not swapped because the reader was in them, with what swaps them later. */
const skipped = new Map<Element, () => void>();

/** Starts on pages with `data-live`. */
export function startLive(): void {
  startChecks();
  const wanted = document.body.dataset.live?.split(" ") ?? [];
  document.addEventListener("pointerout", swapLeftRegions);
  document.addEventListener("focusout", swapLeftRegions);
  if (wanted.length === 0) return;
  document.addEventListener("visibilitychange", () => {
    close();
    if (document.visibilityState !== "visible") return;
    open(wanted);
    void refresh(); // changes in the meantime caused no event
  });
  window.addEventListener("pagehide", close);
  if (document.visibilityState === "visible") open(wanted);
}

function open(wanted: readonly string[]): void {
  if (stream || polling) return;
  stream = new EventSource(EVENTS_PATH);
  for (const name of wanted) stream.addEventListener(name, refreshSoon);
  let isOpenAgain = false;
  stream.addEventListener("open", () => {
    if (isOpenAgain) refreshSoon();
    isOpenAgain = true;
  });
  stream.addEventListener("error", () => {
    if (stream?.readyState !== EventSource.CLOSED) return; // the browser tries again
    stream = undefined;
    polling ??= setInterval(() => void refresh(), POLL_MS);
  });
}

function close(): void {
  stream?.close();
  stream = undefined;
  clearInterval(polling);
  polling = undefined;
}

function refreshSoon(): void {
  if (isWaiting) return;
  isWaiting = true;
  setTimeout(() => {
    isWaiting = false;
    void refresh();
  }, PAUSE_MS);
}

/** Sends the forms of checks that a page does not make when it is only read: at once, and again while the page is visible. */
function startChecks(): void {
  if (!document.querySelector(CHECKED)) return;
  const check = () => {
    const form = document.querySelector<HTMLFormElement>(`${CHECKED} form`);
    if (!form || document.visibilityState !== "visible") return;
    const fields = [...new FormData(form)].flatMap(([name, value]) =>
      typeof value === "string" ? [[name, value]] : [],
    );
    const asked = fetchPage(form.getAttribute("action") ?? "", { form: new URLSearchParams(fields) });
    const show = () => void refresh(asked, { isMeant: (region) => region.matches(CHECKED), again: show });
    show();
  };
  check();
  setInterval(check, CHECK_MS);
}

const CHECKED = "[data-check]";

const isUnchecked = (region: Element): boolean => !region.matches(CHECKED);

const hasReader = (region: Element): boolean => region.matches(":hover, :focus-within");

/** The browser updates `:hover` and `:focus-within` after the event. */
function swapLeftRegions(): void {
  if (skipped.size === 0) return;
  setTimeout(() => {
    for (const [region, swap] of skipped) {
      if (hasReader(region)) continue;
      skipped.delete(region);
      swap();
    }
  });
}

/**
 * Swaps the regions of this page.
 * @param options.isMeant returns false for regions to leave unchanged
 * @param options.again is called when the reader has left a region that was not swapped
 */
async function refresh(
  asked = fetchPage(location.href),
  { isMeant = isUnchecked, again = refreshSoon } = {},
): Promise<void> {
  try {
    const { page } = await asked;
    const isFree = (region: Element, next: Element) => {
      if (!isMeant(region)) return false;
      skipped.delete(region);
      if (hasReader(region)) skipped.set(region, again);
      return !skipped.has(region) && !offerRows(region, next);
    };
    if (!swapRegions(page, isFree)) throw new NotThisPage(location.href);
    setStale(undefined);
  } catch {
    setStale(new Date().toLocaleTimeString());
  }
}

/**
 * A region with `data-rows` keeps its rows until the reader asks for the new ones, so that no row moves while it is read.
 * @returns whether the region has new rows; it then has a button that shows them
 */
function offerRows(region: Element, next: Element): boolean {
  const table = region.matches("[data-rows]") && region.querySelector("table");
  const added = [...next.querySelectorAll("tbody tr")].filter(({ id }) => !document.getElementById(id));
  if (!table || added.length === 0) return false;
  const button = region.querySelector<HTMLButtonElement>(".new-rows") ?? document.createElement("button");
  button.textContent = `${added.length} new`;
  if (button.isConnected) return true;
  button.type = "button";
  button.className = "button quiet new-rows";
  button.addEventListener("click", () => void showRows(region, button));
  table.before(button);
  return true;
}

async function showRows(region: Element, button: Element): Promise<void> {
  const { page } = await fetchPage(location.href);
  button.remove();
  const next = page.getElementById(region.id);
  if (next) swapRegion(region, next);
  region.querySelector("a")?.focus();
}

/** Shows that the data on the page is old. */
function setStale(since: string | undefined): void {
  const messages = document.getElementById("messages");
  const old = messages?.querySelector(".stale");
  if (since === undefined) old?.remove();
  else if (messages && !old) {
    const line = document.createElement("p");
    line.className = "notice attention stale";
    line.textContent = `Shown as of ${since}; live updates stopped.`;
    messages.append(line);
  }
}
