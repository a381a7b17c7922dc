// The repository connections at a start and a reload: logs which are disabled, and puts new ones in force.
import type { Config } from "../../../platform/config/config.ts";
import type { Log } from "../../../platform/observe/log.ts";
import type { Installation } from "../../installation/installation.ts";

type Connections = Pick<Installation, "connections">;

/** Logs every connection that cannot be used; the start does not depend on any. */
export function logConnections({ connections }: Connections, log: Log): void {
  for (const { id = null, problems } of connections.broken())
    log.error("package_source.disabled", {
      connection: id,
      problems,
      next: "quartermaster connections list",
    });
}

/** @param fresh undefined if the configuration could not be read, which was logged */
export function reloadConnections(
  installation: Connections,
  { fresh, log }: { fresh: Config | undefined; log: Log },
): void {
  if (!fresh) return;
  installation.connections.use(fresh);
  logConnections(installation, log);
}
