// Runs all checks in order: first those that need only the machine, then those that need the open database. Opening changes
// nothing: an upgrade or a new key would hide the problem.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../platform/clock.ts";
import type { Config } from "../../platform/config/config.ts";
import { RESTORE_KEY, SealingKeyFiles } from "../../platform/crypto/sealing-keys.ts";
import {
  assertAccessible,
  type DataDirectory,
  isServerRunning,
} from "../../platform/data-directory/data-directory.ts";
import { replicationOf } from "../../platform/database/maintenance/replication.ts";
import { RESTORE } from "../../platform/database/storage-errors.ts";
import { DomainError } from "../../platform/errors.ts";
import { diskSpace } from "../../platform/files/disk.ts";
import type { Ids } from "../../platform/ids.ts";
import { checkForwarding } from "../audit-forwarding/check.ts";
import { checkPolicyFile } from "../files/check-policy-file.ts";
import { readHarnessFacts } from "../files/harness-facts-file.ts";
import { directoryToExamine } from "../installation/existing-directory.ts";
import { type ExistingInstallation, openReadOnly } from "../installation/installation.ts";
import { upgradeRemedy } from "../installation/older-schema.ts";
import { configuredOrigin } from "../installation/origin.ts";
import { probeExternalServices } from "../installation/outside-services.ts";
import { tlsOf } from "../service/configuration/settings-reload.ts";
import { SETTINGS_CHECKS, throwProblems } from "../service/start-checks.ts";
import { checkPackageSources } from "../sources/check-connections.ts";
import { checkLease, checkReplica, checkReplicaRestore } from "../standby/check.ts";
import { checkTracing } from "../tracing/check.ts";
import { findTracingState } from "../tracing/tracing-state.ts";
import { checkBackups } from "./backups.ts";
import { bucketFindings } from "./buckets.ts";
import { checkForeignKeys, checkIntegrity, checkObjects, checkReplication, checkSchema } from "./database.ts";
import * as domainChecks from "./domain-checks.ts";
import { type Check, DamageCollector, examine, type Finding } from "./finding.ts";
import { checkInference } from "./inference.ts";
import * as machine from "./machine.ts";
import { checkModelCatalog } from "./model-catalog.ts";
import { openReadable } from "./readable-database.ts";
import { checkRequestLog } from "./request-log.ts";
import { checkSecondFactor } from "./second-factor.ts";
import { checkSessionStore } from "./session-store.ts";

export interface DiagnoseOptions {
  config: Config;
  clock: Clock;
  ids: Ids;
  /** also reads every page, every artifact and the whole audit log */
  deep: boolean;
  startWatch: domainChecks.StartWatch;
}

/**
 * Examines the installation without changing anything on the disk.
 * @returns the findings of every check, in the order of the checks
 * @throws DomainError `data_dir.*` if there is no installation, or no access to it
 */
export async function diagnose(options: DiagnoseOptions): Promise<Finding[]> {
  const directory = directoryToExamine(options);
  using reading = openReadable(directory);
  return [
    ...(await machineFindings(directory, options)),
    ...(await databaseFindings(reading.directory, options)),
    ...(await replicationFindings(directory, options)),
    ...(await contentFindings(reading.directory, options)),
    ...(await outsideFindings(options.config)),
    ...(await bucketFindings(options.config, options.clock)),
  ];
}

const inOrder = async (looks: readonly Promise<Finding[]>[]): Promise<Finding[]> =>
  (await Promise.all(looks)).flat();

