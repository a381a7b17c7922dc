// The service as a real child process: started, called over its socket, and stopped.
import { productCommand, SHORT_LIVED } from "./cli/executable.ts";

export interface RunningService {
  baseUrl: string;
  pid: number;
  /** everything printed so far */
  stdout(): string;
  stderr(): string;
  /** the password that the first start printed */
  password(): string;
  /** Resolves when the log on stderr contains `text` that many times. */
  logged(text: string, times?: number): Promise<void>;
  signal(name: NodeJS.Signals): void;
  /** @returns the exit code */
  ended(): Promise<number>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface ServiceStart {
  args: readonly string[];
  env?: Readonly<Record<string, string>>;
  command?: readonly string[];
  cwd?: string;
  /** its output when it is ready, with the origin as its first group */
  ready?: RegExp;
}

/** Starts on a free port of 127.0.0.1 unless `args` say where; resolves when it listens. */
export async function startService({
  args,
  env = {},
  command = productCommand(),
  cwd,
  ready = /listens on .+\n {2}public +(\S+)\n/,
}: ServiceStart): Promise<RunningService> {
  const where = args.includes("--server-listen") ? [] : ["--server-listen", "127.0.0.1:0"];
  const child = Bun.spawn([...command, "serve", ...args, ...where], {
    env: { ...SHORT_LIVED, ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    ...(cwd !== undefined && { cwd }),
  });
  const stdout = follow(child.stdout);
  const stderr = follow(child.stderr);
  const [, baseUrl = ""] = await stdout.match(ready, child.exited, stderr.text);
  return {
    baseUrl,
    pid: child.pid,
    stdout: stdout.text,
    stderr: stderr.text,
    password: () => /Password, shown this once: (\S+)/.exec(stdout.text())?.[1] ?? "",
    logged: async (text, times = 1) => {
      await stderr.match(
        new RegExp(Array(times).fill(RegExp.escape(text)).join("[^]*")),
        child.exited,
        stderr.text,
      );
    },
    signal: (name) => child.kill(name),
    ended: () => child.exited,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

/** Collects the output of a stream, and lets tests wait for a line instead of for time to pass. */
export function follow(stream: ReadableStream<Uint8Array>) {
  let said = "";
  let wake = () => {};
  const decoder = new TextDecoder();
  void (async () => {
    for await (const chunk of stream) {
      said += decoder.decode(chunk, { stream: true });
      wake();
    }
  })();
  return {
    text: () => said,
    async match(pattern: RegExp, ended: Promise<number>, complaint: () => string): Promise<RegExpExecArray> {
      let code: number | undefined;
      void ended.then((exit) => {
        code = exit;
        wake();
      });
      for (;;) {
        const found = pattern.exec(said);
        if (found) return found;
        if (code !== undefined) throw new Error(`ended with ${code} before ${pattern}: ${complaint()}`);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}
