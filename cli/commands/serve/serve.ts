// `quartermaster serve`: runs the service, or one part of it, until it receives a stop signal, and prints a short summary when
// it is ready. src/app/service/ starts and stops the parts of the service in order; announcement.ts has the summary.
import type { Part } from "../../../src/app/service/divided/division.ts";
import type { Liveness } from "../../../src/app/service/supervision.ts";
import type { Config } from "../../../src/platform/config/config.ts";
import type { DomainError } from "../../../src/platform/errors.ts";
import type { Log } from "../../../src/platform/observe/log.ts";
import type { ManagerAddress, ServiceManager } from "../../../src/platform/systemd/notify.ts";
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { Interrupted, withFileContext } from "../../exit.ts";
import { choiceOption, PART_CHOICES } from "../../input/choices.ts";
import { addSettingOptions, printWarnings, readSettings } from "../../input/setting-options.ts";
import { ignoreBrokenPipe } from "../../output/broken-output.ts";
import { createOutput, createPasswordPrinter, type ServeOutput } from "./output.ts";

export const register = (program: CliCommand, context: Context): CliCommand =>
  program
    .command("serve")
    .description(
      "Runs the service until SIGTERM or SIGINT; SIGHUP reloads log level, TLS files, catalog, policy, repository connections, group roles and sign-in at the identity provider.",
    )
    .examples(
      "quartermaster serve --data-dir /var/lib/quartermaster",
      "quartermaster serve --config quartermaster.yaml --only proxy",
      "quartermaster serve --catalog catalog.yaml --server-listen 127.0.0.1:9000",
    )
    .addOption(
      choiceOption("--only <part>", "run one part of a service that uses two processes", PART_CHOICES),
    )
    .action((options: Options, self: CliCommand) => serve(context, self, options.only));

interface Options {
  only?: Part;
}

export const addOptions = addSettingOptions;

/** The work of this process. */
interface Running {
  liveness: Liveness;
  /** resolves with the error that ends this process */
  invalidated?: Promise<DomainError>;
  announce(output: ServeOutput): Promise<void>;
  reload(): Promise<void>;
  stop(): Promise<void>;
}

async function serve(context: Context, command: CliCommand, only: Part | undefined): Promise<void> {
  using hangups = listenForHangup();
  const config = await readSettings(context, command);
  if (only !== "control") await takeRequestSlots(context, config);
  const stop = context.stopSignal();
  const { takeManagerAddress } = await import("../../../src/platform/systemd/notify.ts");
  const address = takeManagerAddress(context.env, process.pid);
  printWarnings(config, context, command);
  ignoreBrokenPipe(context);
  const { Supervision } = await import("../../../src/app/service/supervision.ts");
  using output = await createOutput(context, config);
  const { log } = output;
  using supervision = new Supervision({ manager: await managerAt(address, log), log });
  const service = await (only === "proxy"
    ? startForwarding(context, config, output)
    : startMainService(context, config, { output, only }));
  try {
    supervision.ready(service.liveness);
    await service.announce(output);
    hangups.onSignal(() => {
      supervision
        .reload(() => service.reload())
        .catch((error: unknown) => log.error("service.reload_failed", { error }));
    });
    await Promise.race([aborted(stop), invalidation(service, log)]);
    log.info("service.stopping");
    supervision.stopping();
  } finally {
    hangups.onSignal(() => {});
    await service.stop();
  }
  log.info("service.stopped");
}

async function startMainService(
  context: Context,
  config: Config,
  { output, only }: { output: ServeOutput; only: "control" | undefined },
): Promise<Running> {
  const { startService } = await import("../../../src/app/service/service.ts");
  const { announceService } = await import("./announcement.ts");
  const { clock, ids } = context;
  const onBootstrap = createPasswordPrinter(output, context);
  const catalogFile = config.get("catalog.file") ?? config.file;
  const start = () => startService({ config, clock, ids, log: output.log, onBootstrap, only });
  const isPolicy = ({ reason }: DomainError) => reason.startsWith("governance.");
  const service = await withFileContext(catalogFile, () => withFileContext(config.file, start, isPolicy));
  return { ...service, announce: (to) => announceService({ ...service, only }, to, context) };
}

async function startForwarding(context: Context, config: Config, { log }: ServeOutput): Promise<Running> {
  const { startProxyService } = await import("../../../src/app/service/divided/proxy-service.ts");
  const { announceProxy } = await import("./announcement.ts");
  const { clock, ids } = context;
  const service = await startProxyService({ config, clock, ids, log });
  return { ...service, announce: (to) => announceProxy(service, to, context) };
}

/** @throws DomainError the error that ends this process; a service manager then starts it again */
async function invalidation({ invalidated = new Promise(() => {}) }: Running, log: Log): Promise<void> {
  const error = await invalidated;
  log.error("service.displaced", { reason: error.reason, message: error.message });
  throw error;
}

/**
 * Starts this program again if its limit of concurrent requests is too low for the inference that it forwards. Nothing is open
 * yet, and a signal still has its default action.
 */
async function takeRequestSlots({ env, stderr, restartWith }: Context, config: Config): Promise<void> {
  const { isProxyInProcess } = await import("../../../src/app/installation/proxy-settings.ts");
  const { slotsIn, slotsNeeded, SLOTS_VARIABLE } = await import(
    "../../../src/platform/outbound/request-slots.ts"
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
function listenForHangup(): Disposable & { onSignal(reload: () => void): void } {
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
  const { openServiceManager } = await import("../../../src/platform/systemd/notify.ts");
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
