// The memory limits of this process, for the message that memory is exhausted.
import { readFileSync } from "node:fs";
import { sqliteErrorIn } from "../database/storage-errors.ts";
import { bytesText } from "../files/disk.ts";

/**
 * Recognizes the engine's RangeError, its error when a thread gets no stack, and the codes of SQLite and the system.
 * @returns whether memory was exhausted
 */
export const isOutOfMemory = (error: unknown): boolean =>
  /^(?:ENOMEM|SQLITE_(?:IOERR_)?NOMEM)$/.test(Object(sqliteErrorIn(error) ?? error).code) ||
  (error instanceof RangeError && /out of memory/i.test(error.message)) ||
  (error instanceof TypeError && error.message === "Failed to spawn worker thread");

/** @returns the limits of this process as a text */
export const memoryLimitText = (): string =>
  `the memory limit is ${memoryLimits().join(", ") || "that of the machine"}`;

/**
 * @param root of the file system; tests use their own
 * @returns each limit with its name and size, as `memory.max of the control group: 512.0 MiB`; empty without a limit
 */
export function memoryLimits(root = ""): string[] {
  return [...groupLimit(root), ...processLimits(root)];
}

/** Uses the nearest control group with a limit, although a group above it may have one too. */
function groupLimit(root: string): string[] {
  const [, group = "/"] = /^0::(\/.*)$/m.exec(textOf(`${root}/proc/self/cgroup`)) ?? [];
  const parts = group.split("/").filter((part) => part !== "");
  for (let depth = parts.length; depth >= 0; depth -= 1) {
    const folder = [`${root}/sys/fs/cgroup`, ...parts.slice(0, depth)].join("/");
    const bytes = Number.parseInt(textOf(`${folder}/memory.max`), 10);
    if (!Number.isNaN(bytes)) return [`memory.max of the control group: ${bytesText(bytes)}`];
  }
  return [];
}

const NAMES = { "Max address space": "ulimit -v", "Max data size": "ulimit -d" } as const;

function processLimits(root: string): string[] {
  const text = textOf(`${root}/proc/self/limits`);
  return Object.entries(NAMES).flatMap(([name, command]) => {
    const [, bytes] = new RegExp(`^${name}\\s+(\\d+)`, "m").exec(text) ?? [];
    return bytes === undefined ? [] : [`${command}: ${bytesText(Number(bytes))}`];
  });
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return ""; // another system, or a container without it
  }
}
