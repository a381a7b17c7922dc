// Makes the archives of mirrored commits in a process of their own, one at a time. Compressing takes one processor for seconds, and
// some ten megabytes that a thread would leave behind in the service. The process is another run of this program:
// repack-program.ts.
import { join } from "node:path";
import pLimit from "p-limit";
import { sourceFault } from "../../domain/catalog/connections/faults.ts";
import type { Repacked, RepackTask, RunRepack } from "../../domain/catalog/mirroring/repack.ts";
import { DomainError } from "../../platform/errors.ts";
import { runProgram } from "../../platform/programs/program.ts";
import { errorIn } from "../../platform/task-thread.ts";
import { REPACK_ARGUMENT } from "./repack-argument.ts";
import type { RepackAnswer } from "./repack-program.ts";

/** Processes at the same time. */
const PROCESSES_MAX = 1;
/** Paths of the largest archive, several times. */
const ANSWER_BYTES_MAX = 64 * 1024 ** 2;
const ERROR_BYTES_KEPT = 16 * 1024;

/** @returns a function that runs tasks; a service needs one */
export function createRepackProcesses(): RunRepack {
  const limit = pLimit(PROCESSES_MAX);
  return (task, { signal }) => limit(() => run(task, signal));
}

async function run(task: RepackTask, signal: AbortSignal): Promise<Repacked> {
  const [path = "", ...args] = ownProgram();
  const program = {
    path,
    args: [...args, REPACK_ARGUMENT],
    environment: {},
    input: JSON.stringify(task),
    directory: task.folder,
    workingDirectory: task.folder, // ended with the folder if this process is killed
    outputBytesMax: ANSWER_BYTES_MAX,
    errorBytesMax: ERROR_BYTES_KEPT,
  };
  try {
    const { exitCode, output, errors } = await runProgram(program, signal);
    if (exitCode === null) throw sourceFault("interrupted");
    if (exitCode !== 0) throw new Error(`the archive was not made: ${Buffer.from(errors).toString()}`);
    return resultIn(JSON.parse(Buffer.from(output).toString()));
  } catch (error) {
    throw error instanceof DomainError && error.reason === "program.too_slow"
      ? sourceFault("unfinished")
      : error;
  }
}

function resultIn(answer: RepackAnswer): Repacked {
  if ("result" in answer) return answer.result;
  throw errorIn(answer);
}

/** The file that runs, also after an upgrade has put another one in its place, and the script if it is the runtime. */
const ownProgram = (): string[] => [
  process.platform === "linux" ? `/proc/${process.pid}/exe` : process.execPath,
  ...(Bun.isStandaloneExecutable ? [] : [join(import.meta.dir, "../../main.ts")]),
];
