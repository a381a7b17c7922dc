// The process that makes the archive of a mirrored commit: reads the task from standard input, and writes the result or
// the error to standard output. mirroring.ts starts it in the folder of the task.
import { realpathSync } from "node:fs";
import { type Repacked, type RepackTask, repack } from "../../domain/catalog/mirroring/repack.ts";
import { yieldToRequests } from "../../platform/programs/priority.ts";
import { type Failure, failureOf } from "../../platform/task-thread.ts";

export type RepackResponse = { result: Repacked } | Failure;

const USAGE = 2;
const STARTED_BY_HAND = `error: only the service makes archives of commits in this way
hint:  run: quartermaster artifacts create --help
`;

/** Runs the task from standard input. @returns the exit code of the program */
export async function answerRepackTask(): Promise<number> {
  const task = taskIn(await Bun.stdin.text());
  if (!task) {
    process.stderr.write(STARTED_BY_HAND);
    return USAGE;
  }
  yieldToRequests();
  await Bun.write(Bun.stdout, JSON.stringify(await respondTo(task)));
  return 0;
}

/** @returns undefined unless the task belongs to this folder, so that nobody creates files elsewhere by mistake */
function taskIn(text: string): RepackTask | undefined {
  try {
    const task: RepackTask = JSON.parse(text);
    return realpathSync(task.folder) === process.cwd() ? task : undefined;
  } catch {
    return undefined;
  }
}

async function respondTo(task: RepackTask): Promise<RepackResponse> {
  try {
    return { result: await repack(task) };
  } catch (error) {
    return failureOf(error);
  }
}
