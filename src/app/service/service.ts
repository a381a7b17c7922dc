// The running service: one data directory, its background jobs and its listener, started and stopped in order.
// cli/commands/serve/ prints the messages.
import { resolve } from "node:path";
import { Registry } from "prom-client";
import type { Seeded } from "../../domain/catalog/service.ts";
import type { BootstrapResult } from "../../domain/identity/service.ts";
import type { Operations } from "../../domain/system/operations.ts";
import { WriteThread } from "../../platform/blobs/write-thread.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Config } from "../../platform/config/config.ts";
import type { PasswordCost } from "../../platform/crypto/passwords.ts";
import {
  type DataDirectory,
  findForwarder,
  hasCrashed,
  lockForServer,
  openMode,
} from "../../platform/data-directory/data-directory.ts";
import { fileExists } from "../../platform/data-directory/owner.ts";
import { forgetServiceState, writeServiceState } from "../../platform/data-directory/service-state.ts";
import { CheckpointThread } from "../../platform/database/checkpoint-thread.ts";
import { finishSwap } from "../../platform/database/maintenance/data-swap.ts";
import type { DomainError } from "../../platform/errors.ts";
import type { DiskReserve } from "../../platform/files/disk-reserve.ts";
import type { Ids } from "../../platform/ids.ts";
import type { AdjustableLog } from "../../platform/observe/log.ts";
import { createScheduler, type Scheduler } from "../../platform/scheduler/scheduler.ts";
import type { UpstreamTracing } from "../../platform/tracing/traced-outbound.ts";
import { DRAIN_MS } from "../../server/listener/listen.ts";
import { trustedPeerCheck } from "../../server/listener/peer-address.ts";
import { addAuditMetrics } from "../../server/metrics/audit-metrics.ts";
import { addInstallationMetrics } from "../../server/metrics/installation-metrics.ts";
import { createReadiness } from "../../server/readiness.ts";
import type { RouteOptions } from "../../server/router.ts";
import { createServer, type Server } from "../../server/server.ts";
import { responseObserver } from "../../server/tracing/traced-handler.ts";
import { addBackupMetrics } from "../backup/jobs.ts";
import { createDocumentThreads, type RunDocumentTask } from "../documents/document-threads.ts";
import { configurationIn } from "../files/governance-file.ts";
import { assertDatabaseNotLost, openForStart } from "../installation/existing-directory.ts";
import { type Installation, openInstallation } from "../installation/installation.ts";
import { proxySettingsOf } from "../installation/proxy-settings.ts";
import { createOperations } from "../operations/operations.ts";
import { createServiceLog, keepRecords, recordsOf } from "../request-logs/service-log.ts";
import { followCrash, openStandby, type ServiceStandby } from "../standby/service-standby.ts";
import { openTracing } from "../tracing/open-tracing.ts";
import { ReaderThreads } from "../transcripts/reader-threads.ts";
import { configure, reconfigure } from "./configuration/configuration.ts";
import { openDiskReserve } from "./disk-reserve.ts";
import { lockProxyListener, problemsOfDivision } from "./divided/division.ts";
import { startInference } from "./inference.ts";
import { addClientMetrics } from "./jobs/client-jobs.ts";
import { drainAttempts, startGatewayWork } from "./jobs/gateway-jobs.ts";
import { registerJobs } from "./jobs/register-jobs.ts";
import { registerSourceJob } from "./jobs/source-jobs.ts";
import { livenessOf } from "./liveness.ts";
import { watchAllKeys } from "./metrics/key-metrics.ts";
import { outsideObservers } from "./metrics/outside-observers.ts";
import { watchArtifacts } from "./metrics/source-metrics.ts";
import { type InferencePlace, openServiceSockets, type ServiceSockets } from "./service-sockets.ts";
import { assertStartable } from "./start-checks.ts";
import { stateOf } from "./state.ts";
import type { Liveness } from "./supervision.ts";
import { reportUntrustedProxy } from "./untrusted-proxy.ts";

export interface ServiceOptions {
  config: Config;
  clock: Clock;
  ids: Ids;
  log: AdjustableLog;
  /** hashing cost; default: the product's own */
  passwordCost?: PasswordCost;
  /** Called as soon as the result is durable, because a generated password must be shown even if a later step fails. */
  onBootstrap(result: BootstrapResult, directory: DataDirectory): void;
  /** runs only one part of the service; default: everything */
  only?: "control" | undefined;
}

