// An installation with all features of the product: policy, captured sessions, inference, provisioning, console, backups, traces.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ExistingInstallation } from "../../../src/app/installation/installation.ts";
import type { Policy } from "../../bench/clients/client-report.ts";
import { writeFleet } from "../../bench/fleet/fleet-rows.ts";
import { publishPolicies } from "../../bench/fleet/workstations.ts";
import { script, startServer } from "../../bench/processes.ts";
import { temporaryDirectory } from "../../bench/tools/installation.ts";
import { startTraceCollector } from "../../bench/tracing/trace-collector.ts";
import { sectionOf } from "../../domain/governance/governance-world.ts";
import { createSite, type Site } from "../site.ts";

const WORKSTATIONS = 48;
/**
 * Workstations that only have rows: enough to fill the page caches of the service, which would otherwise grow with the
 * rows of the run.
 */
const ROWS = 5_000;
const UPSTREAM = "inference/inference-upstream.ts";

export interface Product extends AsyncDisposable {
  site: Site;
  /** file with the access tokens of the workstations that only have rows, and the policy that they have */
  fleet: { tokens: string; policy: Policy };
}

/**
 * Starts the upstream of inference, and prepares the installation. The caller starts the service itself.
 * @param rows workstations that only have rows
 */
export async function prepareProduct(rows = ROWS): Promise<Product> {
  await using starting = new AsyncDisposableStack();
  const directory = starting.use(temporaryDirectory());
  const upstream = await startServer(script(UPSTREAM), "measuring");
  starting.defer(upstream.stop);
  const collector = starting.use(startTraceCollector());
  const config = join(directory.path, "quartermaster.yaml");
  const url = `http://127.0.0.1:${upstream.port}`;
  const settings = settingsOf(url, collector.origin);
  writeFileSync(config, JSON.stringify(settings), { mode: 0o600 });
  const tokens = join(directory.path, "tokens");
  let policy: Policy | undefined;
  const fill = async (installation: ExistingInstallation, origin: string) => {
    policy = await prepare(installation, origin, { rows, tokens });
  };
  const site = starting.use(
    await createSite({ workstations: WORKSTATIONS, prepare: fill, flags: ["--config", config] }),
  );
  if (!policy) throw new Error("the installation is prepared when its site is");
  const running = starting.move();
  return { site, fleet: { tokens, policy }, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/** All workstations belong to one user, whose requests are not limited. */
const settingsOf = (url: string, collector: string) => ({
  gateway: {
    type: "litellm",
    url,
    provisioner: { type: "builtin-litellm", admin_key: "sk-soak-admin-key-0123456789" },
    proxy: { budgets: { parallel_requests: 0 } },
  },
  backup: { keep: 2 },
  tracing: { url: collector, sample_ratio: 0.1, propagate: true },
});

/** The policy asks for captured sessions, and has packages. @returns the report of a workstation about it */
async function prepare(
  installation: ExistingInstallation,
  origin: string,
  { rows, tokens }: { rows: number; tokens: string },
): Promise<Policy> {
  const { domain, organizationId } = installation;
  const operator = { kind: "operator", id: null, label: "soak", organizationId } as const;
  const presign_url = `${origin}/session-uploads/presign`;
  const input = JSON.stringify(sectionOf({ session_upload: { presign_url } }));
  await domain.governance.deployments.apply(operator, { input, variables: {}, linesOf: async () => [] });
  const { current: policy } = await publishPolicies(installation);
  await writeFleet(installation, { count: rows, policy, tokens, round: rows });
  return policy;
}
