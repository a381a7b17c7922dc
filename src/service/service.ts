// The running service: one data directory, its background work and its listener, started and stopped in order.
// What it says to a person is the command's (cli/commands/serve.ts).

import { addBackupFigures, registerBackupJob, registerReplacedJob } from "../backup/work.ts";
import { runTask as runBackupTask } from "../backup-task.ts";
import { catalogIn, readCatalogFile } from "../catalog-file.ts";
import { createDocumentThreads, type RunDocumentTask } from "../document-threads.ts";
import type { Actor } from "../domain/actor.ts";
import type { Seeded } from "../domain/catalog/service.ts";
import { DomainError } from "../domain/errors.ts";
import type { BootstrapResult } from "../domain/identity/service.ts";
import { watchKeys, watchProvisioner } from "../gateway/watch.ts";
import { beginGatewayWork, drainAttempts, registerGatewayJob } from "../gateway/work.ts";
import { applyGovernance, configurationIn, logGovernance, reloadGovernance } from "../governance-file.ts";
import { type Installation, openInstallation } from "../installation.ts";
import { openForStart, refuseLostDatabase } from "../lost-database.ts";
import type { Clock } from "../platform/clock.ts";
import type { Config } from "../platform/config/config.ts";
import type { ConfigFile } from "../platform/config/file.ts";
import { type DataDirectory, lockForServer, openMode } from "../platform/data-directory.ts";
import { finishSwap } from "../platform/database/data-swap.ts";
import type { Ids } from "../platform/ids.ts";
import type { AdjustableLog, Log } from "../platform/log.ts";
import { createMetrics, type Metrics } from "../platform/metrics.ts";
import { createScheduler, type Scheduler } from "../platform/scheduler/scheduler.ts";
import { forgetServiceState, writeServiceState } from "../platform/service-state.ts";
import { type Listener, listen, makeWay } from "../server/listen.ts";
import { addAuditFigures } from "../server/metrics-audit.ts";
import { addInstallationFigures } from "../server/metrics-installation.ts";
import { trustIn, type UntrustedPeer } from "../server/peer-address.ts";
import { createReadiness } from "../server/readiness.ts";
import { startingResponse } from "../server/refusal.ts";
import { createServer, type Server } from "../server/server.ts";
import { beginInstallation } from "../setup.ts";
import { registerKeyAndLoginJobs } from "./access-work.ts";
import { registerAuditJob } from "./audit-work.ts";
import { addClientFigures, registerClientJobs } from "./client-work.ts";
import { beginHarnesses, reloadHarnesses } from "./harness-facts.ts";
import { registerInvitationJob } from "./invitation-work.ts";
import { beginProvisioning, reloadMapping } from "./provisioning-start.ts";
import { type Reloading, reloadSettings, tlsOf } from "./settings-reload.ts";
import { refuseBadStart } from "./start-checks.ts";
import { stateOf } from "./state.ts";
import type { Vitals } from "./supervision.ts";
import { tellUntrusted } from "./untrusted-proxy.ts";
import { tellUnusedBootstrap } from "./unused-bootstrap.ts";
import { vitalsOf } from "./vitals.ts";

export interface ServiceOptions {
  config: Config;
  clock: Clock;
  ids: Ids;
  log: AdjustableLog;
  /** Told as soon as it is durable: a generated password must be shown even when a later step fails. */
  onBootstrap(result: BootstrapResult, directory: DataDirectory): void;
}

export interface Service {
  /** our origin */
  baseUrl: string;
  /** where it listens */
  address: string;
  installation: Installation;
  bootstrap: BootstrapResult;
  /** what the catalog file changed; undefined without a catalog file */
  seeded: Seeded | undefined;
  vitals: Vitals;
  /** Reads settings, TLS files, catalog, policy and the roles of groups again; what is bad is logged and changes nothing. */
  reload(): Promise<void>;
  /** Ends running requests and jobs, then closes the database. */
  stop(): Promise<void>;
}

