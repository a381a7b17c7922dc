// Private folders for temporary files, all in one folder of the data directory. Each is removed after the work. The next
// process removes folders of killed processes and ends the programs that still run there.
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { codeOf } from "../errors.ts";
import { isOwnProcessAlive, processesIn } from "../process-liveness.ts";

const NAME = /^work-(\d{1,10})-([0-9a-f]{8})-[0-9a-f-]{36}$/;
/** distinguishes our folders from those of a dead process with the same id, as in a restarted container */
const PROCESS_TAG = crypto.randomUUID().slice(0, 8);

export interface TemporaryFolder extends AsyncDisposable {
  path: string;
}

export class TemporaryFolders {
  /** @param directory created with the first folder */
  constructor(private readonly directory: string) {}

  /** Creates a folder that only this user may use; disposing it removes it. */
  async create(): Promise<TemporaryFolder> {
    const path = join(this.directory, `work-${process.pid}-${PROCESS_TAG}-${crypto.randomUUID()}`);
    await mkdir(path, { recursive: true, mode: 0o700 });
    return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
  }

  /** Removes folders of killed processes. @returns how many */
  async sweep(): Promise<number> {
    const names = await readdir(this.directory).catch((error: unknown) => {
      if (codeOf(error) === "ENOENT") return [];
      throw error;
    });
    const left = names.filter(isLeftover);
    for (const name of left) {
      const path = join(this.directory, name);
      for (const pid of processesIn(path)) kill(pid);
      await rm(path, { recursive: true, force: true });
    }
    return left.length;
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // it has ended
  }
}

function isLeftover(name: string): boolean {
  const [, pid, tag] = NAME.exec(name) ?? [];
  if (pid === undefined) return false;
  return Number(pid) === process.pid ? tag !== PROCESS_TAG : !isOwnProcessAlive(Number(pid));
}
