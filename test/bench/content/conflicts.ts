// How long the executable blocks other requests while administrators read and settle thousands of conflicts with the configuration
// file: the longest turn, as in content.ts.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { manySettings } from "../../support/content/large-content.ts";
import type { Figure } from "../figures.ts";
import { temporaryDirectory } from "../tools/installation.ts";
import { ROUNDS, startWatched, turnFigure } from "./stage.ts";

const CONFIG = "/admin/governance-config";
const CONFLICTS = `${CONFIG}/deployment-conflicts`;
const DRAFT = "/admin/policy-draft";
/** conflicts that one request settles, of 12,000 */
const SETTLED = 5_000;

/** @returns the longest turn of each action */
export async function* measureConflicts(): AsyncGenerator<Figure> {
  using directory = temporaryDirectory();
  const file = join(directory.path, "config.yaml");
  const write = (value: number) =>
    writeFileSync(file, JSON.stringify({ governance: manySettings(value) }), { mode: 0o600 });
  write(1);
  await using watched = await startWatched(directory.path, ["--config", file]);
  const { ask, service, turns } = watched;
  const read = async (path: string) => JSON.parse(await ask("GET", path));
  const managed_yaml = JSON.stringify(manySettings(2));
  await ask("PUT", CONFIG, { base_revision: (await read(CONFIG)).revision, managed_yaml });
  write(3);
  service.signal("SIGHUP");
  await service.logged("policy.conflict");
  const { version, conflicts } = await read(CONFLICTS);
  const paths: string[] = conflicts.map(({ path }: { path: string }) => path);
  const [taken, kept] = [paths.slice(0, SETTLED), paths.slice(SETTLED, 2 * SETTLED)];
  const stated = (await read(DRAFT)).version;
  for (const path of [CONFIG, CONFLICTS, "/console/policy"]) {
    await ask("GET", path); // compiles the code
    const rounds: number[] = [];
    while (rounds.length < ROUNDS) rounds.push(await turns.longest(() => ask("GET", path)));
    yield turnFigure(`${paths.length} conflicts: GET ${path}`, Math.max(...rounds));
  }
  // An action removes the conflicts that it settles, so it is measured once.
  const acts = {
    [`taking ${SETTLED} values of the file`]: () => ask("PUT", DRAFT, { version: stated, deployment: taken }),
    [`keeping ${SETTLED} values`]: () => ask("POST", `${CONFLICTS}/keep`, { version, paths: kept }),
  };
  for (const [what, act] of Object.entries(acts))
    yield turnFigure(`${paths.length} conflicts: ${what}`, await turns.longest(act));
}
