// Live regions: one event stream per visible tab. An event makes the script read the page again and swap its regions, at most
// once in two seconds, and never a region under the pointer or the focus.
import { swapRegions } from "./regions.ts";
import { fetchPage } from "./trusted-html.ts";

const EVENTS_PATH = "/admin/events";
const PAUSE_MS = 2_000;
/** Without a stream the page is read again this often. */
const POLL_MS = 30_000;

let stream: EventSource | undefined;
let polling: ReturnType<typeof setInterval> | undefined;
let isWaiting = false;

/** Starts on pages with `data-live`. */
export function startLive(): void {
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

async function refresh(): Promise<void> {
  try {
    const { page } = await fetchPage(location.href);
    swapRegions(page, (region) => !region.matches(":hover, :focus-within"));
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
