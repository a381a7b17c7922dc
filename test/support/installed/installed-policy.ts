// Publishes the first revision of the policy, like the first start of the service.
import { createDocumentThreads } from "../../../src/app/documents/document-threads.ts";
import { applyGovernance } from "../../../src/app/files/governance-file.ts";
import { loadConfig } from "../../../src/platform/config/config.ts";
import { publishConflict } from "../content/policy.ts";
import { type DataInUse, inInstallation } from "./installed-login.ts";

/** Publishes the policy that a start without a configuration file publishes. */
export const beginPolicyOn = (place: DataInUse): Promise<void> =>
  inInstallation(place, async (installation) => {
    const { organizationId } = installation;
    const actor = { kind: "system" as const, id: null, label: "service", organizationId };
    const config = loadConfig({ flags: { dataDir: place.data }, env: {}, cwd: place.data });
    await applyGovernance(installation, { config, file: undefined, actor, runTask: createDocumentThreads() });
  });

/** Makes the file and the policy differ in the seconds, as after two starts and a command between them. */
export const conflictOn = (place: DataInUse): Promise<void> =>
  inInstallation(place, async ({ domain, organizationId }) => {
    const actor = { kind: "operator" as const, id: null, label: "root", organizationId };
    await publishConflict({ domain, world: { organizationId, system: actor } });
  });

/** Saves a draft of root@example.org, like the console. */
export const draftOn = (place: DataInUse, text: string): Promise<unknown> =>
  inInstallation(place, async ({ domain, organizationId }) => {
    const { id, email } = domain.identity.users.find(organizationId, "root@example.org");
    const actor = { kind: "user" as const, id, label: email, organizationId };
    const { drafts } = domain.governance;
    return await drafts.savePolicy(actor, { version: drafts.versionOf(actor) }, text);
  });
