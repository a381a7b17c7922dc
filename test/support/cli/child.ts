// Starts real child processes for tests and communicates with them in lines. platform-child.ts has the operations of platform
// children.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { SHORT_LIVED } from "./executable.ts";

/** `nobody`: an ordinary user, to whom file permissions apply. */
export const NOBODY = 65_534;

/** Names the user that the child switches to before it does anything else. */
export const USER_VARIABLE = "QUARTERMASTER_TEST_USER";

/** Whether the tests may start children as another user. */
export const isRoot = process.getuid?.() === 0;

export interface Child {
  readonly pid: number;
  /** @returns the next line of its standard output, or undefined when it has ended */
  line(): Promise<string | undefined>;
  /** Closes its standard input: a child that waits for that continues. */
  goOn(): void;
  /** SIGKILL: no handler and no flush run. */
  kill(): void;
  /** Lets it continue. @returns the unread lines, and the exit code (null after a signal) */
  ended(): Promise<{ code: number | null; lines: string[]; errors: string }>;
}

export interface ChildOptions {
  /** command that runs the child, such as `unshare --mount` */
  wrapper?: readonly string[];
  /** runs as this user and group, when the tests run as root */
  userId?: number;
}

/** Starts test/support/cli/platform-child.ts with a verb and its arguments. */
export function startChild(verb: string, args: readonly string[], options: ChildOptions = {}): Child {
  const script = join(import.meta.dir, "platform-child.ts");
  const [command = process.execPath, ...rest] = [...(options.wrapper ?? []), process.execPath, script];
  // The child switches its user itself, once it runs: another user may have no access to the runtime or the checkout.
  const user = isRoot && options.userId !== undefined ? { [USER_VARIABLE]: String(options.userId) } : {};
  const child = spawn(command, [...rest, verb, ...args], {
    env: { ...process.env, ...SHORT_LIVED, ...user },
  });
  return speakWith(child);
}

function speakWith(child: ChildProcessWithoutNullStreams): Child {
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const exited = once(child, "exit");
  const errors = text(child.stderr);
  return {
    pid: child.pid ?? 0,
    line: async () => (await lines.next()).value,
    goOn: () => void child.stdin.end(),
    kill: () => void child.kill("SIGKILL"),
    ended: async () => {
      child.stdin.end();
      const unread = await Array.fromAsync({ [Symbol.asyncIterator]: () => lines });
      await exited;
      return { code: child.exitCode, lines: unread, errors: await errors };
    },
  };
}
