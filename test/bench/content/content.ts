// How long the executable blocks other requests while administrators send the largest policies: the longest turn of its event loop,
// in processor time of its main thread, so that other threads and processes do not count.
import {
  largePackages,
  largePolicyJson,
  largePolicyYaml,
  PACKAGE_KINDS,
} from "../../support/content/large-content.ts";
import type { Figure } from "../figures.ts";
import { temporaryDirectory } from "../tools/installation.ts";
import { ROUNDS, startWatched, turnFigure } from "./stage.ts";

const POLICY_BYTES = 1_900_000;
/** leaves space for what publishing adds to each variant */
const PACKAGES_BYTES = 1_000_000;
const CONFIG = "/admin/governance-config";
const EXTENSIONS = "/admin/governance-extensions";

/**
 * @returns the longest turn of each kind of content. A first request compiles the code, and is the only one that adds a revision
 */
export async function* measureContent(): AsyncGenerator<Figure> {
  using directory = temporaryDirectory();
  await using watched = await startWatched(directory.path);
  const { turns, ask } = watched;
  const publish = async (path: string, content: object): Promise<number> => {
    const { revision: base_revision } = JSON.parse(await ask("GET", CONFIG));
    return await turns.longest(() => ask("PUT", path, { base_revision, ...content }));
  };
  const kinds = [
    ["policy of 1.9 MiB in YAML", () => publish(CONFIG, { managed_yaml: largePolicyYaml(POLICY_BYTES) })],
    ["the same settings in JSON", () => publish(CONFIG, { managed_yaml: largePolicyJson() })],
    ...PACKAGE_KINDS.map((kind) => {
      const packages = largePackages(kind, PACKAGES_BYTES);
      return [`packages: ${kind}`, () => publish(EXTENSIONS, { packages })] as const;
    }),
    ["reading the policy", () => turns.longest(() => ask("GET", CONFIG))],
  ] as const;
  for (const [what, measure] of kinds) {
    await measure();
    let ours = 0;
    for (let round = 0; round < ROUNDS; round++) ours = Math.max(ours, await measure());
    yield turnFigure(what, ours);
  }
}
