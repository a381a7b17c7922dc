// Opens a data directory: checks access, upgrades the schema, and builds the domain. The service, which holds the directory's
// lock, and every command use it.
import { destinationsOfConnection } from "../../domain/catalog/connections/connection.ts";
import type { Mirroring, RunCatalogTask } from "../../domain/catalog/service.ts";
import { type Domain, openDomain } from "../../domain/domain.ts";
import type { AttemptOwner, ProvisionerCall } from "../../domain/gateway/service.ts";
import { type RunTask, runAtOnce } from "../../domain/governance/service.ts";
import type { TranscriptReader } from "../../domain/sessions/transcript/reader.ts";
import type { SsoObserver } from "../../domain/sso/service.ts";
import type { SsoSettings } from "../../domain/sso/settings.ts";
import type { OpenWriter } from "../../platform/blobs/piece-writer.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Values } from "../../platform/config/table.ts";
import { createPasswords, type PasswordCost } from "../../platform/crypto/passwords.ts";
import { openSealing } from "../../platform/crypto/sealing.ts";
import { type DataDirectory, isServerRunning } from "../../platform/data-directory/data-directory.ts";
import type { LogState } from "../../platform/database/checkpoints.ts";
import { type Db, openReadOnlyDatabase } from "../../platform/database/database.ts";
import { type MigrateResult, openMigrated } from "../../platform/database/schema/migrate.ts";
import { programSchema, schemaIn } from "../../platform/database/schema/schema.ts";
import { openSnapshot } from "../../platform/database/snapshot.ts";
import { DomainError } from "../../platform/errors.ts";
import { DiskReserve } from "../../platform/files/disk-reserve.ts";
import type { Ids } from "../../platform/ids.ts";
import type { StoreCall } from "../../platform/object-store/requests.ts";
import type { Outbound } from "../../platform/outbound/outbound.ts";
import { tracedDatabase } from "../../platform/tracing/traced-database.ts";
import { openOutbound, type UpstreamTracing } from "../../platform/tracing/traced-outbound.ts";
import { VERSION } from "../../platform/version.ts";
import { auditReceiverOf } from "../audit-forwarding/receiver.ts";
import { readHarnessFacts } from "../files/harness-facts-file.ts";
import { type Buckets, openStores } from "../object-store/buckets.ts";
import { admissionByLeaseFile } from "../standby/lease/lease-file.ts";
import { ConfiguredConnections } from "./connections/configured-connections.ts";
import { mirroringOf } from "./connections/mirroring.ts";
import { destinationsOf } from "./destinations.ts";
import { domainSettingsOf, mappingsIn, type RecordOptions, recordsOf } from "./domain-settings.ts";
import { assertDatabaseNotLost, directoryWithDatabase, emptyDirectory } from "./existing-directory.ts";
import { gatewayModeOf } from "./gateway-mode.ts";
import { olderServer, upgradeDue, upgradeRemedy } from "./older-schema.ts";
import { proxySettingsOf } from "./proxy-settings.ts";
import { ssoSettingsOf } from "./sso-settings.ts";

export interface Installation {
  directory: DataDirectory;
  db: Db;
  domain: Domain;
  outbound: Outbound;
  schema: MigrateResult;
  /** Replaces the mapping of groups to roles; `roles.applyMapping` then recomputes the roles of users. */
  mapRoles(setting: Values["scim.group_role_mappings"]): void;
  /** Replaces the settings of company sign-in; running sign-ins continue with the new ones. */
  useSsoSettings(settings: SsoSettings | undefined): void;
  /** of the object store */
  buckets: Buckets;
  /** repository connections of the configuration */
  connections: ConfiguredConnections;
  close(): Promise<void>;
}

export interface InstallationOptions extends RecordOptions {
  config: Config;
  clock: Clock;
  ids: Ids;
  /** our origin, empty if it is unknown; a function, because the system may choose the port when the service starts to listen */
  baseUrl(): string;
  /** throws while the lease does not allow a change; default: checks with the running service, if the settings have a lease */
  admit?: (() => void) | undefined;
  /** default: the one of the directory */
  reserve?: DiskReserve;
  /** throws if the schema must not change now */
  beforeChange?: () => void;
  /** hashing cost; default: the product's own */
  passwordCost?: PasswordCost | undefined;
  /** role of this process; default: a command */
  attemptsBy?: AttemptOwner;
  /** called after each call that creates or revokes a gateway key */
  observeProvisioner?: (call: ProvisionerCall) => void;
  /** receives requests to the identity provider and results of sign-ins, for metrics */
  observeSso?: SsoObserver;
  /** called after each inspection of a repository */
  observeSource?: Mirroring["observeSource"];
  /** called after each request to the object store */
  observeObjectStore?: (call: StoreCall) => void;
  /** runs long policy tasks; default: inline */
  runTask?: RunTask;
  /** runs tasks on catalog files; default: inline */
  runCatalogTask?: RunCatalogTask;
  /** copies the write-ahead log into the database file; default: commits do */
  checkpoint?: (file: string) => Promise<LogState>;
  /** writes large uploads; default: inline */
  writeUploads?: OpenWriter;
  /** only while tracing is on */
  tracing?: UpstreamTracing | undefined;
  /** reads captured sessions; in this thread if omitted */
  transcriptReader?: TranscriptReader;
}

/**
 * Opens the directory and creates missing parts.
 * @throws DomainError `schema.*`, `sealing.*`, `storage.*`
 */
