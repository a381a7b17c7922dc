// Chooses where `serve` writes its log, its results, and a generated password, which is shown once.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ServiceOptions } from "../../../src/app/service/service.ts";
import type { Config } from "../../../src/platform/config/config.ts";
import type { AdjustableLog } from "../../../src/platform/observe/log.ts";
import type { Context } from "../../context.ts";
import { isJournal } from "../../output/journal.ts";

export interface ServeOutput extends Disposable {
  log: AdjustableLog;
  /** whether stdout is for people instead of JSON lines */
  isText: boolean;
}

/** The log goes to stdout as JSON lines under systemd, otherwise to stderr as text, apart from the results on stdout. */
export async function createOutput(context: Context, config: Config): Promise<ServeOutput> {
  const { stdout, stderr, clock } = context;
  const { createLog, bufferLines } = await import("../../../src/platform/observe/log.ts");
  const journald = isJournal(context);
  const format = config.get("log.format");
  const isText = format === "text" || (format === "auto" && !journald);
  const stream = isText ? stderr : stdout;
  const { write, flush } = bufferLines((lines) => void stream.write(lines));
  process.on("exit", flush); // an uncaught error may end the process before the next flush
  const log = createLog({
    level: config.get("log.level"),
    format: isText ? "text" : "json",
    write,
    clock,
    journald,
  });
  const dispose = () => {
    process.off("exit", flush);
    flush();
  };
  return { log, isText, [Symbol.dispose]: dispose };
}

/** File for a generated password when stdout is a journal that other users can read. */
const PASSWORD_FILE = "initial-admin-password";

/** @returns a callback that prints a generated password immediately, because it is not stored and the start may still fail */
export const createPasswordPrinter =
  ({ log, isText }: ServeOutput, { stdout }: Context): ServiceOptions["onBootstrap"] =>
  ({ admin, generatedPassword }, directory) => {
    if (!generatedPassword) return;
    if (isText) {
      stdout.write(`First administrator: ${admin.email}\n`);
      stdout.write(`Password, shown this once: ${generatedPassword.reveal()}\n`);
      return;
    }
    const path = join(directory.path, PASSWORD_FILE);
    rmSync(path, { force: true }); // a symbolic link at this path must not be followed
    writeFileSync(path, `${generatedPassword.reveal()}\n`, { mode: 0o600, flush: true, flag: "wx" });
    log.warning("bootstrap.password_generated", { path, advice: "read it, sign in, then remove the file" });
  };
