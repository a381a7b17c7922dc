// Logs settings of the first start that a later start ignores, and the command to use instead.

import type { Config } from "../../../platform/config/config.ts";
import type { Log } from "../../../platform/observe/log.ts";
import type { Installation } from "../../installation/installation.ts";
import { bootstrapRequest } from "../../installation/setup.ts";

/** Call it after beginInstallation. */
export async function reportUnusedBootstrap(
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
