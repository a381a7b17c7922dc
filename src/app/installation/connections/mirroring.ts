// Provides what the domain needs for mirroring repositories, from the data directory and the options of the process.
import { join } from "node:path";
import pLimit from "p-limit";
import { sourceFault } from "../../../domain/catalog/connections/errors.ts";
import type { Repacked, RepackTask, RunRepack } from "../../../domain/catalog/mirroring/repack.ts";
import type { Mirroring } from "../../../domain/catalog/service.ts";
import type { DataDirectory } from "../../../platform/data-directory/data-directory.ts";
import { DomainError } from "../../../platform/errors.ts";
import { TemporaryFolders } from "../../../platform/files/temporary-folders.ts";
import { runProgram } from "../../../platform/programs/program.ts";
import { errorIn } from "../../../platform/task-thread.ts";
import { REPACK_ARGUMENT } from "../../sources/repack-argument.ts";
import type { RepackResponse } from "../../sources/repack-program.ts";
import type { ConfiguredConnections } from "./configured-connections.ts";

/** Maximum number of simultaneous processes. */
const PROCESSES_MAX = 1;
/** Several times the paths of the largest archive. */
const RESPONSE_BYTES_MAX = 64 * 1024 ** 2;
const ERROR_BYTES_KEPT = 16 * 1024;

/**
 * Makes the archives of mirrored commits in a separate process (repack-program.ts). Compressing uses a processor for
 * seconds, and a thread would permanently add about ten megabytes to the service.
 * @returns a function that runs tasks; a service needs one
 */
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
    outputBytesMax: RESPONSE_BYTES_MAX,
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

function resultIn(response: RepackResponse): Repacked {
  if ("result" in response) return response.result;
  throw errorIn(response);
}

/** The running file, even after an upgrade has replaced it, and the script if that file is the runtime. */
const ownProgram = (): string[] => [
  process.platform === "linux" ? `/proc/${process.pid}/exe` : process.execPath,
  ...(Bun.isStandaloneExecutable ? [] : [join(import.meta.dir, "../../../main.ts")]),
];

export const mirroringOf = (
  { sources }: Pick<DataDirectory, "sources">,
  connections: ConfiguredConnections,
  { observeSource }: Pick<Mirroring, "observeSource">,
): Mirroring => ({
  connections,
  folders: new TemporaryFolders(sources),
  observeSource,
  repack: createRepackProcesses(),
  findGit: () => Bun.which("git") ?? undefined,
});
