// Entry point of the thread that runs checkpoints. It opens the database for each checkpoint, so that the file can be
// restored or replaced between them. checkpoint-thread.ts starts it.
import { parentPort } from "node:worker_threads";
import { answer } from "../task-thread.ts";
import type { LogState } from "./checkpoints.ts";
import { openConnection } from "./connection.ts";

/** PASSIVE: every other kind makes writers or readers wait. */
function checkpoint(file: string): LogState {
  using connection = openConnection(file, { withoutCheckpoints: true });
  const state = connection.query<LogState, []>("PRAGMA wal_checkpoint(PASSIVE)").get();
  return state ?? { log: 0, checkpointed: 0 };
}

parentPort?.on("message", (file: string) => answer(() => checkpoint(file)));
