// `policy export`: prints one file that reproduces the configuration and the current policy, without secrets.
import { Value } from "@sinclair/typebox/value";
import { configurationOf } from "../../../src/app/files/governance-file.ts";
import { DeploymentConfigExport } from "../../../src/domain/governance/reading/admin-view.ts";
import type { Call } from "../../data-directory/in-domain.ts";

export async function exportDeployment({ domain, actor, config, output }: Call): Promise<void> {
  const { organizationId } = actor;
  const { revisions, views } = domain.governance;
  const bytes = await views.exported(
    revisions.inForce(organizationId),
    configurationOf(config.content),
    domain.sourceWatch.managedSources(organizationId),
  );
  const exported = Value.Parse(DeploymentConfigExport, JSON.parse(Buffer.from(bytes).toString()));
  output.result(exported, exported.yaml.trimEnd());
  if (output.isJson) return; // the document lists them
  for (const { path, environment_variable: variable } of exported.redactions)
    output.warning(`the secret at ${path} is left out: set ${variable} before you use the file`);
}
