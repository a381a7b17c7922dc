// Finds signs that a package downloads something at run time, because a pin covers only the content of the archive (AIR-5). It
// searches text and does not understand programs, so it may report too much or too little; it only warns.

/** Larger files are not searched. */
export const DOWNLOAD_SCAN_BYTES_MAX = 1_048_576;
/** maximum number of findings for one archive; more would add nothing */
export const DOWNLOADS_LISTED_MAX = 10;

export interface RuntimeDownload {
  /** path of the file in the archive */
  path: string;
  /** short description */
  what: string;
}

/** Maximum distance between a word and its URL, so that a long line takes no longer than a short one. */
const REACH = "[^\\n]{0,200}";
const REMOTE = "(?:https?|wss?)://(?!localhost\\b|127\\.|\\[::1\\])";

interface Sign {
  what: string;
  /** must take linear time; begins with a rare text, which the engine searches for first */
  pattern: RegExp;
  /** a match contains one of these texts; searching the bytes for them is much faster than the pattern */
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

/** @returns the findings in a file; none for a file that is not text */
export function findRuntimeDownloads(path: string, bytes: Uint8Array): RuntimeDownload[] {
  if (bytes.includes(0)) return [];
  const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const possible = SIGNS.filter(({ needs }) => needs.some((word) => content.includes(word, 0, "latin1")));
  if (possible.length === 0) return [];
  const text = content.toString("latin1");
  const found = possible.filter(({ pattern }) => pattern.test(text)).map(({ what }) => what);
  return [...new Set(found)].map((what) => ({ path, what }));
}
