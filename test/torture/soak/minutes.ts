// The measurements of a soak in each minute: memory, descriptors, files, the write-ahead log, and latencies. growth.ts evaluates
// them.
import { readdirSync, statSync } from "node:fs";
import { MINUTE_MS, SECOND_MS } from "../../../src/platform/clock.ts";
import { median, quantile } from "../../bench/tools/compare.ts";
import { footprintOf } from "../footprint.ts";
import type { Site } from "../site.ts";

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

/** @returns the size in MB; 0 for a missing file */
const sizeMb = (file: string): number => (statSync(file, { throwIfNoEntry: false })?.size ?? 0) / MEBIBYTE;

/** Folders are not counted: a folder is created once for each prefix of a digest. */
const filesIn = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).filter((found) => found.isFile()).length;

/** Takes a sample each second, and reports each whole minute. */
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
  ) {
    this.#endsMs = performance.now() + MINUTE_MS;
    this.#timer = setInterval(() => void this.#look(), SECOND_MS);
  }

  /** Counts a step. @param durationMs undefined for a step that waits on purpose */
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
    this.#endsMs += MINUTE_MS;
    const minute: Minute = {
      memoryMb: median(this.#memoryMb),
      descriptors: median(this.#descriptors),
      files: filesIn(this.site.data),
      walMb: sizeMb(`${this.site.database}-wal`),
      databaseMb: sizeMb(this.site.database),
      p99Ms: quantile(this.#durationsMs, 0.99),
      steps: this.#steps,
    };
    [this.#memoryMb, this.#descriptors, this.#durationsMs, this.#steps] = [[], [], [], 0];
    this.all.push(minute);
    this.report(minute);
  }
}
