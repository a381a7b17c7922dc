// The first start of the service as far as the policy goes: its first revision is published, as the service would.
import { createDocumentThreads } from "../../../src/app/documents/document-threads.ts";
import { applyGovernance } from "../../../src/app/files/governance-file.ts";
import { loadConfig } from "../../../src/platform/config/config.ts";
import { type DataInUse, inInstallation } from "./installed-login.ts";

/** Publishes the policy that a start without a configuration file publishes. */
export const beginPolicyOn = (place: DataInUse): Promise<void> =>
  inInstallation(place, async (installation) => {
    const { organizationId } = installation;
    const actor = { kind: "system" as const, id: null, label: "service", organizationId };
    const config = loadConfig({ flags: { dataDir: place.data }, env: {}, cwd: place.data });
    await applyGovernance(installation, { config, file: undefined, actor, runTask: createDocumentThreads() });
  });