export async function openInstallation(
  directory: DataDirectory,
  options: InstallationOptions,
): Promise<Installation> {
  const { config, clock, checkpoint } = options;
  const replicated = config.get("database.replicated");
  const { admit = admissionByLeaseFile(config, directory) } = options;
  const beforeChange = () => {
    admit?.();
    options.beforeChange?.();
  };
  const { db: opened, schema } = openMigrated(directory.database, {
    clock,
    replicated,
    version: VERSION,
    backupDirectory: directory.backups,
    beforeChange,
    admit,
    reserve: options.reserve ?? new DiskReserve(directory.reserve),
    checkpoint: checkpoint && (() => checkpoint(directory.database)),
  });
  const db = tracedDatabase(opened, options.tracing?.tracer);
  return await joinDomain({ directory, schema, db }, options);
}

/** Builds the domain on an open database. */
async function joinDomain(
  opened: Pick<Installation, "directory" | "schema" | "db">,
  options: InstallationOptions,
): Promise<Installation> {
  const { directory, schema, db } = opened;
  const { config, clock, ids, baseUrl, runTask = runAtOnce, runCatalogTask } = options;
  const { observeProvisioner = () => {}, attemptsBy = "command" } = options;
  const sealing = openSealing({
    directory: directory.keys,
    ids,
    provided: config.get("keys.sealing_key"),
    isNew: schema.from === 0,
  });
  const connections = new ConfiguredConnections(config);
  const allowed = destinationsOf(config, config.has("gateway.type") ? baseUrl() || undefined : undefined);
  const found = () => [
    ...domain.sso.provider.destinations(),
    ...connections.list().flatMap(destinationsOfConnection),
  ];
  const outbound = openOutbound({ allowed, found }, options.tracing);
  const { observeObjectStore: observe, writeUploads } = options;
  const { buckets, logArchive, ...stores } = await openStores(directory, {
    config,
    clock,
    outbound,
    observe,
    writeUploads,
  });
  const roles = { mappings: mappingsIn(config.get("scim.group_role_mappings")) };
  const sso = { settings: ssoSettingsOf(config) };
  const domain: Domain = openDomain({
    db,
    clock,
    ids,
    ...stores,
    sealing,
    passwords: createPasswords({ cost: options.passwordCost }),
    openSnapshot: () => openSnapshot(directory.database),
    outbound,
    auditReceiver: auditReceiverOf(config, outbound),
    gatewayMode: gatewayModeOf({ config, clock, directory, outbound, baseUrl }),
    proxySettings: proxySettingsOf(config),
    attemptsBy,
    observeProvisioner,
    observeSso: options.observeSso,
    runTask,
    runCatalogTask,
    transcriptReader: options.transcriptReader,
    readHarnesses: () => readHarnessFacts(config),
    mirroring: mirroringOf(directory, connections, options),
    records: recordsOf(directory, { ...options, logArchive }),
    settings: domainSettingsOf(config, { baseUrl, roles, sso }),
    secrets: { scimToken: config.get("scim.token") },
  });
  return {
    directory,
    db,
    domain,
    outbound,
    buckets,
    connections,
    schema,
    close: () => db.close(),
    mapRoles: (setting) => {
      roles.mappings = mappingsIn(setting);
    },
    useSsoSettings: (settings) => {
      sso.settings = settings;
    },
  };
}

/** An installation that is set up: its organization exists. */
export interface ExistingInstallation extends Installation {
  organizationId: string;
}

/**
 * Opens the data directory for a command. It neither starts a new installation nor changes the schema while the service runs.
 * @throws DomainError `data_dir.empty` if nothing is set up, `schema.older` where it must not upgrade, `data_dir.*` and the errors
 *   of openInstallation
 */
export async function openExisting({
  mustNotUpgrade,
  ...options
}: InstallationOptions & { mustNotUpgrade?: boolean }): Promise<ExistingInstallation> {
  const directory = directoryWithDatabase(options);
  const beforeChange = () => {
    assertDatabaseNotLost(directory, options);
    if (isServerRunning(directory)) throw olderServer(directory);
    if (mustNotUpgrade)
      throw schemaIn(directory.database) === 0 ? emptyDirectory(directory.path) : upgradeDue(directory);
    options.beforeChange?.();
  };
  const installation = await openInstallation(directory, { ...options, beforeChange });
  const organization = installation.domain.identity.findOrganization(installation.db.read);
  if (organization) return { ...installation, organizationId: organization.id };
  await installation.close();
  assertDatabaseNotLost(directory, options);
  throw emptyDirectory(directory.path);
}

/**
 * Opens an installation read-only: nothing on the disk changes, and writes to the database fail.
 * @param directory holds the folder of artifacts and, unless the configuration has one, a sealing key
 * @throws DomainError `schema.older` if an upgrade is needed; `data_dir.empty`, `schema.*`, `sealing.*`, `storage.*`
 */
export async function openReadOnly(
  directory: DataDirectory,
  options: InstallationOptions,
): Promise<ExistingInstallation> {
  const schema = schemaIn(directory.database, { untouched: true });
  if (schema !== programSchema())
    throw new DomainError("conflict", "schema.older", "its schema is older than the schema of this program", {
      hint: `${upgradeRemedy(directory)}; then run this command again`,
    });
  const db = openReadOnlyDatabase(directory.database);
  try {
    const installation = await joinDomain(
      { directory, schema: { from: schema, to: schema, backup: undefined }, db },
      options,
    );
    const organization = installation.domain.identity.findOrganization(db.read);
    if (!organization) throw emptyDirectory(directory.path);
    return { ...installation, organizationId: organization.id };
  } catch (error) {
    await db.close();
    throw error;
  }
}
