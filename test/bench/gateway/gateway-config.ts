// The configuration file of a service whose inference gateway is gateway-peer.ts.
import { writeFileSync } from "node:fs";

/** Writes the file. @param callsAtOnce calls to the gateway at the same time */
export function writeGatewayConfig(
  file: string,
  { port, callsAtOnce }: { port: number; callsAtOnce: number },
) {
  const origin = `http://127.0.0.1:${port}`;
  const provisioner = {
    type: "builtin-litellm",
    max_concurrency: callsAtOnce,
    admin_key: "sk-bench-admin-key-0123456789",
  };
  const gateway = { type: "litellm", url: origin, inference_proxy_url: origin, provisioner };
  writeFileSync(file, JSON.stringify({ gateway }), { mode: 0o600 });
}
