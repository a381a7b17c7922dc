// How long the executable blocks other requests while administrators read the largest policies, on every page and with every
// operation that uses the policy, and while they save, merge and publish a draft of one: the longest turn, as in content.ts.
import { largePackages, manyServers, manySettings } from "../../support/content/large-content.ts";
import type { Turns } from "../../support/turns.ts";
import type { Figure } from "../figures.ts";
import { temporaryDirectory } from "../tools/installation.ts";
import { measureConflicts } from "./conflicts.ts";
import { type Ask, ROUNDS, startWatched, turnFigure } from "./stage.ts";

const PACKAGES_BYTES = 1_000_000;
const DRAFT = "/admin/policy-draft";
const USER = "admin@example.com";

/** Two contents of one kind that differ in most places, as members of a saved draft. */
type Contents = readonly [object, object];

const servers = (value: string) => ({ mcp: manyServers(value) });
const settings = (value: number) => ({ managed_yaml: JSON.stringify(manySettings(value)) });
const packages = (kind: "small" | "variants", left: number): object => ({
  extensions: { packages: largePackages(kind, PACKAGES_BYTES).slice(left) },
});

const KINDS: Readonly<Record<string, Contents>> = {
  "40,960 variables of MCP servers": [servers("one"), servers("other")],
  "12,000 settings": [settings(1), settings(2)],
  "small packages": [packages("small", 0), packages("small", 1)],
  "packages with variants": [packages("variants", 0), packages("variants", 1)],
};

/** Pages and operations that read the policy or the draft. */
const READ = [
  ...["", "/history", "/history/2", "/diff?from=2&to=3", "/rollout/2", "/edit", "/review", "/discard"].map(
    (path) => `/console/policy${path}`,
  ),
  ...["", "&with_draft=yes", "&with_revision=2"].map(
    (compared) => `/console/policy/explain?user=${USER}&harness=claude${compared}`,
  ),
  "/console/policy/review/draft.yaml",
  ...[
    "me/policy",
    "harnesses",
    "harnesses/claude",
    "packages",
    "packages.csv",
    "catalog",
    "mcp",
    "mcp.csv",
  ].map((path) => `/console/${path}`),
  "/me/policy/explain?harness=claude",
  "/admin/governance-config",
  ...["", "/2", "/2/rollout"].map((path) => `/admin/governance-config/revisions${path}`),
  "/admin/governance-config/diff?from=2&to=3",
  `/admin/governance-config/explain?user_id=${USER}&harness=claude`,
  "/admin/blue-config/export",
  "/admin/harnesses/managed-configs",
  "/admin/harnesses/claude/managed-config",
  DRAFT,
];

/** @returns the longest turn of each kind of policy and of each request, the longest first */
export async function* measurePages(): AsyncGenerator<Figure> {
  for (const [kind, contents] of Object.entries(KINDS)) yield* await measureKind(kind, contents);
  yield* measureConflicts();
}

async function measureKind(kind: string, [one, other]: Contents): Promise<Figure[]> {
  using directory = temporaryDirectory();
  await using watched = await startWatched(directory.path);
  const { turns } = watched;
  const drafts = draftsOf(watched.ask, turns);
  await drafts.ask("PUT", "/admin/governance-config", {
    base_revision: JSON.parse(await drafts.ask("GET", "/admin/governance-config")).revision,
    managed_yaml: JSON.stringify(manySettings(0, 0)),
  });
  const longest = new Map<string, number>();
  const note = (what: string, turnMs: number) => longest.set(what, Math.max(turnMs, longest.get(what) ?? 0));
  // The first time compiles the code and is not counted.
  for (let at = 0; at <= ROUNDS; at++) {
    const saved = await drafts.save(at % 2 === 0 ? one : other);
    const published = await drafts.publish();
    if (at > 0) note("saving a draft", saved);
    if (at > 0) note("publishing it", published);
  }
  await drafts.save(one);
  for (const path of READ) {
    await drafts.ask("GET", path);
    for (let round = 0; round < ROUNDS; round++)
      note(`GET ${path}`, await turns.longest(() => drafts.ask("GET", path)));
  }
  return [...longest]
    .toSorted(([, first], [, second]) => second - first)
    .map(([what, turnMs]) => turnFigure(`${kind}: ${what}`, turnMs));
}

/** Saves and publishes the draft of the administrator. Both return the longest turn. */
function draftsOf(ask: Ask, turns: Turns) {
  const version = async (): Promise<number> => JSON.parse(await ask("GET", DRAFT)).version;
  return {
    ask,
    save: async (content: object) => {
      const stated = { version: await version() };
      return await turns.longest(() => ask("PUT", DRAFT, { ...stated, ...content }));
    },
    publish: async () => {
      const stated = { version: await version(), comment: "for the benchmark" };
      return await turns.longest(() => ask("POST", `${DRAFT}/publish`, stated));
    },
  };
}
