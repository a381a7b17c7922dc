// Generates the users of the example organization, and its workstations with their installed harnesses. The same seed
// gives the same organization.
import { hash } from "node:crypto";

export const ADMINISTRATOR = "admin@example.org";
export const USERS: readonly string[] = [
  "ana@example.org",
  "ben@example.org",
  "chen@example.org",
  "dora@example.org",
  "emil@example.org",
];

/** One simulated workstation. */
export interface Profile {
  instanceId: string;
  hostname: string;
  /** e-mail address */
  user: string;
  platform: string;
  architecture: string;
  /** version of each installed harness */
  harnesses: Readonly<Record<string, string>>;
  /** has a harness version that the next policy does not allow */
  isOld: boolean;
  /** somebody has changed managed files */
  hasChangedFiles: boolean;
  /** reports once and then misses every new policy, like a closed laptop */
  isAsleep: boolean;
}

const PLACES = ["lab", "desk", "build", "field"];
const PLATFORMS: readonly (readonly [platform: string, architecture: string])[] = [
  ["linux", "x86_64"],
  ["linux", "aarch64"],
  ["macos", "aarch64"],
];
const CODEX_VERSIONS = ["0.145.0", "0.147.2", "0.150.1"];
const CLAUDE_VERSIONS = ["2.1.100", "2.1.180", "2.1.240"];
/** The first policy of the demo allows it, the next one does not. */
const OLD_CLAUDE_VERSION = "2.0.20";
/** One workstation in each interval is special, so that each health state has an example. */
const SPECIAL_EVERY = 6;

/** @returns the workstations, in the order in which they sign in */
export const profilesOf = (seed: string, count: number): Profile[] =>
  Array.from({ length: count }, (_, at) => profileAt(seed, at));

function profileAt(seed: string, at: number): Profile {
  const pick = picker(`${seed}/${at}`);
  const [platform, architecture] = pick("platform", PLATFORMS);
  const special = at % SPECIAL_EVERY;
  const isOld = special === 1;
  return {
    instanceId: uuidOf(`${seed}/${at}/instance`),
    hostname: `${pick("place", PLACES)}-${String(at + 1).padStart(2, "0")}`,
    user: pick("user", USERS),
    platform,
    architecture,
    harnesses: {
      claude: isOld ? OLD_CLAUDE_VERSION : pick("claude", CLAUDE_VERSIONS),
      codex: pick("codex", CODEX_VERSIONS),
    },
    isOld,
    hasChangedFiles: special === 3,
    isAsleep: special === 5,
  };
}

/** @returns a function that picks one of the choices by the seed and the name of the question */
const picker =
  (seed: string) =>
  <T>(question: string, choices: readonly T[]): T => {
    const draw = hash("sha256", `${seed}/${question}`, "buffer").readUInt32BE(0);
    const choice = choices[draw % choices.length];
    if (choice === undefined) throw new Error(`no choices for ${question}`);
    return choice;
  };

/** @returns a UUIDv8 (RFC 9562 section 5.8) */
function uuidOf(seed: string): string {
  const bytes = hash("sha256", seed, "buffer").subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
