// The run of this program that makes the archive of a mirrored commit: reads the task from standard input, and writes the result or the
// error to standard output. repack-processes.ts starts it.
import { type Repacked, type RepackTask, repack } from "../../domain/catalog/mirroring/repack.ts";
import { yieldToRequests } from "../../platform/programs/priority.ts";
import { type Failure, failureOf } from "../../platform/task-thread.ts";

export type RepackAnswer = { result: Repacked } | Failure;

/** Does the task in standard input. */
export async function answerRepackTask(): Promise<void> {
  yieldToRequests();
  const task: RepackTask = await Bun.stdin.json();
  await Bun.write(Bun.stdout, JSON.stringify(await answerTo(task)));
}

async function answerTo(task: RepackTask): Promise<RepackAnswer> {
  try {
    return { result: await repack(task) };
  } catch (error) {
    return failureOf(error);
  }
}
