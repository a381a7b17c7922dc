// A bench with an installation, a small real gateway, and a configuration file that turns on gateway mode.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ADMIN_KEY, LitellmGateway } from "../gateway/litellm-gateway.ts";
import { type Bench, createInstallation } from "../in-process.ts";

export interface InstalledGateway extends AsyncDisposable {
  bench: Bench;
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

/** The file is `gateway.yaml` in the bench's folder. */
export async function createInstalledGateway(): Promise<InstalledGateway> {
  const bench = await createInstallation();
  const gateway = await LitellmGateway.start({ clock: bench.clock });
  writeFileSync(join(bench.folder, "gateway.yaml"), gatewayConfiguration(gateway), { mode: 0o600 });
  return {
    bench,
    gateway,
    async [Symbol.asyncDispose]() {
      await gateway.stop();
      bench[Symbol.dispose]();
    },
  };
}
