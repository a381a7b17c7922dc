// Live regions: each visible tab has one event stream. After an event the script reads the page again and swaps its
// regions, at most once in two seconds. A region that has the pointer or the focus is swapped after they leave. Where
// rows would move, a button shows the new ones. Without a stream, the page is read at intervals, and a notice says so.
import { swapRegion, swapRegions } from "./regions.ts";
import { fetchPage, NotThisPage } from "./trusted-html.ts";

const EVENTS_PATH = "/console/events";
const PAUSE_MS = 2_000;
/** Interval at which a page without a stream is read again and a refused stream is requested again. */
const POLL_MS = 30_000;
/** A stream may be down this long without a notice: the service makes browsers reconnect within 10 seconds. */
const LOST_MS = 12_000;
/** Interval at which the form of a region with `data-check` is sent. */
const CHECK_MS = 60_000;

let stream: EventSource | undefined;
let polling: ReturnType<typeof setInterval> | undefined;
/** Runs while the stream is down, until the notice is due. */
let losing: ReturnType<typeof setTimeout> | undefined;
let isLost = false;
let isWaiting = false;
/** when the data on the page was read */
let readAt = new Date();
/** Regions that were not swapped because the reader was in them, with the functions that swap them later. */
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
  if (stream) return;
  stream = new EventSource(EVENTS_PATH);
  for (const name of wanted) stream.addEventListener(name, refreshSoon);
  stream.addEventListener("open", () => {
    if (!polling) return;
    stopPolling();
    refreshSoon(); // changes in the meantime caused no event
  });
  stream.addEventListener("error", () => {
    if (stream?.readyState === EventSource.CLOSED) stream = undefined; // refused; otherwise the browser tries again
    if (polling) return;
    polling = setInterval(() => {
      open(wanted);
      void refresh();
    }, POLL_MS);
    losing = setTimeout(() => {
      isLost = true;
      void refresh();
    }, LOST_MS);
    refreshSoon(); // shows immediately whether the service answers
  });
}

function close(): void {
  stream?.close();
  stream = undefined;
  stopPolling();
}

function stopPolling(): void {
  clearInterval(polling);
  clearTimeout(losing);
  polling = undefined;
  isLost = false;
}

function refreshSoon(): void {
  if (isWaiting) return;
  isWaiting = true;
  setTimeout(() => {
    isWaiting = false;
    void refresh();
  }, PAUSE_MS);
}

/** Sends the forms of checks that loading a page does not run: immediately, and repeatedly while the page is visible. */
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
    readAt = new Date();
    setStale(isLost ? "polling" : undefined);
  } catch (error) {
    setStale(error instanceof NotThisPage ? "ended" : "unreachable");
  }
}

/**
 * A region with `data-rows` keeps its rows until the reader requests the new ones, so that no row moves under the
 * reader.
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

/** Reasons for missing live updates. The link beside the reason opens this page again, which may lead to the sign-in page. */
const STALE = {
  polling: ["This page refreshes every 30 seconds until they are available again.", "Reload this page"],
  unreachable: ["The service does not answer. This page asks again every 30 seconds.", "Reload this page"],
  ended: ["Your session has ended, or you may no longer read this page.", "Sign in again"],
} as const;

/** Shows the age of outdated data, the reason and a remedy; removes the notice when the data is current. */
function setStale(why: keyof typeof STALE | undefined): void {
  const messages = document.getElementById("messages");
  const old = messages?.querySelector<HTMLElement>(".stale");
  if (!messages || old?.dataset.why === why) return;
  old?.remove();
  if (why === undefined) return;
  const [reason, action] = STALE[why];
  const at = readAt.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", timeZoneName: "short" });
  const line = document.createElement("p");
  line.className = "notice attention stale";
  line.dataset.why = why;
  const link = document.createElement("a");
  link.href = location.href;
  link.textContent = action;
  line.append(`Shown as of ${at}, live updates stopped. ${reason} `, link);
  messages.append(line);
}
