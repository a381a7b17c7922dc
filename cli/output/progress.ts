// Shows the progress of long work on stderr: a bar or spinner on a terminal, otherwise a line every ten seconds.
// cli-progress and clack's progress bar were rejected: they show no rate and print into pipes.
import { type Clock, SECOND_MS } from "../../src/platform/clock.ts";
import { bytesText } from "../../src/platform/files/disk.ts";
import type { Context } from "../context.ts";

export interface ProgressOptions {
  /** the work, as a gerund: `importing packages` */
  readonly label: string;
  readonly unit: "bytes" | "items";
  /** in `unit`; absent if unknown */
  readonly total?: number;
}

/** A running progress display; `using` or `end()` clears the bar. */
export interface Progress extends Disposable {
  /** @param amount done since the last call, in `unit` */
  advance(amount: number): void;
  end(): void;
}

/** Work shorter than this shows nothing. */
export const QUIET_MS = SECOND_MS;
export const LINE_INTERVAL_MS = 10 * SECOND_MS;
const FRAME_MS = 100;
const BAR_CELLS = 24;
const SPINNER = "|/-\\";
const CLEAR_LINE = "\r\u001b[K";

/** Starts a progress display for work that may take long. */
export function startProgress(context: Context, options: ProgressOptions): Progress {
  const { stderr, clock } = context;
  const draw = stderr.isTTY
    ? drawer(clock, FRAME_MS, (text) => stderr.write(CLEAR_LINE + cut(text, stderr.columns)))
    : drawer(clock, LINE_INTERVAL_MS, (text) => stderr.write(`${text}\n`));
  const startMs = clock.nowMs();
  let done = 0;
  const refresh = () => draw.refresh({ ...options, done, elapsedMs: clock.nowMs() - startMs });
  const timer = setInterval(refresh, FRAME_MS); // keeps the spinner moving during a long item
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

/** @returns one line: bar, percentage, amount and rate if the total is known, otherwise a spinner with amount and rate */
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

/** Cuts the text to one line, because a line that wraps cannot be cleared. */
const cut = (text: string, columns: number | undefined): string => text.slice(0, (columns ?? 80) - 1);
