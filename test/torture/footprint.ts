// The resources of a process, sample by sample: resident memory and open descriptors. Medians decide whether they are constant,
// because memory rises and falls with each collection.
import { readdirSync } from "node:fs";
import { residentMb } from "../bench/processes.ts";
import { median } from "../bench/tools/compare.ts";

const EVERY_MS = 1_000;

export interface Footprint {
  memoryMb: number;
  descriptors: number;
}

/** @returns its current resources */
export const footprintOf = async (pid: number): Promise<Footprint> => ({
  memoryMb: await residentMb(pid),
  descriptors: readdirSync(`/proc/${pid}/fd`).length,
});

/** Takes a sample each second. @returns a function that stops and returns the samples */
export function follow(pid: number): () => Footprint[] {
  const samples: Footprint[] = [];
  const timer = setInterval(() => void footprintOf(pid).then((sample) => samples.push(sample)), EVERY_MS);
  return () => {
    clearInterval(timer);
    return samples;
  };
}

/** @returns the medians of some samples */
export const typical = (samples: readonly Footprint[]): Footprint => ({
  memoryMb: median(samples.map(({ memoryMb }) => memoryMb)),
  descriptors: median(samples.map(({ descriptors }) => descriptors)),
});
