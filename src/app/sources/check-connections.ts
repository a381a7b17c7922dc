// Checks the repository connections: which are disabled, and which fail.
import type { Examined } from "../doctor/content.ts";
import type { Check, Finding } from "../doctor/finding.ts";

/** @returns a finding for each connection with a problem */
export function checkPackageSources(
  check: Check,
  { domain, organizationId }: Pick<Examined, "domain" | "organizationId">,
): Finding[] {
  const connections = domain.packageSources.operatorView(organizationId);
  const wrong = connections.flatMap(({ id = "without an id", connection, status, reason, problems }) => {
    if (status === "disabled")
      return [
        check.failed(
          `the repository connection ${id} is disabled: ${problems.join("; ")}`,
          "correct package_sources.connections in the configuration file, then reload the service",
        ),
      ];
    if (status === "failing")
      return [
        check.warning(
          `the repository connection ${id} fails: ${reason}`,
          `find out why: quartermaster connections verify ${id}`,
        ),
      ];
    return connection?.namespaces.length === 0
      ? [
          check.warning(
            `the repository connection ${id} gives this organization no namespace`,
            "name the organization by bootstrap.organization_slug in organizations of the connection",
          ),
        ]
      : [];
  });
  if (wrong.length > 0) return wrong;
  return [check.ok(connections.length === 0 ? "no repository connections" : `${connections.length} usable`)];
}