export interface Service {
  /** our origin */
  baseUrl: string;
  /** where it listens */
  address: string;
  /** undefined unless this process forwards inference */
  inference: InferencePlace | undefined;
  installation: Installation;
  bootstrap: BootstrapResult;
  /** changes from the catalog file; undefined without a catalog file */
  seeded: Seeded | undefined;
  liveness: Liveness;
  /** resolves with the error that ends this process after another machine has taken over */
  invalidated: Promise<DomainError>;
  /** Reads settings, TLS files, catalog, policy and group roles again; an invalid one is logged and changes nothing. */
  reload(): Promise<void>;
  /** Ends running requests and jobs, then closes the database. */
  stop(): Promise<void>;
}

/**
 * Starts everything or nothing: a failing step closes what was opened before. The sockets are opened before the
 * database and before a new data directory is created, so an address in use leaves nothing behind.
 * @throws DomainError `clock.*`, `start.refused`, `data_dir.*`, `schema.*`, `config.*`, `catalog.*`, `governance.*`, `listen.*`
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { config, clock, log, only } = options;
  assertStartable(config, clock, problemsOfDivision(config, only));
  const open = () => openServiceSockets(config, log, only);
  if (fileExists(resolve(config.get("data_dir")))) return await startWith(open, options);
  const sockets = await open();
  try {
    return await startWith(async () => sockets, options);
  } catch (error) {
    await sockets.stop();
    throw error;
  }
}

async function startWith(
  openSockets: () => Promise<ServiceSockets>,
  options: ServiceOptions,
): Promise<Service> {
  const { config, clock, log } = options;
  const directory = openForStart(options);
  await using undo = new AsyncDisposableStack();
  const reserve = openDiskReserve(directory, log, undo);
  if (hasCrashed(directory)) followCrash(directory, options);
  const lock = lockForServer(directory, clock);
  undo.defer(() => lock.release());
  forgetServiceState(directory);
  const mode = openMode(directory);
  if (mode !== undefined)
    log.warning("data_dir.exposed", { data_dir: directory.path, mode, next: `chmod 700 ${directory.path}` });
  if (finishSwap(directory)) log.warning("backup.restore_finished", { data_dir: directory.path });
  assertDatabaseNotLost(directory, options);
  undo.defer(lockProxyListener(directory, options));
  const sockets = await openSockets();
  undo.defer(() => sockets.stop());
  const standby = await openStandby(directory, { ...options, undo });
  const service = await startWithListener(sockets, directory, { ...options, undo, standby, reserve });
  undo.defer(() => forgetServiceState(directory));
  writeServiceState(directory, stateOf(service, { config, clock }));
  const onStop = undo.move();
  const { invalidated } = standby;
  return { ...service, invalidated, inference: sockets.inference, stop: () => onStop.disposeAsync() };
}

async function startWithListener(
  sockets: ServiceSockets,
  directory: DataDirectory,
  {
    undo,
    standby,
    ...options
  }: ServiceOptions & {
    undo: AsyncDisposableStack;
    standby: ServiceStandby;
    reserve: DiskReserve;
  },
): Promise<Omit<Service, "stop" | "inference" | "invalidated">> {
  const { config, clock, ids, log } = options;
  const { baseUrl, listener } = sockets;
  const metrics = new Registry();
  const tracing = await openTracing({ ...options, metrics, undo, stateFile: directory.tracing });
  const observers = outsideObservers({ metrics, log, tracer: tracing?.tracer });
  const threads = threadsUntil(undo);
  const { runTask } = threads;
  const requestLog = createServiceLog({ directory, config, clock, log, metrics });
  const records = recordsOf(requestLog, { config, log });
  const machine = { ...options, baseUrl, ...standby, ...observers, ...threads, ...records, tracing };
  const installation = await openInstallation(directory, { ...machine, attemptsBy: "service" });
  undo.defer(() => installation.close());
  await keepRecords(installation, { ...options, undo, requestLog });
  const onBootstrap = (result: BootstrapResult) => options.onBootstrap(result, directory);
  const { bootstrap, actor, seeded } = await configure(installation, {
    config,
    log,
    clock,
    runTask,
    onBootstrap,
    baseUrl: baseUrl(),
  });
  await startGatewayWork(installation.domain, log);
  await sweepTemporary(installation);
  watchAllKeys(metrics, installation);

  const scheduler = createScheduler({ db: installation.db, clock, ids, log, metrics });
  const { deviceLoginsExpired } = addAuditMetrics(metrics, installation.domain.auditLog);
  const work = { actor, metrics, requestLog, standby };
  registerJobs(scheduler, installation, { ...options, ...work, deviceLoginsExpired });
  addBackupMetrics(metrics, installation.domain);
  addClientMetrics(metrics, installation.domain, { actor, clock });
  watchArtifacts(metrics, installation.domain, actor);
  let stoppingSinceMs: number | undefined;
  const figures = {
    isStopping: () => stoppingSinceMs !== undefined,
    forwarding: {
      proxyFigures: () => inference?.figures(requestLog.queueFigures()),
      isForwardedElsewhere: () => options.only === "control" && findForwarder(directory) !== undefined,
    },
  };
  const operations = undo.use(createOperations(installation, options));
  const parts = { ...machine, ...figures, operations, metrics, scheduler };
  const server = serverOf(installation, parts);
  const settings = options.only === "control" ? undefined : proxySettingsOf(config);
  const inference = startInference({ ...parts, ...installation, requestLog, settings });
  sockets.open(server, { inference: inference?.handler, tracer: tracing?.tracer });
  await watchProxies(installation, sockets, { config, log });
  await scheduler.takeOverLeases();
  scheduler.start();
  undo.defer(() => drainAttempts(installation.domain));
  undo.defer(() => scheduler.stop());
  // Undone in reverse: requests end first, then jobs and their pending work, then the database closes.
  undo.defer(() => sockets.stop(drainLeftMs(stoppingSinceMs)));
  undo.defer(() => inference?.drain());
  undo.defer(() => {
    stoppingSinceMs = performance.now();
    inference?.handler.stop();
    server.endStreams();
  });
  const reload = async () => {
    await reconfigure(installation, { config, log, actor, sockets, operations, runTask });
    registerSourceJob(scheduler, installation.domain, { actor, log });
  };
  const liveness = livenessOf(installation, scheduler);
  return { baseUrl: baseUrl(), address: listener.address, installation, bootstrap, seeded, liveness, reload };
}

/** @returns the threads for long tasks, each started at its first use */
function threadsUntil(undo: AsyncDisposableStack) {
  const runTask = createDocumentThreads();
  const checkpoints = undo.use(new CheckpointThread());
  const checkpoint = (file: string) => checkpoints.checkpoint(file);
  const { open: writeUploads } = undo.use(new WriteThread());
  const transcriptReader = new ReaderThreads();
  return { runTask, runCatalogTask: runTask, checkpoint, writeUploads, transcriptReader };
}

