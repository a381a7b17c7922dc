// Collects the facts for `status`: the state of the machine, the contents of the database, and the reachability of external
// services. A database with another schema version is reported but not read.

import { readHarnessFacts } from "../../../src/app/files/harness-facts-file.ts";
import { existingDirectory } from "../../../src/app/installation/existing-directory.ts";
import {
  type ExternalService,
  probeExternalServices,
} from "../../../src/app/installation/outside-services.ts";
import { separateProxyListener } from "../../../src/app/service/divided/division.ts";
import { isLeaseHeldHere } from "../../../src/app/standby/lease/lease-file.ts";
import { findOwnTerm } from "../../../src/app/standby/own-term.ts";
import { findTracingState, type TracingState } from "../../../src/app/tracing/tracing-state.ts";
import type { Domain } from "../../../src/domain/domain.ts";
import { keptIn } from "../../../src/domain/sessions/service.ts";
import type { Config } from "../../../src/platform/config/config.ts";
import {
  type DataDirectory,
  findForwarder,
  findServer,
} from "../../../src/platform/data-directory/data-directory.ts";
import type { LockHolder } from "../../../src/platform/data-directory/process-lock.ts";
import { completeSwap } from "../../../src/platform/database/maintenance/data-swap.ts";
import { type Replication, replicationOf } from "../../../src/platform/database/maintenance/replication.ts";
import { programSchema, schemaIn } from "../../../src/platform/database/schema/schema.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import { type DiskSpace, diskSpace, fileSizeOf } from "../../../src/platform/files/disk.ts";
import { trustedPeerCheck } from "../../../src/server/listener/peer-address.ts";
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { withDomain } from "../../data-directory/with-domain.ts";
import { loadSettings } from "../../input/setting-options.ts";

export interface Machine {
  path: string;
  /** schema version of the database and of this program */
  schema: { database: number; program: number };
  server: LockHolder | "unknown" | undefined;
  /** undefined unless this installation forwards inference on its own listener */
  inference: { forwarder: LockHolder | "unknown" | undefined } | undefined;
  databaseBytes: number;
  walBytes: number;
  room: DiskSpace;
  /** undefined if the settings do not enable replication */
  replication: Replication | undefined;
  /** undefined without a replica; its term is undefined before the first start */
  standby: { term: string | undefined; holdsLease: boolean | undefined } | undefined;
  /** undefined while tracing is off; its state is undefined before the first attempt to send */
  tracing: { state: TracingState | undefined } | undefined;
}

export type Content = Awaited<ReturnType<typeof contentOf>>;

export interface Status {
  nowMs: number;
  machine: Machine;
  /** undefined if the database has an older schema than the program */
  content: Content | undefined;
  outside: readonly ExternalService[];
  harnesses: HarnessState;
}

export interface HarnessState {
  /** undefined if none is configured */
  file: string | undefined;
  signer: string | undefined;
  /** why the file cannot be used */
  problem: string | undefined;
}

/**
 * Finishes an interrupted restore first, as every command does.
 * @throws DomainError `data_dir.*`, `schema.newer`, `schema.altered`, `storage.*`
 */
export async function readStatus(context: Context, command: CliCommand): Promise<Status> {
  const config = await loadSettings(context, command);
  const directory = existingDirectory({ config, clock: context.clock });
  completeSwap(directory, context.clock);
  const machine = machineOf(directory, config);
  const { database, program } = machine.schema;
  const [content, outside] = await Promise.all([
    database === program ? contentOf(context, config) : undefined,
    probeExternalServices(config),
  ]);
  return { nowMs: context.clock.nowMs(), machine, content, outside, harnesses: harnessState(config) };
}

const machineOf = (directory: DataDirectory, config: Config): Machine => ({
  path: directory.path,
  schema: { database: schemaIn(directory.database), program: programSchema() },
  server: findServer(directory),
  inference: separateProxyListener(config) && { forwarder: findForwarder(directory) },
  databaseBytes: fileSizeOf(directory.database),
  walBytes: fileSizeOf(`${directory.database}-wal`),
  room: diskSpace(directory.path),
  replication: config.get("database.replicated") ? replicationOf(directory.database) : undefined,
  standby: config.has("standby.replica") ? standbyIn(config, directory) : undefined,
  tracing: config.has("tracing.url") ? { state: findTracingState(directory) } : undefined,
});

const standbyIn = (config: Config, directory: DataDirectory) => ({
  term: findOwnTerm(directory)?.term,
  holdsLease: config.get("standby.lease") ? isLeaseHeldHere(directory) : undefined,
});

const contentOf = (context: Context, config: Config) =>
  withDomain(
    context,
    config,
    async ({
      domain: {
        access,
        governance,
        clients,
        gateway,
        modelCatalog,
        sessions,
        jobs,
        backups,
        sso,
        auditForwarding,
        packageSources,
        untrustedProxies,
      },
      actor: { organizationId },
    }) => ({
      signIn: { mode: config.get("identity.mode"), ...sso.status(), dueSoon: sso.countDueSoon() },
      revision: governance.revisions.current(organizationId),
      clients: clients.inventory.counts(organizationId),
      gateway: {
        ...gateway.figures(),
        isOn: gateway.mode !== undefined,
        problemCodes: gateway.problems(),
      },
      models: modelCatalog.figures(organizationId),
      sessions: await sessionsOf(sessions),
      jobs: jobs.list(),
      backup: backups.last(),
      forwarding: auditForwarding.isOn ? auditForwarding.state() : undefined,
      connections: packageSources.operatorView(organizationId),
      administratorsWithoutFactor: access.administratorsWithoutFactor(organizationId),
      untrustedProxy: untrustedProxies.find(trustedPeerCheck(config.get("server.trusted_proxies"))),
    }),
  );

/** `probeExternalServices` reads the state of the other machine. */
async function sessionsOf({ stores, storeState, totals, countLost }: Domain["sessions"]) {
  return {
    store: stores.active.kind,
    isUnusable: stores.active.kind === "local" && (await storeState()) === "unusable",
    kept: keptIn(totals()),
    withoutBytes: countLost(),
  };
}

function harnessState(config: Config): HarnessState {
  const file = config.get("harnesses.file");
  try {
    return { file, signer: readHarnessFacts(config).source?.signer, problem: undefined };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return { file, signer: undefined, problem: error.message };
  }
}
