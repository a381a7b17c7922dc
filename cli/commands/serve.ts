// `quartermaster serve`: runs the service until it is told to stop, and says in a few lines what it is.
// Starting and stopping in order is src/service.ts.
import { writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { DomainError } from "../../src/domain/errors.ts";
import type { Config } from "../../src/platform/config.ts";
import type { Log } from "../../src/platform/log.ts";
import type { Service, ServiceOptions } from "../../src/service.ts";
import type { CliCommand } from "../command.ts";
import type { Context } from "../context.ts";
import { Interrupted, inFile } from "../exit.ts";
import { planInWords } from "../plan-text.ts";
import { addSettingOptions, loadSettings } from "../settings.ts";

/** Adds the command to the tree (operator-experience.md SVC-4, SVC-8). */
export function register(program: CliCommand, context: Context): void {
  const command = program
    .command("serve")
    .description(
      "Runs the service until SIGTERM or SIGINT; SIGHUP reads catalog, policy and group roles again.",
    )
    .examples(
      "quartermaster serve --data-dir /var/lib/quartermaster",
      "quartermaster serve --config /etc/quartermaster/quartermaster.yaml",
      "quartermaster serve --catalog catalog.yaml --server-listen 127.0.0.1:9000",
    )
    .action((_options: unknown, self: CliCommand) => serve(context, self));
  addSettingOptions(command);
}

async function serve(context: Context, command: CliCommand): Promise<void> {
  const stop = context.stopSignal();
  const config = await loadSettings(context, command);
  const { startService } = await import("../../src/service.ts");
  using voice = await voiceOf(context, config);
  const { log } = voice;
  const { clock, ids } = context;
  const onBootstrap = passwordTeller(voice, context);
  const catalogFile = config.get("catalog.file") ?? config.file;
  const start = () => startService({ config, clock, ids, log, onBootstrap });
  const isPolicy = ({ reason }: DomainError) => reason.startsWith("governance.");
  const service = await inFile(catalogFile, () => inFile(config.file, start, isPolicy));
  const reload = () =>
    void service.reload().catch((error: unknown) => log.error("catalog.failed", { error }));
  process.on("SIGHUP", reload);
  try {
    await announce(service, voice, context);
    await aborted(stop);
    log.info("service.stopping");
  } finally {
    process.off("SIGHUP", reload);
    await service.stop();
  }
  log.info("service.stopped");
}

/** Resolves when the operator or the service manager asks to stop: that is how a service ends well, with code 0. */
async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted)
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  if (!(signal.reason instanceof Interrupted)) throw signal.reason;
}

interface Voice extends Disposable {
  log: Log;
  /** whether stdout is for a person, and not for JSON lines */
  isText: boolean;
}

/** Under systemd the journal takes JSON from stdout; a person reads the log on stderr, beside the results on stdout. */
async function voiceOf({ env, stdout, stderr, clock }: Context, config: Config): Promise<Voice> {
  const { createLog, gatherLines } = await import("../../src/platform/log.ts");
  const journald = env.JOURNAL_STREAM !== undefined;
  const format = config.get("log.format");
  const isText = format === "text" || (format === "auto" && !journald);
  const stream = isText ? stderr : stdout;
  const { write, flush } = gatherLines((lines) => void stream.write(lines));
  process.on("exit", flush); // a bug may end the process within a turn
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

/** Where a generated password goes when stdout is a journal that many may read. */
const PASSWORD_FILE = "initial-admin-password";

/** @returns what shows a generated password at once: it is kept nowhere, and starting may still fail */
const passwordTeller =
  ({ log, isText }: Voice, { stdout }: Context): ServiceOptions["onBootstrap"] =>
  ({ admin, generatedPassword }, directory) => {
    if (!generatedPassword) return;
    if (isText) {
      stdout.write(`First administrator: ${admin.email}\n`);
      stdout.write(`Password, shown this once: ${generatedPassword.reveal()}\n`);
      return;
    }
    const path = join(directory.path, PASSWORD_FILE);
    writeFileSync(path, `${generatedPassword.reveal()}\n`, { mode: 0o600, flush: true });
    log.warning("bootstrap.password_generated", { path, advice: "read it, sign in, then remove the file" });
  };

async function announce(service: Service, { log, isText }: Voice, context: Context): Promise<void> {
  const { address, baseUrl, installation } = service;
  log.info("service.started", { address, base_url: baseUrl, schema: installation.schema.to });
  if (isText) context.stdout.write(await linesFor(service));
}

async function linesFor({ baseUrl, bootstrap, installation, seeded }: Service): Promise<string> {
  const { VERSION } = await import("../../src/platform/version.ts");
  const { directory, schema } = installation;
  const lines = [
    `Quartermaster ${VERSION} listens on ${baseUrl}`,
    `  data      ${directory.path} (schema ${schema.to})`,
    `  sign in   ${bootstrap.admin.email} at ${baseUrl}/login`,
    ...(seeded ? [`  catalog   ${planInWords(seeded)}`] : []),
    `  next      ${programName()} catalog list --data-dir ${directory.path}`,
  ];
  return `${lines.join("\n")}\n`;
}

/** From source the program has no name of its own, and whoever came by npx has no `bun` to call. */
const programName = (): string =>
  Bun.isStandaloneExecutable ? basename(process.execPath) : `npx -y bun@${Bun.version} src/main.ts`;