const machineFindings = (directory: DataDirectory, { config, clock }: DiagnoseOptions): Promise<Finding[]> =>
  inOrder([
    examine("service", (check) =>
      machine.checkService(check, directory, {
        listen: config.get("server.listen"),
        hasTls: tlsOf(config) !== undefined,
      }),
    ),
    examine("settings", (check) => checkSettings(check, config)),
    examine("harnesses", (check) => checkHarnesses(check, config)),
    examine("files", (check) => machine.checkFiles(check, directory)),
    examine("disk", (check) => machine.checkDiskSpace(check, diskSpace(directory.path))),
    examine("disk_reserve", (check) => machine.checkReserve(check, directory)),
    examine("inference", (check) => checkInference(check, directory, config)),
    examine("request_log", (check) => checkRequestLog(check, directory, clock)),
    examine("tracing", (check) =>
      checkTracing(check, config, { state: findTracingState(directory), nowMs: clock.nowMs() }),
    ),
    examine("certificate", (check) => machine.checkCertificate(check, tlsOf(config), clock.nowMs())),
  ]);

/** @throws DomainError why the service would not start with these settings */
function checkSettings(check: Check, config: Config): Finding | Finding[] {
  throwProblems(SETTINGS_CHECKS.flatMap((find) => find(config)));
  if (config.warnings.length === 0) return check.ok(config.file ?? "no file; defaults and environment");
  return config.warnings.map((warning) => check.warning(warning, "see: quartermaster config show"));
}

/** @throws DomainError why the harness file may not be used */
function checkHarnesses(check: Check, config: Config): Finding {
  const { source } = readHarnessFacts(config);
  return check.ok(
    source ? `${source.file}, signed by ${source.signer}` : "no file; the built-in facts apply",
  );
}

const databaseFindings = (directory: DataDirectory, { deep }: DiagnoseOptions): Promise<Finding[]> => {
  const { database } = directory;
  const look = (name: string, find: (check: Check, file: string) => Finding) =>
    examine(
      name,
      (check) => {
        assertAccessible(directory);
        return find(check, database);
      },
      RESTORE,
    );
  return inOrder([
    look("schema", (check, file) => checkSchema(check, file, upgradeRemedy(directory))),
    look("schema_objects", checkObjects),
    ...(deep ? [look("integrity", checkIntegrity), look("foreign_keys", checkForeignKeys)] : []),
  ]);
};

/** Litestream keeps its state beside the original database, so a copy does not have it. */
const replicationFindings = async (
  directory: DataDirectory,
  { config, clock }: DiagnoseOptions,
): Promise<Finding[]> =>
  config.get("database.replicated")
    ? await inOrder([
        examine("replication", (check) => checkReplication(check, replicationOf(directory.database))),
        ...(config.has("standby.replica")
          ? [
              ...(config.get("standby.lease")
                ? [examine("lease", (check) => checkLease(check, directory, isServerRunning(directory)))]
                : []),
              examine("replica", (check) => checkReplica(check, directory, { config, clock })),
            ]
          : []),
      ])
    : [];

type DatabaseCheck = (
  check: Check,
  examined: domainChecks.Examined,
  startWatch: domainChecks.StartWatch,
) => Finding | Finding[] | Promise<Finding | Finding[]>;

const DATABASE_CHECKS: Readonly<Record<string, DatabaseCheck>> = {
  clock: (check, { domain, nowMs }) => machine.checkClock(check, { nowMs: () => nowMs }, newestOf(domain)),
  sealing_keys: domainChecks.checkSealingKeys,
  signing_keys: domainChecks.checkSigningKeys,
  token_memory: domainChecks.checkTokenMemory,
  policy: domainChecks.checkPolicy,
  policy_file: checkPolicyFile,
  policy_drafts: domainChecks.checkPolicyDrafts,
  jobs: domainChecks.checkJobs,
  backup: checkBackups,
  replica_restore: checkReplicaRestore,
  audit_forwarding: checkForwarding,
  proxy: domainChecks.checkProxy,
  provisioning: domainChecks.checkProvisioning,
  sso: domainChecks.checkIdentityProvider,
  second_factor: checkSecondFactor,
  artifact_store: domainChecks.checkArtifactStore,
  repositories: checkPackageSources,
  session_store: checkSessionStore,
  gateway_keys: domainChecks.checkGatewayKeys,
  gateway_models: checkModelCatalog,
};

