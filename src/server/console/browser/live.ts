// Live regions: one event stream per visible tab. An event makes the script read the page again and swap its regions, at most
// once in two seconds, and never a region under the pointer or the focus.
import { swapRegions } from "./regions.ts";
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

/** Starts on pages with `data-live`. */
export function startLive(): void {
  startChecks();
  const wanted = document.body.dataset.live?.split(" ") ?? [];
  if (wanted.length === 0) return;
  const follow = () => {
    if (document.visibilityState === "visible") open(wanted);
    else close();
  };
  document.addEventListener("visibilitychange", follow);
  window.addEventListener("pagehide", close);
  follow();
}

function open(wanted: readonly string[]): void {
  if (stream || polling) return;
  stream = new EventSource(EVENTS_PATH);
  for (const name of wanted) stream.addEventListener(name, refreshSoon);
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

/** Asks for checks that the page alone does not make: at once, and again while the page is visible. */
function startChecks(): void {
  if (!document.querySelector(CHECKED)) return;
  const check = () => {
    const form = document.querySelector<HTMLFormElement>(`${CHECKED} form`);
    if (!form || document.visibilityState !== "visible") return;
    const fields = [...new FormData(form)].flatMap(([name, value]) =>
      typeof value === "string" ? [[name, value]] : [],
    );
    const asked = fetchPage(form.getAttribute("action") ?? "", { form: new URLSearchParams(fields) });
    void refresh(asked, (region) => region.matches(CHECKED));
  };
  check();
  setInterval(check, CHECK_MS);
}

const CHECKED = "[data-check]";

const isUnchecked = (region: Element): boolean => !region.matches(CHECKED);

/** @param isMeant leaves out regions for which it is false */
async function refresh(asked = fetchPage(location.href), isMeant = isUnchecked): Promise<void> {
  try {
    const { page } = await asked;
    const isFree = (region: Element) => isMeant(region) && !region.matches(":hover, :focus-within");
    if (!swapRegions(page, isFree)) throw new NotThisPage(location.href);
    setStale(undefined);
  } catch {
    setStale(new Date().toLocaleTimeString());
  }
}

/** Says so while the page shows old data. */
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