async function watchProxies(
  { domain: { untrustedProxies } }: Installation,
  { untrusted }: ServiceSockets,
  { config, log }: Pick<ServiceOptions, "config" | "log">,
): Promise<void> {
  await untrustedProxies.forgetTrusted(trustedPeerCheck(config.get("server.trusted_proxies")));
  reportUntrustedProxy(untrusted, untrustedProxies, log);
}

const sweepTemporary = ({ domain: { catalog, packageSources, sessions } }: Installation) =>
  Promise.all([catalog.sweepTemporary(), packageSources.mirrors.sweepTemporary(), sessions.sweepTemporary()]);

/** Other requests finish while inference drains, so their time limit started with it. */
const drainLeftMs = (sinceMs = performance.now()): number =>
  Math.max(DRAIN_LEFT_MIN_MS, DRAIN_MS - (performance.now() - sinceMs));
const DRAIN_LEFT_MIN_MS = 2_000;

interface Parts extends ServiceOptions {
  metrics: Registry;
  scheduler: Scheduler;
  runTask: RunDocumentTask;
  baseUrl(): string;
  operations: Operations;
  isStopping(): boolean;
  isActive(): boolean;
  forwarding: Pick<RouteOptions, "proxyFigures" | "isForwardedElsewhere">;
  tracing: UpstreamTracing | undefined;
}

function serverOf({ db, domain, directory }: Installation, parts: Parts): Server {
  const { config, clock, ids, log, metrics, scheduler, baseUrl, operations, isStopping, isActive } = parts;
  const readiness = createReadiness({
    db,
    clock,
    databaseFile: directory.database,
    checkKeys: () => domain.access.keys.signer(),
    lastBeatMs: () => scheduler.lastBeatMs(),
    isStopping,
    isActive,
  });
  addInstallationMetrics(metrics, { directory, readiness });
  const metricsToken = config.get("metrics.token");
  const configuration = () => configurationIn(config, parts.runTask);
  const console = {
    hasConsole: config.get("console.enabled"),
    consoleAuditors: () => config.get("console.auditors"),
  };
  const facts = {
    metrics,
    readiness,
    baseUrl,
    metricsToken,
    configuration,
    ...console,
    operations,
    ...parts.forwarding,
  };
  const observeResponse = responseObserver(parts.tracing?.tracer);
  return createServer({ domain, ...facts, clock, ids, log, observeResponse });
}