/**
 * Starts everything, or nothing: what was opened is closed again when a later step fails. The socket comes before the
 * data, so that an address in use leaves no installation behind.
 * @throws DomainError `clock.*`, `start.refused`, `data_dir.*`, `schema.*`, `config.*`, `catalog.*`, `governance.*`, `listen.*`
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { config, clock, log } = options;
  refuseBadStart(config, clock);
  const directory = openForStart(options);
  await using undo = new AsyncDisposableStack();
  const lock = lockForServer(directory, clock);
  undo.defer(() => lock.release());
  forgetServiceState(directory);
  const mode = openMode(directory);
  if (mode !== undefined)
    log.warning("data_dir.open", { data_dir: directory.path, mode, next: `chmod 700 ${directory.path}` });
  if (finishSwap(directory)) log.warning("backup.restore_finished", { data_dir: directory.path });
  refuseLostDatabase(directory, options);
  const door = await openDoor(config, log);
  undo.defer(() => door.listener.stop());
  const service = await startBehind(door, directory, { ...options, undo });
  undo.defer(() => forgetServiceState(directory));
  writeServiceState(directory, stateOf(service, { config, clock }));
  const onStop = undo.move();
  return { ...service, stop: () => onStop.disposeAsync() };
}

/** The socket, and what answers behind it: a refusal until the service is there. */
interface Door {
  listener: Listener;
  /** the first peer that forwards an address and is no trusted proxy; pending for as long as there is none */
  untrusted: Promise<UntrustedPeer>;
  baseUrl(): string;
  open(server: Server): void;
}

async function openDoor(config: Config, log: Log): Promise<Door> {
  await makeWay(config.get("server.listen"));
  let answer: Server["handle"] = (request) => startingResponse(request);
  const untrusted = Promise.withResolvers<UntrustedPeer>();
  const listener = listen((request, addressOf) => answer(request, addressOf), {
    listen: config.get("server.listen"),
    tls: tlsOf(config),
    trustedProxies: config.get("server.trusted_proxies"),
    forwardedHeader: config.get("server.forwarded_header"),
    noteUntrusted: untrusted.resolve,
    report: (error) => log.error("http.escaped", { error }),
  });
  const baseUrl = config.get("server.public_url") ?? listener.address;
  return {
    listener,
    untrusted: untrusted.promise,
    baseUrl: () => baseUrl,
    open(server) {
      answer = server.handle;
    },
  };
}

