// Tells on stderr how far long work is: a bar or spinner that redraws itself on a terminal, else a line now and then.
// cli-progress and clack's bar were looked at: neither shows a rate nor keeps quiet in a pipe.
import { type Clock, SECOND_MS } from "../../src/platform/clock.ts";
import { bytesText } from "../../src/platform/files/disk.ts";
import type { Context } from "../context.ts";

export interface ProgressOptions {
  /** what is being done: `importing packages` */
  readonly label: string;
  readonly unit: "bytes" | "items";
  /** in `unit`; left out when it is not known */
  readonly total?: number;
}

/** Work under way; `using` or `end()` clears the bar. */
export interface Progress extends Disposable {
  /** @param amount done since the last call, in the unit */
  advance(amount: number): void;
  end(): void;
}

/** shorter work shows nothing */
export const QUIET_MS = SECOND_MS;
export const LINE_INTERVAL_MS = 10 * SECOND_MS;
const FRAME_MS = 100;
const BAR_CELLS = 24;
const SPINNER = "|/-\\";
const CLEAR_LINE = "\r\u001b[K";

/** Begins to watch work that may take long. */
export function startProgress(context: Context, options: ProgressOptions): Progress {
  const { stderr, clock } = context;
  const draw = stderr.isTTY
    ? drawer(clock, FRAME_MS, (text) => stderr.write(CLEAR_LINE + cut(text, stderr.columns)))
    : drawer(clock, LINE_INTERVAL_MS, (text) => stderr.write(`${text}\n`));
  const startMs = clock.nowMs();
  let done = 0;
  const refresh = () => draw.refresh({ ...options, done, elapsedMs: clock.nowMs() - startMs });
  const timer = setInterval(refresh, FRAME_MS); // the spinner turns while a single item takes long
  const end = () => {
    clearInterval(timer);
    if (stderr.isTTY && draw.hasDrawn()) stderr.write(CLEAR_LINE);
  };
  return {
    advance: (amount) => {
      done += amount;
      refresh();
    },
    end,
    [Symbol.dispose]: end,
  };
}

interface State extends ProgressOptions {
  readonly done: number;
  readonly elapsedMs: number;
}

function drawer(clock: Clock, intervalMs: number, write: (text: string) => void) {
  let hasDrawn = false;
  let nextAtMs = clock.nowMs() + Math.max(QUIET_MS, intervalMs);
  return {
    hasDrawn: () => hasDrawn,
    refresh: (state: State) => {
      const nowMs = clock.nowMs();
      if (nowMs < nextAtMs) return;
      nextAtMs = nowMs + intervalMs;
      hasDrawn = true;
      write(progressText(state));
    },
  };
}

/** @returns one line: bar, share, amount and rate when the total is known, else a spinner with amount and rate */
export function progressText({ label, unit, total, done, elapsedMs }: State): string {
  const rate = amountText((done * SECOND_MS) / Math.max(elapsedMs, 1), unit);
  const amount = amountText(done, unit);
  if (total === undefined || total === 0) {
    const frame = SPINNER[Math.floor(elapsedMs / FRAME_MS) % SPINNER.length];
    return done === 0 ? `${frame} ${label}` : `${frame} ${label}: ${amount}, ${rate}/s`;
  }
  const share = Math.min(done / total, 1);
  const bar = "#".repeat(Math.floor(share * BAR_CELLS)).padEnd(BAR_CELLS, ".");
  return `[${bar}] ${Math.floor(share * 100)}% ${label}: ${amount} of ${amountText(total, unit)}, ${rate}/s`;
}

const amountText = (amount: number, unit: State["unit"]): string =>
  unit === "items" ? String(Math.round(amount)) : bytesText(amount);

/** A longer line would wrap, and a wrapped line cannot be cleared. */
const cut = (text: string, columns: number | undefined): string => text.slice(0, (columns ?? 80) - 1);
