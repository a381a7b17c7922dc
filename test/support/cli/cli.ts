// Runs the command line as a real child process with a clean environment, with pipes or on a pseudo-terminal. executable.ts has the
// executable, cli-verbs.ts commands that exist only for tests.
import { join } from "node:path";
import { productCommand, SHORT_LIVED } from "./executable.ts";

const ROOT = join(import.meta.dir, "../../..");
/** the product with the commands of cli-verbs.ts */
export const TEST_COMMAND: readonly string[] = [
  process.execPath,
  join(ROOT, "test/support/cli/cli-child.ts"),
];

/** the product from its sources; it stops early in a command, until it gets a line: held-child.ts */
export const HELD_COMMAND: readonly string[] = [
  process.execPath,
  join(ROOT, "test/support/cli/held-child.ts"),
];

export interface CliOptions {
  /** the whole environment of the child except SHORT_LIVED; default: empty */
  env?: Readonly<Record<string, string>>;
  cwd?: string;
  /** standard input; default: closed and empty */
  stdin?: string;
  /** command that replaces the executable */
  command?: readonly string[];
}

export interface CliResult {
  stdout: string;
  stderr: string;
  exitCode: number;
}

/** Runs to the end with pipes; the run id in stderr is replaced by `<run>`. */
export async function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  const child = Bun.spawn([...(options.command ?? productCommand()), ...args], {
    cwd: options.cwd ?? ROOT,
    env: { ...SHORT_LIVED, ...options.env },
    stdin: new Blob([options.stdin ?? ""]),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([textOf(child.stdout), textOf(child.stderr)]);
  return { stdout, stderr: withoutRunId(stderr), exitCode: await child.exited };
}

const textOf = (stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> =>
  new Response(stream).text();

export interface TerminalOptions extends CliOptions {
  /** each `answer` is typed when `after` has appeared since the last one */
  answers?: readonly { readonly after: string; readonly answer: string }[];
  columns?: number;
}

/** Runs to the end on a pseudo-terminal; stdout and stderr come together, as a person sees them. */
export async function runOnTerminal(
  args: readonly string[],
  options: TerminalOptions = {},
): Promise<{ screen: string; exitCode: number }> {
  const waiting = [...(options.answers ?? [])];
  const decoder = new TextDecoder();
  let screen = "";
  let unread = 0;
  const child = Bun.spawn([...(options.command ?? productCommand()), ...args], {
    cwd: options.cwd ?? ROOT,
    env: { TERM: "xterm", ...SHORT_LIVED, ...options.env },
    terminal: {
      cols: options.columns ?? 80,
      rows: 24,
      data: (terminal, bytes) => {
        screen += decoder.decode(bytes, { stream: true });
        const next = waiting[0];
        if (next === undefined || !screen.slice(unread).includes(next.after)) return;
        unread = screen.length;
        waiting.shift();
        terminal.write(next.answer);
      },
    },
  });
  const exitCode = await child.exited;
  child.terminal?.close();
  return { screen: withoutRunId(screen).replaceAll("\r\n", "\n"), exitCode };
}

const withoutRunId = (text: string): string =>
  text.replace(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, "<run>");
