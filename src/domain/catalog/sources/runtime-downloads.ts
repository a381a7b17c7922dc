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

interface Sign {
  what: string;
  /** linear in the length of the text; begins with what is rare, because the text is searched for that first */
  pattern: RegExp;
  /** texts without any of these cannot match; a search for them in the bytes is much faster than the pattern */
  needs: readonly string[];
}

const SIGNS: readonly Sign[] = [
  {
    what: "runs a package from a registry",
    pattern: /x(?<=\b(?:npx|bunx|pnpx|uvx))["']?[\s,]/,
    needs: ["npx", "bunx", "uvx"],
  },
  {
    what: "runs a package from a registry",
    pattern: /\b(?:npm exec|pnpm dlx|yarn dlx|pipx run)\b/,
    needs: ["npm exec", " dlx", "pipx run"],
  },
  {
    what: "installs packages",
    pattern:
      / (?<=\b(?:npm|pnpm|yarn|bun|pip3?|gem|cargo|go|brew|apt|apt-get|dnf|apk) )(?:install|add|ci|get)\b/,
    needs: [" install", " add", " ci", " get"],
  },
  {
    what: "downloads",
    pattern: new RegExp(`\\b(?:curl|wget|Invoke-WebRequest)\\b${REACH}${REMOTE}`),
    needs: ["curl", "wget", "Invoke-WebRequest"],
  },
  {
    what: "clones a repository",
    pattern: /\bgit (?:clone|pull|submodule update)\b/,
    needs: ["git clone", "git pull", "git submodule update"],
  },
  {
    what: "runs a container image",
    pattern: /\b(?:docker|podman) (?:run|pull)\b|"command"\s{0,8}:\s{0,8}"(?:docker|podman)"/,
    needs: ["docker", "podman"],
  },
  {
    what: "imports or fetches from an address",
    pattern: new RegExp(`\\b(?:import|from|require|fetch)\\b[\\s(]{0,8}["'\`]${REMOTE}`),
    needs: ["://"],
  },
  {
    what: "names a server elsewhere",
    pattern: new RegExp(`"(?:url|endpoint|serverUrl)"\\s{0,8}:\\s{0,8}"${REMOTE}`),
    needs: ["://"],
  },
];

/** @returns one entry for each finding in a file; none for a file that is not text */
export function findRuntimeDownloads(path: string, bytes: Uint8Array): RuntimeDownload[] {
  if (bytes.includes(0)) return [];
  const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const possible = SIGNS.filter(({ needs }) => needs.some((word) => content.includes(word, 0, "latin1")));
  if (possible.length === 0) return [];
  const text = content.toString("latin1");
  const found = possible.filter(({ pattern }) => pattern.test(text)).map(({ what }) => what);
  return [...new Set(found)].map((what) => ({ path, what }));
}
