// Finds signs that a package downloads something when it runs: a pin covers only the content of the archive (AIR-5). It
// searches text and does not understand programs, so it can be wrong in both directions; it only warns.

/** Larger files are not searched. */
export const DOWNLOAD_SCAN_BYTES_MAX = 1_048_576;
/** of one archive; more findings add nothing */
export const DOWNLOADS_LISTED_MAX = 10;

export interface RuntimeDownload {
  /** of the file in the archive */
  path: string;
  /** a few words */
  what: string;
}

/** Maximum distance between a word and its address, so that a long line costs no more than a short one. */
const REACH = "[^\\n]{0,200}";
const REMOTE = "(?:https?|wss?)://(?!localhost\\b|127\\.|\\[::1\\])";

/** Each is linear in the length of the text. */
const SIGNS: readonly (readonly [what: string, sign: RegExp])[] = [
  [
    "runs a package from a registry",
    /\b(?:npx|bunx|pnpx|uvx)["']?[\s,]|\b(?:npm exec|pnpm dlx|yarn dlx|pipx run)\b/,
  ],
  [
    "installs packages",
    /\b(?:npm|pnpm|yarn|bun|pip3?|gem|cargo|go|brew|apt|apt-get|dnf|apk) (?:install|add|ci|get)\b/,
  ],
  ["downloads", new RegExp(`\\b(?:curl|wget|Invoke-WebRequest)\\b${REACH}${REMOTE}`)],
  ["clones a repository", /\bgit (?:clone|pull|submodule update)\b/],
  [
    "runs a container image",
    /\b(?:docker|podman) (?:run|pull)\b|"command"\s{0,8}:\s{0,8}"(?:docker|podman)"/,
  ],
  [
    "imports or fetches from an address",
    new RegExp(`\\b(?:import|from|require|fetch)\\b[\\s(]{0,8}["'\`]${REMOTE}`),
  ],
  ["names a server elsewhere", new RegExp(`"(?:url|endpoint|serverUrl)"\\s{0,8}:\\s{0,8}"${REMOTE}`)],
];

/** @returns one entry for each finding in a file; none for a file that is not text */
export function findRuntimeDownloads(path: string, bytes: Uint8Array): RuntimeDownload[] {
  if (bytes.includes(0)) return [];
  const text = Buffer.from(bytes).toString("latin1");
  return SIGNS.filter(([, sign]) => sign.test(text)).map(([what]) => ({ path, what }));
}
