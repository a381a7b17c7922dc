// Shows the progress of long work on stderr: a bar or spinner on a terminal, otherwise a line every ten seconds.
// cli-progress and clack's progress bar were rejected: they show no rate and print into pipes.
import { type Clock, SECOND_MS } from "../../src/platform/clock.ts";
import { bytesText } from "../../src/platform/files/disk.ts";
import type { Context } from "../context.ts";

export interface ProgressOptions {
  /** the work, as a gerund: `importing packages` */
  readonly label: string;
  /** `bytes`, or the plural of the items: `entries` */
  readonly unit: string;
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
const BAR_CELLS_MIN = 8;
const SPINNER = "|/-\\";
const CLEAR_LINE = "\r\u001b[K";

/** Starts a progress display for work that may take long. */
export function startProgress(context: Context, options: ProgressOptions): Progress {
  const { stderr, clock } = context;
  const draw = stderr.isTTY
    ? createThrottle(clock, FRAME_MS, (state) => stderr.write(CLEAR_LINE + intactText(state, stderr.columns)))
    : createThrottle(clock, LINE_INTERVAL_MS, (state) => stderr.write(`${progressText(state)}\n`));
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

function createThrottle(clock: Clock, intervalMs: number, write: (state: State) => void) {
  let hasDrawn = false;
  let nextAtMs = clock.nowMs() + Math.max(QUIET_MS, intervalMs);
  return {
    hasDrawn: () => hasDrawn,
    refresh: (state: State) => {
      const nowMs = clock.nowMs();
      if (nowMs < nextAtMs) return;
      nextAtMs = nowMs + intervalMs;
      hasDrawn = true;
      write(state);
    },
  };
}

/** Cuts the text to one line, because a line that wraps cannot be cleared. */
function intactText(state: State, columns = 80): string {
  const limit = columns - 1;
  return cut(progressText(state, limit), limit);
}

/**
 * @param columns width of the line in cells; only the bar and then the label are shortened, never the amount with its unit
 * @returns one line: bar, percentage, amount and rate if the total is known, otherwise a spinner with amount and rate
 */
export function progressText(state: State, columns = Number.POSITIVE_INFINITY): string {
  const { label, unit, total, done, elapsedMs } = state;
  const rate = amountText((done * SECOND_MS) / Math.max(elapsedMs, 1), unit);
  if (total === undefined || total === 0) {
    const frame = SPINNER[Math.floor(elapsedMs / FRAME_MS) % SPINNER.length] ?? "";
    if (done === 0) return `${frame} ${cut(label, columns - frame.length - 1)}`;
    const amount = `: ${withUnit(amountText(done, unit), unit)}, ${rate}/s`;
    return `${frame} ${cut(label, columns - frame.length - 1 - amount.length)}${amount}`;
  }
  const share = Math.min(done / total, 1);
  const amounts = `${amountText(done, unit)} of ${withUnit(amountText(total, unit), unit)}, ${rate}/s`;
  const percent = `${Math.floor(share * 100)}% `;
  const room = columns - percent.length - amounts.length - ": ".length;
  const cells = Math.max(BAR_CELLS_MIN, Math.min(BAR_CELLS, room - label.length - "[] ".length));
  const bar = "#".repeat(Math.floor(share * cells)).padEnd(cells, ".");
  return `[${bar}] ${percent}${cut(label, room - cells - "[] ".length)}: ${amounts}`;
}

const BYTES = "bytes";

const amountText = (amount: number, unit: string): string =>
  unit === BYTES ? bytesText(amount) : String(Math.round(amount));

/** An amount of bytes has its own unit. */
const withUnit = (amount: string, unit: string): string => (unit === BYTES ? amount : `${amount} ${unit}`);

const cut = (text: string, columns: number): string => text.slice(0, Math.max(0, columns));
