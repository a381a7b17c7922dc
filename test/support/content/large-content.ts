// The largest content that administrators may send, of the most expensive kinds: for tests and benchmarks of how long it blocks
// other requests.
import { HARNESS_KEYS } from "../../../src/domain/harnesses/harnesses.ts";
import { sha256Hex } from "../../../src/platform/ids.ts";

/** the versions of the harness that all packages below support */
const RANGE = ">=2.1.0, <2.20.0";
const SETTINGS_ENTRIES = 12_000;

/** @returns the policy of one administrator, as text in YAML: `count` settings of each harness, and comments for the rest */
export function largePolicyYaml(bytes: number, count = SETTINGS_ENTRIES): string {
  const entries = Array.from({ length: count }, (_, at) => `        - ${at % 10}\n`).join("");
  const settings = `    managed_config:\n      notes:\n${entries}`;
  const others = ["codex", "kimi", "opencode"].map((key) => `  ${key}:\n${settings}`).join("");
  const head = `revision: x\nallowed_harnesses: [claude]\nharnesses:\n  claude:\n    version_requirement: "${RANGE}"\n`;
  const text = head + settings + others;
  const comment = "# a comment that fills the text to its limit\n";
  return text + comment.repeat((bytes - text.length) / comment.length);
}

/** @returns the same policy as text in JSON, without comments */
export function largePolicyJson(count = SETTINGS_ENTRIES): string {
  const managed_config = { notes: Array.from({ length: count }, (_, at) => at % 10) };
  const others = ["codex", "kimi", "opencode"].map((key) => [key, { managed_config }]);
  return JSON.stringify({
    revision: "x",
    allowed_harnesses: ["claude"],
    harnesses: { claude: { version_requirement: RANGE, managed_config }, ...Object.fromEntries(others) },
  });
}

const SERVERS = 128;
const SERVER_VARIABLES = 80;

/** @returns the maximum number of MCP servers, by harness; each variable's value contains `value` */
export const manyServers = (value: string): Record<string, object[]> =>
  Object.fromEntries(
    HARNESS_KEYS.map((key) => [
      key,
      Array.from({ length: SERVERS }, (_, at) => ({
        name: `${key}-${at}`,
        command: "/usr/bin/tool",
        env: Object.fromEntries(
          Array.from({ length: SERVER_VARIABLES }, (_, number) => [`VARIABLE_${number}`, `${value} ${at}`]),
        ),
      })),
    ]),
  );

/** @returns a policy with this many settings of two harnesses */
export function manySettings(value: number, count = SETTINGS_ENTRIES / 2): object {
  const custom = Object.fromEntries(Array.from({ length: count }, (_, at) => [`s${at}`, value]));
  const managed_config = { custom };
  const claude = { version_requirement: RANGE, managed_config };
  return { revision: "x", allowed_harnesses: ["claude"], harnesses: { claude, codex: { managed_config } } };
}

function packageOf(at: number, more: object) {
  return {
    id: `package-${at}`,
    version: "1.2.0",
    source_ref: `https://packages.example.com/${at}`,
    sha256: sha256Hex(String(at)),
    adapters: { claude: { skills_dir: "skills" } },
    ...more,
  };
}

const VARIANTS = 32;
const variants = Array.from({ length: VARIANTS }, (_, at) => ({
  introduced: `2.${at}.0`,
  ...(at < VARIANTS - 1 && { before: `2.${at + 1}.0` }),
  skills_dir: "skills",
}));
const numbers = Array.from({ length: 2_000 }, (_, at) => 10_000_000 + at);

const KINDS = {
  small: (at: number) => packageOf(at, { settings: { note: "n".repeat(150) } }),
  "large texts": (at: number) => packageOf(at, { settings: { note: "n".repeat(60_000) } }),
  "lists of numbers": (at: number) => packageOf(at, { settings: { numbers } }),
  variants: (at: number) => packageOf(at, { adapters: { claude: { introduced: "2.0.0", variants } } }),
};

/** The parts of a package. */
export type PackageKind = keyof typeof KINDS;
export const PACKAGE_KINDS = [
  "small",
  "large texts",
  "lists of numbers",
  "variants",
] as const satisfies readonly PackageKind[];

/** @returns packages of one kind, as many as fit into this many bytes of JSON and into a list */
export function largePackages(kind: PackageKind, bytes: number): object[] {
  const packages: object[] = [];
  let left = bytes;
  for (let at = 0; at < 5_000; at += 1) {
    const next = KINDS[kind](at);
    left -= JSON.stringify(next).length + 1;
    if (left < 0) break;
    packages.push(next);
  }
  return packages;
}
