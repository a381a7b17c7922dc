// A catalog of a realistic size: fifty packages, about sixty kilobytes of JSON.
const PACKAGES = 50;
const SKILLS_BYTES = 560;

/** @returns packages that need no download */
export const benchPackages = () =>
  Array.from({ length: PACKAGES }, (_, at) => packageOf(`package-${at + 1}`));

/** @returns a catalog file with the packages, in JSON */
export const catalogFile = (): string => JSON.stringify({ package_catalog: { packages: benchPackages() } });

function packageOf(id: string) {
  const settings = { notes: "n".repeat(SKILLS_BYTES) };
  const layout = { plugin_dir: "plugin", skills_dir: "plugin/skills", agents_dir: "plugin/agents" };
  return {
    id,
    name: `The package ${id}`,
    version: "1.2.0",
    source_ref: `https://packages.example.com/${id}/1.2.0/${id}.tar.gz`,
    sha256: new Bun.CryptoHasher("sha256").update(id).digest("hex"),
    settings,
    adapters: { codex: layout, claude: layout },
  };
}
