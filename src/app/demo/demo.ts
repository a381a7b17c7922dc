// A demo from beginning to end: a service on its own directory, the example organization in it, and workstations that use it
// over HTTP. cli/commands/demo prints what happens.
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../platform/clock.ts";
import { loadConfig } from "../../platform/config/config.ts";
import { invariant } from "../../platform/errors.ts";
import type { Ids } from "../../platform/ids.ts";
import { type AdjustableLog, bufferLines, createLog } from "../../platform/observe/log.ts";
import { type Service, startService } from "../service/service.ts";
import { type DemoDirectory, makeDemoDirectory } from "./demo-directory.ts";
import type { FleetState, ReportDemoEvent } from "./events.ts";
import { populate, writeCatalog } from "./example-organization.ts";
import { type Fleet, startFleet } from "./fleet.ts";
import { createDemoHttp } from "./http.ts";
import { ADMINISTRATOR, profilesOf } from "./profiles.ts";

export interface DemoOptions {
  /** absolute; an empty directory, or one that does not exist; default: a new one in the temporary directory of the system */
  directory: string | undefined;
  /** of 127.0.0.1; 0 lets the system choose */
  port: number;
  /** 1 to WORKSTATIONS_MAX */
  workstations: number;
  seed: string;
  clock: Clock;
  ids: Ids;
  report: ReportDemoEvent;
  /** ends the demo */
  signal: AbortSignal;
}

/** The only password has 192 random bits, so a fast hash is sufficient, and the demo starts faster. */
const PASSWORD_COST = { memoryKib: 8, passes: 1 };
/** Interval between two checks of the fleet's state. */
const CHECK_EVERY_MS = 250;

/**
 * Runs a demo until the signal aborts, and removes everything.
 * @throws DomainError `demo.*`, `listen.in_use` and other errors of a start; the reason of the signal if it aborts during the start
 */
export async function runDemo(options: DemoOptions): Promise<void> {
  const directory = makeDemoDirectory(options.directory);
  try {
    await runIn(directory, options);
  } finally {
    directory.remove();
  }
  options.report({ event: "removed", data_dir: directory.path });
}

async function runIn(directory: DemoDirectory, options: DemoOptions): Promise<void> {
  const { signal, report, clock, seed } = options;
  signal.throwIfAborted();
  await using undo = new AsyncDisposableStack();
  const { write, flush } = bufferLines((lines) =>
    appendFileSync(logFileIn(directory), lines, { mode: 0o600 }),
  );
  undo.defer(flush);
  const log = createLog({ level: "info", format: "text", write, clock });
  const service = await startDemoService(directory, { ...options, log });
  undo.defer(() => service.stop());
  signal.throwIfAborted();
  const { installation, bootstrap, baseUrl } = service;
  const { organizationId, generatedPassword: password } = bootstrap;
  invariant(password, "a new installation generates a password");
  const nextPolicy = await populate(installation, directory, { organizationId, password });
  signal.throwIfAborted();
  const profiles = profilesOf(seed, options.workstations);
  report({
    event: "started",
    url: baseUrl,
    data_dir: directory.path,
    log: logFileIn(directory),
    administrator: ADMINISTRATOR,
    password: password.reveal(),
    workstations: profiles.map(({ hostname, user }) => ({ hostname, user })),
    misfit: profiles.find(({ isOld }) => isOld)?.hostname ?? null,
    next_policy: nextPolicy,
  });
  const fleet = startFleet({
    profiles,
    password,
    clock,
    signal,
    report,
    http: createDemoHttp(baseUrl, signal),
    onRevision: () => watch.check(),
  });
  using watch = watchFleet(fleet, { service, report });
  await Promise.all([fleet.ended, aborted(signal)]);
}

const logFileIn = ({ path }: DemoDirectory): string => join(path, "service.log");

async function startDemoService(
  directory: DemoDirectory,
  { port, clock, ids, log }: DemoOptions & { log: AdjustableLog },
): Promise<Service> {
  const flags = {
    dataDir: directory.path,
    serverListen: `127.0.0.1:${port}`,
    catalogFile: await writeCatalog(directory),
    bootstrapAdminEmail: ADMINISTRATOR,
    bootstrapOrganizationName: "Example organization",
    accessPollIntervalSeconds: "1",
    backupEveryHours: "0",
  };
  // No environment: settings of a real installation must not reach the demo.
  const config = loadConfig({ flags, env: {}, cwd: directory.path });
  return await startService({ config, clock, ids, log, passwordCost: PASSWORD_COST, onBootstrap: () => {} });
}

/**
 * Reports each change of the fleet's state, and each publication.
 * @returns `check` reports immediately, because on a busy machine workstations may apply a revision before the next
 * interval
 */
function watchFleet(
  fleet: Fleet,
  { service, report }: { service: Service; report: ReportDemoEvent },
): Disposable & { check(): void } {
  const { domain } = service.installation;
  const { organizationId } = service.bootstrap;
  let lastState: FleetState | undefined;
  const check = () => {
    const revision = domain.governance.revisions.current(organizationId)?.sequence ?? 0;
    const counts = domain.clients.inventory.counts(organizationId);
    const { workstations, silent, signed_out } = fleet.state();
    const reported = counts.current + counts.outdated + counts.attention;
    // A report counts before its workstation has read the response.
    const signing_in = Math.min(silent, Math.max(0, workstations - reported));
    const state: FleetState = { revision, workstations, signing_in, signed_out, ...counts };
    if (lastState && state.revision !== lastState.revision) report({ event: "policy_published", revision });
    if (!lastState || !Bun.deepEquals(state, lastState)) report({ event: "fleet", ...state });
    lastState = state;
  };
  check();
  const timer = setInterval(check, CHECK_EVERY_MS);
  return { check, [Symbol.dispose]: () => clearInterval(timer) };
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}
