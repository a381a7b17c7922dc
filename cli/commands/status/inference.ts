// Formats which process forwards inference on its own listener: the service or a second process.
import { toRfc3339 } from "../../../src/platform/clock.ts";
import type { LockHolder } from "../../../src/platform/data-directory/process-lock.ts";
import { ageText } from "../../output/age.ts";
import { type Fact, timeOf } from "../../output/details.ts";
import type { Machine } from "./read.ts";

type Standing = Pick<Machine, "inference" | "server">;

const START_PROXY = "start `quartermaster serve --only proxy`";

/** @returns nothing unless the installation forwards on its own listener */
export function inferenceFacts({ inference, server }: Standing, nowMs: number): Fact[] {
  if (!inference) return [];
  const { forwarder } = inference;
  if (forwarder === undefined) return [["inference", `no process forwards it; ${START_PROXY}`]];
  if (forwarder === "unknown") return [["inference", "forwarded"]];
  if (isSame(forwarder, server)) return [["inference", "forwarded by the service"]];
  const { processId, sinceMs } = forwarder;
  const since = `since ${toRfc3339(sinceMs)} (${ageText(sinceMs, nowMs)})`;
  return [["inference", `forwarded by a separate process ${since}, process ${processId}`]];
}

/** @returns null where `inferenceFacts` returns nothing */
export function inferenceDocument({ inference, server }: Standing): object | null {
  if (!inference) return null;
  const { forwarder } = inference;
  const known = forwarder === "unknown" ? undefined : forwarder;
  return {
    running: forwarder !== undefined,
    process_id: known?.processId ?? null,
    since: timeOf(known?.sinceMs ?? null),
    is_own_process: known ? !isSame(known, server) : null,
  };
}

const isSame = ({ processId }: LockHolder, server: Machine["server"]): boolean =>
  server !== undefined && server !== "unknown" && server.processId === processId;
