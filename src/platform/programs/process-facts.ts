// Reads the environment and limits of a running process of our own user (proc(5)).
import { readFileSync } from "node:fs";

export interface ProcessFacts {
  /** the environment at the start of the process, without its own later changes */
  readonly environment: Readonly<Record<string, string>>;
  /** soft limit of open files and sockets */
  readonly openFilesMax: number;
}

/** @returns undefined for a process that has ended or belongs to another user, and on a system without /proc */
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
