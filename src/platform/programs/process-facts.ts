// What the system knows about a running process of our own user (proc(5)).
import { readFileSync } from "node:fs";

export interface ProcessFacts {
  /** with which it was started; changes that it made itself are not seen */
  readonly environment: Readonly<Record<string, string>>;
  /** files and sockets that it may have open */
  readonly openFilesMax: number;
}

/** @returns undefined for a process that is gone or somebody else's, and on a system without /proc */
export function factsOf(processId: number): ProcessFacts | undefined {
  try {
    const environment = readFileSync(`/proc/${processId}/environ`, "utf8");
    const limits = readFileSync(`/proc/${processId}/limits`, "utf8");
    const [, soft = ""] = /^Max open files +(\S+)/m.exec(limits) ?? [];
    return {
      environment: Object.fromEntries(environment.split("\0").map(variableIn)),
      openFilesMax: soft === "unlimited" ? Number.POSITIVE_INFINITY : Number(soft),
    };
  } catch {
    return undefined;
  }
}

function variableIn(text: string): [name: string, value: string] {
  const [name = ""] = text.split("=", 1);
  return [name, text.slice(name.length + 1)];
}
