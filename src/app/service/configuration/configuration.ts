// Updates the database and the running service from the configuration: at a start, before any request is answered, and at a
// reload.

import type { Seeded } from "../../../domain/catalog/service.ts";
import type { BootstrapResult } from "../../../domain/identity/service.ts";
import type { Actor } from "../../../domain/shared/actor.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { AdjustableLog, Log } from "../../../platform/observe/log.ts";
import type { RunDocumentTask } from "../../documents/document-threads.ts";
import { applyGovernance, logGovernance, reloadGovernance } from "../../files/governance-file.ts";
import type { Installation } from "../../installation/installation.ts";
import { beginInstallation, bootstrapRequest } from "../../installation/setup.ts";
import type { createOperations } from "../../operations/operations.ts";
import type { ServiceSockets } from "../service-sockets.ts";
import { reloadCatalog, seedFromFile } from "./catalog-seeding.ts";
import { loadHarnesses, reloadHarnesses } from "./harness-facts.ts";
import { reloadProvider, startProvider } from "./provider-settings.ts";
import { reloadRoleMapping, startProvisioning } from "./provisioning-start.ts";
import { reloadSettings } from "./settings-reload.ts";

interface Parts {
  config: Config;
  log: AdjustableLog;
  runTask: RunDocumentTask;
}

/** The result of a start. */
export interface Configured {
  bootstrap: BootstrapResult;
  /** the actor for changes by the service itself */
  actor: Actor;
  /** changes from the catalog file; undefined without a catalog file */
  seeded: Seeded | undefined;
}

type Connections = Pick<Installation, "connections">;

/** Logs every connection that cannot be used; the start does not depend on any. */
function logConnections({ connections }: Connections, log: Log): void {
  for (const { id = null, problems } of connections.broken())
    log.error("package_source.disabled", {
      connection: id,
      problems,
      next: "quartermaster connections list",
    });
}

/** @param fresh undefined if the configuration could not be read, which was logged */
function reloadConnections(
  installation: Connections,
  { fresh, log }: { fresh: Config | undefined; log: Log },
): void {
  if (!fresh) return;
  installation.connections.use(fresh);
  logConnections(installation, log);
}

/**
 * Logs settings of the first start that a later start ignores, and the command to use instead. Call it after beginInstallation.
 */
async function reportUnusedBootstrap(
  { domain: { identity } }: Installation,
  { config, log }: { config: Config; log: Log },
): Promise<void> {
  const { organizationName, adminPassword } = await identity.bootstrap.differences(bootstrapRequest(config));
  if (organizationName && config.has("bootstrap.organization_name"))
    log.warning("bootstrap.organization_name_unused", {
      because: "the setting applies to a new organization only; this organization keeps its different name",
      next: "quartermaster organization rename NAME, or set bootstrap.organization_name to the name in force",
    });
  if (adminPassword)
    log.warning("bootstrap.admin_password_unused", {
      because:
        "the setting applies to an administrator without a password only; this administrator keeps the existing password",
      next: "quartermaster users reset-password USER --password-file FILE, or remove bootstrap.admin_password",
    });
}

/** @throws DomainError `config.*`, `catalog.*`, `governance.*`, `harnesses.*` */
export async function configure(
  installation: Installation,
  {
    config,
    log,
    runTask,
    clock,
    onBootstrap,
    baseUrl,
  }: Parts & { clock: Clock; onBootstrap(result: BootstrapResult): void; baseUrl: string },
): Promise<Configured> {
  const { bootstrap, actor } = await beginInstallation(installation, { config, clock, onBootstrap });
  await reportUnusedBootstrap(installation, { config, log });
  await startProvisioning(installation, { actor, log, baseUrl });
  await startProvider(installation, { actor, log });
  await loadHarnesses(installation, { actor, log });
  logConnections(installation, log);
  const file = config.content;
  const seeded = await seedFromFile(installation, { config, file, actor, log });
  logGovernance(log, await applyGovernance(installation, { config, file, actor, runTask }));
  return { bootstrap, actor, seeded };
}

interface ReloadParts extends Parts {
  actor: Actor;
  sockets: ServiceSockets;
  operations: ReturnType<typeof createOperations>;
}

/** Reloads everything that a reload applies. Invalid content is logged and changes nothing. */
export async function reconfigure(
  installation: Installation,
  { config, log, actor, sockets, operations, runTask }: ReloadParts,
): Promise<void> {
  const reading = config.readFileAgain(runTask);
  const fresh = await reloadSettings({ config, log, reading, ...sockets, ...installation });
  operations.useSettings(fresh);
  await reloadProvider(installation, { fresh, actor, log });
  reloadConnections(installation, { fresh, log });
  await reloadHarnesses(installation, { actor, log });
  await reloadCatalog(installation, { config, actor, log, reading });
  await reloadGovernance(installation, { config, actor, log, reading, runTask });
  await reloadRoleMapping(installation, { config, actor, log, reading });
}
