// The paths and methods that the proxy forwards. A path must match exactly, after the runtime has normalized the URL.
// The forwarded path is built from the entry, never from the caller's text.

/**
 * The API that a path belongs to. It decides the form of errors and of the last event of a stream. `chat` also covers completions,
 * embeddings and models.
 */
export type Dialect = "chat" | "responses" | "messages";

export interface Entry {
  /** label for metrics and logs, such as `/v1/responses/{id}` */
  readonly route: string;
  /** path appended to the URL of the upstream, such as `/v1/responses/resp_1` */
  readonly path: string;
  readonly dialect: Dialect;
}

/** An entry and the methods that it takes. */
export interface Listed {
  readonly entry: Entry;
  readonly methods: readonly string[];
}

export interface Paths {
  /** @returns the entry of a path without a variable part; a path that matches needs no normalization */
  fixed(path: string): Listed | undefined;
  /** @returns the entry of a normalized path */
  find(path: string): Listed | undefined;
}

/** Each exists with and without `/v1`, because some agents append `/v1` to the base URL themselves. */
const FIXED: readonly (readonly [path: string, dialect: Dialect])[] = [
  ["/chat/completions", "chat"],
  ["/completions", "chat"],
  ["/embeddings", "chat"],
  ["/responses", "responses"],
  ["/responses/compact", "responses"],
  ["/responses/input_tokens", "responses"],
  ["/messages", "messages"],
  ["/messages/count_tokens", "messages"],
];

const VERSION = "/v1";

interface Pattern {
  readonly pattern: RegExp;
  readonly route: string;
  readonly dialect: Dialect;
  readonly methods: readonly string[];
}

/** Names of models have dots, colons and one slash at most, such as `vendor/model-1.5:latest`. */
const PATTERNS: readonly Pattern[] = [
  {
    pattern: /^(?:\/v1)?\/responses\/[A-Za-z0-9_-]{1,200}$/,
    route: "/v1/responses/{id}",
    dialect: "responses",
    methods: ["GET", "DELETE"],
  },
  {
    pattern: /^(?:\/v1)?\/responses\/[A-Za-z0-9_-]{1,200}\/cancel$/,
    route: "/v1/responses/{id}/cancel",
    dialect: "responses",
    methods: ["POST"],
  },
  {
    pattern: /^(?:\/v1)?\/responses\/[A-Za-z0-9_-]{1,200}\/input_items$/,
    route: "/v1/responses/{id}/input_items",
    dialect: "responses",
    methods: ["GET"],
  },
  {
    pattern: /^(?:\/v1)?\/models\/[\w.:@~+-]{1,200}(?:\/[\w.:@~+-]{1,200})?$/,
    route: "/v1/models/{id}",
    dialect: "chat",
    methods: ["GET"],
  },
];

/**
 * @param extraPaths further exact paths, `METHOD /path` each; the settings have checked them
 * @returns the lookup of a path below the proxy's prefix
 */
export function createPaths(extraPaths: readonly string[]): Paths {
  const fixed = new Map<string, Listed>();
  for (const [path, dialect] of FIXED) {
    const route = VERSION + path;
    for (const each of [path, route])
      fixed.set(each, { entry: { route, path: each, dialect }, methods: ["POST"] });
  }
  for (const path of ["/models", "/v1/models"])
    fixed.set(path, { entry: { route: "/v1/models", path, dialect: "chat" }, methods: ["GET"] });
  for (const extra of extraPaths) addExtra(fixed, extra);
  const normal = new Map([...fixed].filter(([path]) => pathOf(path) === path));
  return {
    fixed: (path) => normal.get(path),
    find: (path) => fixed.get(path) ?? matched(path),
  };
}

/** @returns the path as the runtime normalizes it */
const pathOf = (url: string): string | undefined => URL.parse(url, "http://localhost")?.pathname;

function addExtra(fixed: Map<string, Listed>, extra: string): void {
  const [method = "", path = ""] = extra.split(" ");
  const known = fixed.get(path) ?? matched(path);
  const entry = known?.entry ?? { route: path, path, dialect: dialectOf(path) };
  fixed.set(path, { entry, methods: [...new Set([...(known?.methods ?? []), method])] });
}

function matched(path: string): Listed | undefined {
  const found = PATTERNS.find(({ pattern }) => pattern.test(path));
  return found && { entry: { route: found.route, path, dialect: found.dialect }, methods: found.methods };
}

/** @returns the probable API of an unlisted path, for its refusal */
export function dialectOf(path: string): Dialect {
  if (/\/messages(?:\/|$)/.test(path)) return "messages";
  return /\/responses(?:\/|$)/.test(path) ? "responses" : "chat";
}
