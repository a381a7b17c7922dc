// A second process on the data directory of a service: it forwards inference on its own listener, and nothing else. Every
// lookup reads the database, so a change by any process applies from the next request on. It writes to the database only to
// replace a key that the gateway refused: it runs no migration and no job, and creates no first administrator.
import { Registry } from "prom-client";
import { dayOf } from "../../../domain/inference/usage/model.ts";
import {
  assertAccessible,
  type DataDirectory,
  hasCrashed,
} from "../../../platform/data-directory/data-directory.ts";
import { DomainError } from "../../../platform/errors.ts";
import { VERSION } from "../../../platform/version.ts";
import { createDocumentThreads } from "../../documents/document-threads.ts";
import { directoryToExamine, emptyDirectory } from "../../installation/existing-directory.ts";
import { proxyUrlOf } from "../../installation/gateway-settings.ts";
import { type Installation, openInstallation } from "../../installation/installation.ts";
import { upgradeRemedy } from "../../installation/older-schema.ts";
import { configuredOrigin, originForLinks } from "../../installation/origin.ts";
import { proxySettingsOf } from "../../installation/proxy-settings.ts";
import {
  createServiceLog,
  forwardingRecordsOf,
  keepForwardingRecords,
} from "../../request-logs/service-log.ts";
import { followCrash } from "../../standby/service-standby.ts";
import { openTracing } from "../../tracing/open-tracing.ts";
import { tracedProvisioner } from "../../tracing/traced-provisioner.ts";
import { reloadSettings } from "../configuration/settings-reload.ts";
import { startInference } from "../inference.ts";
import { drainAttempts } from "../jobs/gateway-jobs.ts";
import { watchProvisioner } from "../metrics/gateway-metrics.ts";
import type { ServiceOptions } from "../service.ts";
import { assertStartable } from "../start-checks.ts";
import type { Liveness } from "../supervision.ts";
import { DataWatch } from "./data-watch.ts";
import { lockProxyListener, problemsOfDivision } from "./division.ts";
import { openProxySocket, type ProxySocket } from "./proxy-socket.ts";

export type ProxyServiceOptions = Omit<ServiceOptions, "onBootstrap" | "passwordCost" | "only">;

export interface ProxyService {
  /** where it listens */
  address: string;
  /** address for workstations */
  inferenceUrl: string;
  installation: Installation;
  liveness: Liveness;
  /** resolves when this process must end, because its data directory no longer belongs to the installation */
  invalidated: Promise<DomainError>;
  /** Reads the log level and the TLS files again; an invalid setting is logged and changes nothing. */
  reload(): Promise<void>;
  /** Ends running requests, writes out rows and sums, then closes the database. */
  stop(): Promise<void>;
}

/**
 * Starts everything or nothing, like `startService`.
 * @throws DomainError `start.*`, `data_dir.*`, `schema.*`, `config.*`, `listen.*`
 */
export async function startProxyService(options: ProxyServiceOptions): Promise<ProxyService> {
  const { config, clock, log } = options;
  assertStartable(config, clock, problemsOfDivision(config, "proxy"));
  const directory = directoryWithDatabase(options);
  assertAccessible(directory);
  if (hasCrashed(directory)) followCrash(directory, options);
  await using undo = new AsyncDisposableStack();
  undo.defer(lockProxyListener(directory, options));
  const socket = await openProxySocket(config, log);
  undo.defer(() => socket.stop());
  const service = await forwardAt(socket, directory, { ...options, undo });
  const onStop = undo.move();
  return { ...service, stop: () => onStop.disposeAsync() };
}

/** Only the operator can repair a lost database. This process fails, so its service manager tries again until the database is back. */
function directoryWithDatabase(options: ProxyServiceOptions): DataDirectory {
  try {
    return directoryToExamine(options);
  } catch (error) {
    if (!(error instanceof DomainError) || error.reason !== "data_dir.database_lost") throw error;
    const { reason, message, hint = "" } = error;
    throw new DomainError("unavailable", reason, message, { hint, cause: error });
  }
}

async function forwardAt(
  socket: ProxySocket,
  directory: DataDirectory,
  { undo, ...options }: ProxyServiceOptions & { undo: AsyncDisposableStack },
): Promise<Omit<ProxyService, "stop">> {
  const { config, clock, log } = options;
  const metrics = new Registry();
  const baseUrl = originOf(options);
  const tracing = await openTracing({ ...options, metrics, undo, stateFile: directory.forwarderTracing });
  const requestLog = createServiceLog({ ...options, directory, metrics });
  const installation = await openInstallation(directory, {
    ...options,
    ...forwardingRecordsOf(requestLog, { log }),
    baseUrl: () => baseUrl,
    beforeChange: () => {
      throw olderSchema(directory);
    },
    observeProvisioner: tracedProvisioner(watchProvisioner({ metrics, log }), tracing?.tracer),
    tracing,
  });
  undo.defer(() => installation.close());
  const { domain } = installation;
  if (!domain.identity.organization()) throw emptyDirectory(directory.path);
  await keepForwardingRecords(installation, { undo, requestLog, day: dayOf(clock.nowMs()), log });
  const inference = startInference({
    ...options,
    ...installation,
    metrics,
    requestLog,
    tracing,
    settings: proxySettingsOf(config),
  });
  if (!inference) throw new Error("these settings do not forward inference"); // problemsOfDivision reports this case
  const watch = undo.use(new DataWatch(installation));
  watch.start();
  undo.defer(() => drainAttempts(domain));
  undo.defer(() => socket.stop());
  let isReplaced = false;
  undo.defer(() => inference.drain(isReplaced ? 0 : undefined));
  undo.defer(() => inference.handler.stop());
  const access = { token: config.get("metrics.token"), origin: baseUrl };
  socket.open(inference.handler, { metrics, ...access, tracer: tracing?.tracer });
  const invalidated = watch.invalidated.then((found) => {
    isReplaced = found.isReplaced;
    inference.handler.stop();
    return found.error;
  });
  const runTask = createDocumentThreads();
  return {
    address: socket.address,
    inferenceUrl: proxyUrlOf(config, () => baseUrl),
    installation,
    invalidated,
    liveness: proxyLivenessOf(installation, watch),
    reload: async () => {
      const reading = config.readFileAgain(runTask);
      await reloadSettings({ config, log, reading, listeners: [socket.listener], ...installation });
    },
  };
}

/** @throws DomainError `config.public_url_missing` */
function originOf({ config }: Pick<ProxyServiceOptions, "config">): string {
  const origin = originForLinks(config) ?? configuredOrigin(config);
  if (origin !== undefined) return origin;
  throw new DomainError(
    "invalid",
    "config.public_url_missing",
    "server.public_url is required, because it determines the issuer of inference tokens",
    { hint: "give this process the settings of the service" },
  );
}

/** A service manager tries again until the service has upgraded the database. */
const olderSchema = (directory: DataDirectory): DomainError =>
  new DomainError(
    "unavailable",
    "schema.older",
    "the schema of the database is older than that of this program, and this process does not upgrade it",
    { hint: upgradeRemedy(directory) },
  );

const proxyLivenessOf = ({ db, domain, schema }: Installation, watch: DataWatch): Liveness => ({
  readDatabase: () => void domain.identity.findOrganization(db.read),
  beatMs: () => watch.checks,
  statusLine: () => `version ${VERSION}, schema ${schema.to}, forwards inference`,
});
