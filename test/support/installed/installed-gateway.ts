// A workspace with an installation, a small real gateway, and a configuration file that turns on gateway mode.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ADMIN_KEY, LitellmGateway } from "../gateway/litellm-gateway.ts";
import { createInstallation, type Workspace } from "../in-process.ts";

export interface InstalledGateway extends AsyncDisposable {
  workspace: Workspace;
  gateway: LitellmGateway;
}

/** @returns the text of a configuration with the built-in provisioner for a gateway */
export const gatewayConfiguration = ({ origin }: Pick<LitellmGateway, "origin">): string => `
gateway:
  type: litellm
  url: ${origin}
  inference_proxy_url: https://inference.example.org
  provisioner: {type: builtin-litellm, admin_key: ${ADMIN_KEY}}
`;

/** The file is `gateway.yaml` in the folder of the workspace. */
export async function createInstalledGateway(): Promise<InstalledGateway> {
  const workspace = await createInstallation();
  const gateway = await LitellmGateway.start({ clock: workspace.clock });
  writeFileSync(join(workspace.folder, "gateway.yaml"), gatewayConfiguration(gateway), { mode: 0o600 });
  return {
    workspace,
    gateway,
    async [Symbol.asyncDispose]() {
      await gateway.stop();
      workspace[Symbol.dispose]();
    },
  };
}
