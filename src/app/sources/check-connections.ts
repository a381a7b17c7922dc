// Checks the repository connections: which are disabled, which fail, and which lack the git program.
import { disabledText } from "../../domain/catalog/connections/connection.ts";
import { GIT_VERSION_MIN } from "../../domain/catalog/connections/git/installed-git.ts";
import type { Examined } from "../doctor/domain-checks.ts";
import type { Check, Finding } from "../doctor/finding.ts";

const CORRECT =
  "correct package_sources.connections in the configuration file, then reload the service; if a variable is set only for the service, set it for this command too";

/** @returns a finding for each connection with a problem */
export async function checkPackageSources(
  check: Check,
  { domain, organizationId }: Pick<Examined, "domain" | "organizationId">,
): Promise<Finding[]> {
  const connections = domain.packageSources.operatorView(organizationId);
  const wrong = connections.flatMap((found) => {
    const { id, connection, status, reason } = found;
    if (status === "disabled") return [check.failed(disabledText(found), CORRECT)];
    if (status === "failing")
      return [
        check.warning(
          `the repository connection ${id} fails: ${reason}`,
          `to see the reason: quartermaster connections verify ${id}`,
        ),
      ];
    return connection?.namespaces.length === 0
      ? [
          check.warning(
            `the repository connection ${id} grants this organization no namespace`,
            "add the organization (bootstrap.organization_slug) to organizations of the connection",
          ),
        ]
      : [];
  });
  wrong.push(
    ...(await domain.packageSources.mirrors.withoutGit()).map((id) =>
      check.failed(
        `the repository connection ${id} needs the git program, and the machine has none that is recent enough`,
        `install git ${GIT_VERSION_MIN.join(".")} or later, in a folder of PATH of the service`,
      ),
    ),
  );
  if (wrong.length > 0) return wrong;
  return [check.ok(connections.length === 0 ? "no repository connections" : `${connections.length} usable`)];
}
