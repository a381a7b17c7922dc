// `bun run bench [part …]`: measures side by side, in one run on one machine, and prints each result when it is known, so that a run
// that breaks keeps its earlier ones. The results are for people to read. Only a limit that is exceeded by a factor of three makes the run fail, with exit code 1.
import { measureBackup } from "./backup.ts";
import { measureCapacity } from "./capacity/capacity.ts";
import { measureCatalog } from "./catalog.ts";
import { measureClients } from "./clients/clients.ts";
import { measureConsole } from "./console/console.ts";
import { measureConsoleGrowth } from "./console/console-growth.ts";
import { measureContent } from "./content/content.ts";
import { measurePages } from "./content/pages.ts";
import { measureExecutable } from "./executable.ts";
import { type Part, printFigure, printHead } from "./figures.ts";
import { measureFleet } from "./fleet/fleet.ts";
import { measureGateway } from "./gateway/gateway.ts";
import { measureGovernance } from "./governance.ts";
import { measureGuard } from "./guard/guard.ts";
import { measureInference } from "./inference/inference.ts";
import { measureMigration } from "./migration.ts";
import { measureOAuth } from "./oauth/oauth.ts";
import { measurePolicy } from "./policy/policy.ts";
import { measureRequestLogs } from "./request-logs.ts";
import { measureScim } from "./scim/scim.ts";
import { measureSessionLists } from "./sessions/session-lists.ts";
import { measureSessionPages } from "./sessions/session-pages.ts";
import { measureSessions } from "./sessions/sessions.ts";
import { measureSources } from "./sources/sources.ts";
import { measureSso } from "./sso/sso.ts";
import { measureTokens } from "./tokens/tokens.ts";
import { measureTracing } from "./tracing/tracing.ts";
import { measureWrites } from "./writes.ts";

const PARTS: Readonly<Record<string, Part>> = {
  capacity: measureCapacity,
  catalog: measureCatalog,
  guard: measureGuard,
  gateway: measureGateway,
  inference: measureInference,
  governance: measureGovernance,
  clients: measureClients,
  console: measureConsole,
  "console-growth": measureConsoleGrowth,
  policy: measurePolicy,
  content: measureContent,
  pages: measurePages,
  fleet: measureFleet,
  tokens: measureTokens,
  tracing: measureTracing,
  oauth: measureOAuth,
  scim: measureScim,
  sessions: async function* () {
    yield* measureSessions();
    yield* measureSessionLists();
  },
  "session-lists": measureSessionLists,
  "session-pages": measureSessionPages,
  sources: measureSources,
  sso: measureSso,
  writes: measureWrites,
  executable: measureExecutable,
  backup: measureBackup,
  migration: measureMigration,
  "request-logs": measureRequestLogs,
};
/** needs the whole machine for minutes */
const ONLY_WHEN_NAMED = new Set([
  "pages",
  "capacity",
  "session-lists",
  "session-pages",
  "backup",
  "migration",
  "request-logs",
  "fleet",
  "tokens",
  "console",
  "console-growth",
  "policy",
]);

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in PARTS));
if (unknown.length > 0) {
  console.error(`no part is called ${unknown.join(", ")}; there are ${Object.keys(PARTS).join(", ")}`);
  process.exit(2);
}
let hasFailed = false;
printHead();
for (const [name, measure] of Object.entries(PARTS)) {
  const isWanted = wanted.length > 0 ? wanted.includes(name) : !ONLY_WHEN_NAMED.has(name);
  if (!isWanted) continue;
  console.error(`measuring ${name} …`);
  for await (const figure of measure()) {
    printFigure(figure);
    hasFailed ||= figure.verdict?.isFailure ?? false;
  }
}
process.exit(hasFailed ? 1 : 0);
