// What a soak looks at while it runs, minute by minute: memory, descriptors, files, the write-ahead log, and how long answers took.
// A figure is flat when its slope over the second half is: the first half warms up, and single minutes are disturbed.
import { readdirSync, statSync } from "node:fs";
import { median } from "../../bench/tools/compare.ts";
import { footprintOf } from "../footprint.ts";
import type { Site } from "../site.ts";

const LOOK_EVERY_MS = 1_000;
const MINUTE_MS = 60_000;
const MEBIBYTE = 2 ** 20;

export interface Minute {
  memoryMb: number;
  descriptors: number;
  /** files in the data directory */
  files: number;
  walMb: number;
  databaseMb: number;
  p99Ms: number;
  steps: number;
}

/** @returns the size in MB; 0 for a file that is not there */
const sizeMb = (file: string): number => (statSync(file, { throwIfNoEntry: false })?.size ?? 0) / MEBIBYTE;

/** Folders are not counted: those of stored bytes are made once for each beginning of a digest. */
const filesIn = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).filter((found) => found.isFile()).length;

const percentile99 = (figures: readonly number[]): number =>
  figures.toSorted((one, other) => one - other)[Math.floor(figures.length * 0.99)] ?? Number.NaN;

/** Collects a minute at a time. */
export class Minutes {
  readonly all: Minute[] = [];
  #memoryMb: number[] = [];
  #descriptors: number[] = [];
  #durationsMs: number[] = [];
  #steps = 0;
  #endsMs: number;
  readonly #timer: Timer;

  constructor(
    private readonly site: Pick<Site, "data" | "database">,
    private readonly pid: number,
    private readonly report: (minute: Minute) => void,
    private readonly minuteMs = MINUTE_MS,
  ) {
    this.#endsMs = performance.now() + minuteMs;
    this.#timer = setInterval(() => void this.#look(), Math.min(LOOK_EVERY_MS, minuteMs / 10));
  }

  /** @param durationMs undefined for a step that waits on purpose */
  step(durationMs: number | undefined): void {
    this.#steps += 1;
    if (durationMs !== undefined) this.#durationsMs.push(durationMs);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    const { memoryMb, descriptors } = await footprintOf(this.pid);
    this.#memoryMb.push(memoryMb);
    this.#descriptors.push(descriptors);
    if (performance.now() >= this.#endsMs) this.#end();
  }

  #end(): void {
    this.#endsMs += this.minuteMs;
    const minute: Minute = {
      memoryMb: median(this.#memoryMb),
      descriptors: median(this.#descriptors),
      files: filesIn(this.site.data),
      walMb: sizeMb(`${this.site.database}-wal`),
      databaseMb: sizeMb(this.site.database),
      p99Ms: percentile99(this.#durationsMs),
      steps: this.#steps,
    };
    [this.#memoryMb, this.#descriptors, this.#durationsMs, this.#steps] = [[], [], [], 0];
    this.all.push(minute);
    this.report(minute);
  }
}

/**
 * @param figures at the same distance from each other
 * @returns the median of the slopes between any two of them, which a few disturbed ones do not move; 0 of fewer than two
 */
export function slopeOf(figures: readonly number[]): number {
  const slopes = figures.flatMap((later, at) =>
    figures.slice(0, at).map((earlier, before) => (later - earlier) / (at - before)),
  );
  return slopes.length === 0 ? 0 : median(slopes);
}

export interface Trend {
  /** median in the second half */
  typical: number;
  /** what the slope adds over the second half */
  growth: number;
}

/** @param figures one of each minute @returns how it behaves in the second half */
export function trendOf(figures: readonly number[]): Trend {
  const late = figures.slice(Math.floor(figures.length / 2));
  return { typical: median(late), growth: slopeOf(late) * Math.max(0, late.length - 1) };
}
