// `quartermaster serve`: runs the service until it is told to stop, and prints a short summary when it is ready.
// src/app/service/service.ts starts and stops the parts of the service in order.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Service, ServiceOptions } from "../../src/app/service/service.ts";
import type { Config } from "../../src/platform/config/config.ts";
import type { DomainError } from "../../src/platform/errors.ts";
import type { AdjustableLog, Log } from "../../src/platform/observe/log.ts";
import type { ManagerAddress, ServiceManager } from "../../src/platform/systemd/notify.ts";
import type { CliCommand } from "../command.ts";
import type { Context } from "../context.ts";
import { Interrupted, withFileContext } from "../exit.ts";
import { addSettingOptions, printWarnings, readSettings } from "../input/setting-options.ts";
import { ignoreBrokenPipe } from "../output/broken-output.ts";
import { isJournal } from "../output/journal.ts";
import { programName, shellWord } from "../output/program-name.ts";
import { planSummary } from "./catalog/plan-text.ts";

/** Adds the command to the command tree. */
export const register = (program: CliCommand, context: Context): CliCommand =>
  program
    .command("serve")
    .description(
      "Runs the service until SIGTERM or SIGINT; SIGHUP reloads log level, TLS files, catalog, policy, group roles and sign-in at the identity provider.",
    )
    .examples(
      "quartermaster serve --data-dir /var/lib/quartermaster",
      "quartermaster serve --config /etc/quartermaster/quartermaster.yaml",
      "quartermaster serve --catalog catalog.yaml --server-listen 127.0.0.1:9000",
    )
    .action((_options: unknown, self: CliCommand) => serve(context, self));

/** Adds the options to the command. */
export const addOptions = addSettingOptions;

async function serve(context: Context, command: CliCommand): Promise<void> {
  using hangup = hangups();
  const config = await readSettings(context, command);
  await takeRequestSlots(context, config);
  const stop = context.stopSignal();
  const { takeManagerAddress } = await import("../../src/platform/systemd/notify.ts");
  const address = takeManagerAddress(context.env, process.pid);
  printWarnings(config, context, command);
  ignoreBrokenPipe(context);
  const { startService } = await import("../../src/app/service/service.ts");
  const { Supervision } = await import("../../src/app/service/supervision.ts");
  using output = await createOutput(context, config);
  const { log } = output;
  using supervision = new Supervision({ manager: await managerAt(address, log), log });
  const { clock, ids } = context;
  const onBootstrap = createPasswordPrinter(output, context);
  const catalogFile = config.get("catalog.file") ?? config.file;
  const start = () => startService({ config, clock, ids, log, onBootstrap });
  const isPolicy = ({ reason }: DomainError) => reason.startsWith("governance.");
  const service = await withFileContext(catalogFile, () => withFileContext(config.file, start, isPolicy));
  try {
    supervision.ready(service.vitals);
    await announce(service, output, context);
    hangup.onSignal(() => {
      supervision
        .reload(() => service.reload())
        .catch((error: unknown) => log.error("service.reload_failed", { error }));
    });
    await aborted(stop);
    log.info("service.stopping");
    supervision.stopping();
  } finally {
    hangup.onSignal(() => {});
    await service.stop();
  }
  log.info("service.stopped");
}

/**
 * Starts this program again if it may send too few requests at the same time for the inference that it is to forward. Nothing is
 * open yet, and a signal still has its default action.
 */
async function takeRequestSlots({ env, stderr, restartWith }: Context, config: Config): Promise<void> {
  const { isProxyInProcess } = await import("../../src/app/installation/proxy-settings.ts");
  const { slotsIn, slotsNeeded, SLOTS_VARIABLE } = await import(
    "../../src/platform/outbound/request-slots.ts"
  );
  if (!isProxyInProcess(config)) return;
  const needed = slotsNeeded(config.get("gateway.proxy.max_in_flight"));
  if (slotsIn(env) >= needed) return;
  try {
    restartWith?.({ [SLOTS_VARIABLE]: String(needed) });
  } catch {
    stderr.write(
      `warning: inference is limited to ${slotsIn(env)} requests; set ${SLOTS_VARIABLE}=${needed}\n`,
    );
  }
}

/** Handles SIGHUP, which would otherwise end the process. A signal received before `onSignal` is delivered by that call. */
function hangups(): Disposable & { onSignal(reload: () => void): void } {
  let isWaiting = false;
  let reload = () => {
    isWaiting = true;
  };
  const listener = () => reload();
  process.on("SIGHUP", listener);
  return {
    onSignal(work) {
      reload = work;
      if (isWaiting) work();
      isWaiting = false;
    },
    [Symbol.dispose]: () => void process.off("SIGHUP", listener),
  };
}

/** @returns undefined without a service manager, or if it cannot be reached, which is logged */
async function managerAt(address: ManagerAddress | undefined, log: Log): Promise<ServiceManager | undefined> {
  if (!address) return undefined;
  const { openServiceManager } = await import("../../src/platform/systemd/notify.ts");
  try {
    return openServiceManager(address);
  } catch (error) {
    log.error("service_manager.unreachable", { error });
    return undefined;
  }
}

/** Resolves when the operator or the service manager asks the service to stop, so that it exits with 0. */
async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted)
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  if (!(signal.reason instanceof Interrupted)) throw signal.reason;
}

interface ServeOutput extends Disposable {
  log: AdjustableLog;
  /** whether stdout is for people instead of JSON lines */
  isText: boolean;
}

/** The log goes to stdout as JSON lines under systemd, otherwise to stderr as text, apart from the results on stdout. */
async function createOutput(context: Context, config: Config): Promise<ServeOutput> {
  const { stdout, stderr, clock } = context;
  const { createLog, bufferLines } = await import("../../src/platform/observe/log.ts");
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

/** @returns a callback that prints a generated password at once, because it is not stored and the start may still fail */
const createPasswordPrinter =
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

async function announce(service: Service, { log, isText }: ServeOutput, context: Context): Promise<void> {
  const { address, baseUrl, installation } = service;
  const { from, to, backup } = installation.schema;
  if (from !== 0 && from !== to) log.info("schema.upgraded", { from, to, copy: backup });
  log.info("service.started", { address, base_url: baseUrl, schema: to });
  if (isText) context.stdout.write(await linesFor(service, context));
}

async function linesFor(
  { address, baseUrl, bootstrap, installation, seeded }: Service,
  context: Context,
): Promise<string> {
  const { VERSION } = await import("../../src/platform/version.ts");
  const { directory, schema } = installation;
  const lines = [
    `Quartermaster ${VERSION} listens on ${address}`,
    `  public    ${baseUrl}`,
    `  data      ${directory.path} (schema ${schema.to})`,
    `  sign in   ${bootstrap.admin.email} at ${baseUrl}/login`,
    ...(seeded ? [`  catalog   ${planSummary(seeded)}`] : []),
    `  next      ${programName(context)} catalog list --data-dir ${shellWord(directory.path)}`,
  ];
  return `${lines.join("\n")}\n`;
}