/** The checks of --deep. Their duration grows with the amount of data. */
const DEEP_DATABASE_CHECKS: Readonly<Record<string, DatabaseCheck>> = {
  artifacts: domainChecks.checkArtifacts,
  audit_log: domainChecks.checkAuditChain,
};

function newestOf({ auditLog, jobs }: ExistingInstallation["domain"]): number | undefined {
  const times = [auditLog.lastTime() ?? 0, ...jobs.list().map(({ finishedAtMs }) => finishedAtMs ?? 0)];
  return Math.max(...times);
}

async function contentFindings(directory: DataDirectory, options: DiagnoseOptions): Promise<Finding[]> {
  const { config, clock, deep, startWatch } = options;
  const looks = Object.entries({ ...DATABASE_CHECKS, ...(deep && DEEP_DATABASE_CHECKS) });
  const opened: ExistingInstallation[] = [];
  const opening = await examine(
    "database",
    (check) => open(directory, { ...options, opened }, check),
    RESTORE,
  );
  const [installation] = opened;
  if (!installation) {
    const skip = (check: Check) => check.skipped("requires an open database");
    return [...opening, ...(await inOrder(looks.map(([name]) => examine(name, skip))))];
  }
  const { domain, organizationId } = installation;
  const isServiceRunning = isServerRunning(directory);
  const examined = { domain, config, organizationId, nowMs: clock.nowMs(), isServiceRunning };
  const findings: Finding[] = [];
  const damage = new DamageCollector();
  try {
    for (const [name, look] of looks) // in sequence: two progress bars at once are unreadable
      findings.push(...(await damage.examine(name, (check) => look(check, examined, startWatch))));
    return [...damage.findingsWithDamage(opening), ...findings];
  } finally {
    await installation.close();
  }
}

/** @param opened receives the installation @throws DomainError why it cannot be opened without changes */
async function open(
  directory: DataDirectory,
  { config, clock, ids, opened }: DiagnoseOptions & { opened: ExistingInstallation[] },
  check: Check,
): Promise<Finding> {
  assertAccessible(directory);
  refuseMissing(directory, { config, ids });
  const baseUrl = () => configuredOrigin(config) ?? "";
  opened.push(await openReadOnly(directory, { config, clock, ids, baseUrl }));
  return check.ok("the database opens");
}

/**
 * Opening would create missing keys, as for a new installation.
 * @throws DomainError `sealing.*`, `data_dir.incomplete`
 */
function refuseMissing(
  { keys, artifacts }: DataDirectory,
  { config, ids }: Pick<DiagnoseOptions, "config" | "ids">,
): void {
  const isGiven = config.get("keys.sealing_key") !== undefined;
  if (!isGiven && new SealingKeyFiles(keys, ids).list().length === 0)
    throw incomplete(`there is no sealing key in ${keys}`, `${RESTORE_KEY}; ${CREDENTIAL_HINT}`);
  if (!existsSync(join(artifacts, "sha256")))
    throw incomplete(`the folder ${artifacts} is missing`, "restore it from the last backup");
}

const CREDENTIAL_HINT =
  "if systemd passes the key to the service, set its folder: CREDENTIALS_DIRECTORY=/run/credentials/quartermaster.service";

const incomplete = (message: string, hint: string): DomainError =>
  new DomainError("unavailable", "data_dir.incomplete", message, { hint });

async function outsideFindings(config: Config): Promise<Finding[]> {
  const services = await probeExternalServices(config);
  return inOrder(
    services.map(({ name, origin, state, reason, affects }) =>
      examine(name, (check) =>
        state === "unreachable"
          ? check.failed(
              `${origin} is unreachable: ${reason}; affected: ${affects}`,
              "check that it runs, and its address: quartermaster config show --outgoing",
            )
          : check.ok(
              state === "reachable" ? `${origin} answers` : `outgoing connections may reach ${origin}`,
            ),
      ),
    ),
  );
}
