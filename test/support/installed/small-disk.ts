// Runs the product on a small disk of its own, in its own mount namespace, so that no other process of the machine loses space.
import { spawnSync } from "node:child_process";
import { closeSync, openSync, writeSync } from "node:fs";
import { isRoot } from "../cli/child.ts";
import { productCommand } from "../cli/executable.ts";

const namespace = ["unshare", ...(isRoot ? ["--mount"] : ["--map-root-user", "--mount"])];

/**
 * @param size for mount, such as `32m`
 * @returns the command that runs a script with the small disk mounted on `directory`; `"$@"` is the product's command
 */
export const onSmallDisk = (directory: string, size: string, script: string): string[] => [
  ...namespace,
  "sh",
  "-c",
  `mount -t tmpfs -o size=${size} none '${directory}' && ${script}`,
  "sh",
  ...productCommand(),
];

const [command = "", ...rest] = onSmallDisk("/mnt", "1m", "true");
export const canMount = spawnSync(command, rest).status === 0;

/** Fills the disk completely. */
export function fill(file: string): void {
  const descriptor = openSync(file, "a");
  for (const bytes of [4096, 1]) {
    try {
      for (;;) writeSync(descriptor, Buffer.alloc(bytes));
    } catch {
      // no space left, as intended
    }
  }
  closeSync(descriptor);
}
