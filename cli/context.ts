// What every command receives instead of process.*: streams, environment, time, randomness, hashing costs, and the stop signal.
// Tests pass their own. Commands print through output.ts and read settings through setting-options.ts.
import type { Readable, Writable } from "node:stream";
import type { PerformTask } from "../src/app/backup/backup-task.ts";
import { type Clock, systemClock } from "../src/platform/clock.ts";
import type { PassphraseCost } from "../src/platform/crypto/key-file.ts";
import type { PasswordCost } from "../src/platform/crypto/passwords.ts";
import { type Ids, systemIds } from "../src/platform/ids.ts";
import { restartWith } from "../src/platform/programs/restart.ts";
import { Interrupted } from "./exit.ts";

type InputStream = Readable & { readonly isTTY?: boolean };
export type OutputStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

export interface Context {
  readonly stdin: InputStream;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** child processes inherit this object, so variables deleted from it do not reach them */
  readonly env: Record<string, string | undefined>;
  /** absolute path */
  readonly cwd: string;
  /** the user who started the command; the process may later switch to the owner of the data directory */
  readonly userId: number | undefined;
  readonly clock: Clock;
  readonly ids: Ids;
  /** hashing cost of passwords, and of key-file passphrases; the product's defaults when absent */
  readonly passwordCost?: PasswordCost;
  readonly passphraseCost?: PassphraseCost;
  /** runs the tasks of backups here; threads run them when absent */
  readonly performTask?: PerformTask;
  /** identifies this run in error messages and audit entries */
  readonly runId: string;
  /**
   * The first call installs handlers for SIGINT and SIGTERM: the first signal aborts the returned AbortSignal with an
   * `Interrupted` reason, the second one exits immediately. Without a call, the default action of the operating system applies.
   */
  stopSignal(): AbortSignal;
  /** Starts this program again in the same process with further variables: see restart.ts. Undefined in tests. */
  restartWith?(variables: Readonly<Record<string, string>>): void;
}

/** @returns the context of the current process */
export function processContext(): Context {
  let stop: AbortSignal | undefined;
  return {
    get stdin() {
      return process.stdin; // opened lazily: it is slow, and most commands do not read it
    },
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    cwd: process.cwd(),
    userId: process.getuid?.(),
    clock: systemClock,
    ids: systemIds,
    runId: systemIds.uuid(),
    restartWith,
    stopSignal: () => {
      stop ??= listenForSignals();
      return stop;
    },
  };
}

function listenForSignals(): AbortSignal {
  const controller = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    process.on(name, () => {
      const interrupted = new Interrupted(name);
      if (controller.signal.aborted) process.exit(interrupted.exitCode);
      controller.abort(interrupted);
    });
  }
  return controller.signal;
}