async function startBehind(
  door: Door,
  directory: DataDirectory,
  { undo, ...options }: ServiceOptions & { undo: AsyncDisposableStack },
): Promise<Omit<Service, "stop">> {
  const { config, clock, ids, log } = options;
  const { baseUrl, listener } = door;
  const metrics = createMetrics();
  const observeProvisioner = watchProvisioner({ metrics, log });
  const runTask = createDocumentThreads();
  const checkpoint = (file: string) => runBackupTask("checkpoint", { file });
  const threads = { runTask, runCatalogTask: runTask, checkpoint };
  const machine = { config, clock, ids, baseUrl, observeProvisioner, ...threads };
  const installation = await openInstallation(directory, { ...machine, attemptsBy: "service" });
  undo.defer(() => installation.close());
  const onBootstrap = (result: BootstrapResult) => options.onBootstrap(result, directory);
  const { bootstrap, actor } = await beginInstallation(installation, { config, clock, onBootstrap });
  await tellUnusedBootstrap(installation, { config, log });
  await beginProvisioning(installation, { actor, log, baseUrl: baseUrl() });
  await beginHarnesses(installation, { actor, log });
  const file = config.content;
  const seeded = await seedFromFile(installation, { config, file, actor, log });
  logGovernance(log, await applyGovernance(installation, { config, file, actor, runTask }));
  await beginGatewayWork(installation.domain, log);
  watchKeys(metrics, installation.domain.gateway);

  const scheduler = createScheduler({ db: installation.db, clock, ids, log, metrics });
  const { deviceLoginsExpired } = addAuditFigures(metrics, installation.domain.auditLog);
  registerKeyAndLoginJobs(scheduler, installation.domain, { actor, log, deviceLoginsExpired });
  registerGatewayJob(scheduler, installation.domain);
  registerClientJobs(scheduler, installation.domain, { actor, log, config });
  registerInvitationJob(scheduler, installation.domain, { actor, log, config });
  registerAuditJob(scheduler, installation.domain, { actor, log, config });
  registerBackupJob(scheduler, installation, { actor, clock, config, log });
  registerReplacedJob(scheduler, installation, { actor, clock, config, log });
  addBackupFigures(metrics, installation.domain);
  addClientFigures(metrics, installation.domain, { actor, clock });
  const server = serverOf(installation, { ...options, metrics, scheduler, baseUrl, runTask });
  door.open(server);
  const { untrustedProxies } = installation.domain;
  await untrustedProxies.forgetTrusted(trustIn(config.get("server.trusted_proxies")));
  tellUntrusted(door.untrusted, untrustedProxies, log);
  await scheduler.takeOverLeases();
  scheduler.start();
  undo.defer(() => drainAttempts(installation.domain));
  undo.defer(() => scheduler.stop());
  // Undone in reverse: requests end first, then jobs and what they left to be done, then the database closes.
  undo.defer(() => listener.stop());
  undo.defer(() => server.endStreams());
  const reload = async () => {
    const reading = config.readFileAgain(runTask);
    await reloadSettings({ config, log, reading, listener });
    await reloadHarnesses(installation, { actor, log });
    await reloadCatalog(installation, { config, actor, log, reading });
    await reloadGovernance(installation, { config, actor, log, reading, runTask });
    await reloadMapping(installation, { config, actor, log, reading });
  };
  const vitals = vitalsOf(installation, scheduler);
  return { baseUrl: baseUrl(), address: listener.address, installation, bootstrap, seeded, vitals, reload };
}

interface Parts extends ServiceOptions {
  metrics: Metrics;
  scheduler: Scheduler;
  runTask: RunDocumentTask;
  baseUrl(): string;
}

function serverOf({ db, domain, directory }: Installation, parts: Parts): Server {
  const { config, clock, ids, log, metrics, scheduler, baseUrl } = parts;
  const readiness = createReadiness({
    db,
    clock,
    databaseFile: directory.database,
    checkKeys: () => domain.access.keys.signer(),
    lastBeatMs: () => scheduler.lastBeatMs(),
  });
  addInstallationFigures(metrics, { directory, readiness });
  const metricsToken = config.get("metrics.token");
  const configuration = () => configurationIn(config, parts.runTask);
  return createServer({ domain, metrics, readiness, baseUrl, metricsToken, configuration, clock, ids, log });
}

interface Seeding {
  config: Config;
  /** the configuration file; undefined where there is none */
  file: ConfigFile | undefined;
  actor: Actor;
  log: Log;
}

/** The catalog's own file, or else the section of the configuration file. */
async function seedFromFile(
  { domain }: Installation,
  { config, file, actor, log }: Seeding,
): Promise<Seeded | undefined> {
  const path = config.get("catalog.file");
  const section = file?.hasCatalog ? catalogIn(file.path, file.bytes) : undefined;
  const catalog = path === undefined ? section : await readCatalogFile(path);
  if (catalog === undefined) return undefined;
  const seeded = await domain.catalog.seed.apply(actor, { ...catalog, prune: false });
  for (const warning of seeded.warnings) log.warning("catalog.warning", { ...warning });
  return seeded;
}

async function reloadCatalog(
  installation: Installation,
  { config, actor, log, reading }: Reloading & { actor: Actor },
): Promise<void> {
  try {
    const isOwn = config.has("catalog.file");
    const file = isOwn ? undefined : config.fileIn(await reading);
    const plan = await seedFromFile(installation, { config, file, actor, log });
    if (!plan) return log.info("catalog.no_file");
    const { added, changed, unchanged } = plan;
    log.info("catalog.reloaded", { added: added.length, changed: changed.length, unchanged });
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    log.error("catalog.kept", { reason: error.reason, message: error.message });
    for (const problem of error.problems) log.error("catalog.problem", { ...problem });
  }
}
