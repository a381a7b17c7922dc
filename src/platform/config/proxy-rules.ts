// Rules for the settings of the inference proxy. config/rules.ts has those of the other settings.
import { isDeepStrictEqual } from "node:util";
import type { Problem } from "../errors.ts";
import { missingSetting, problem, type Settings } from "./setting-problem.ts";
import { IDENTITY_FACTS, type PROXY_MODES } from "./settings/inference.ts";
import { SETTING_NAMES } from "./table.ts";

export type ProxyMode = (typeof PROXY_MODES)[number];

export const EXTRA_PATHS_MAX = 50;

/** First path segments of LiteLLM's administration API, which a user's key must never reach through the proxy. */
const ADMINISTRATION = new Set([
  "key",
  "user",
  "team",
  "organization",
  "customer",
  "budget",
  "spend",
  "global",
  "config",
  "model",
  "credentials",
  "sso",
  "scim",
  "guardrails",
  "cache",
  "health",
  "audit",
]);

/** Headers that the proxy or the connection sets. */
const RESERVED_HEADERS = new Set([
  "accept-encoding",
  "api-key",
  "authorization",
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "cookie",
  "expect",
  "host",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "x-api-key",
]);

/** @returns which process forwards inference requests; meaningless while gateway mode is off */
export const proxyModeOf = (config: Settings): ProxyMode =>
  config.get("gateway.proxy.mode") ?? (config.has("gateway.proxy_token") ? "external" : "in-process");

/** @returns the problems of the proxy's settings; requires that gateway mode is on */
export const problemsOfProxy = (config: Settings): readonly Problem[] => [
  ...missingOfMode(config),
  ...problemsOfListen(config),
  ...problemsOfPaths(config),
  ...problemsOfHeaders(config),
];

/** @returns warnings for the operator, as sentences; requires that gateway mode is on */
export function proxyWarnings(config: Settings): readonly string[] {
  const mode = proxyModeOf(config);
  if (mode === "in-process") return [];
  const ignored = SETTING_NAMES.filter(
    (name) => name.startsWith("gateway.proxy.") && name !== "gateway.proxy.mode" && config.has(name),
  );
  if (ignored.length === 0) return [];
  const who = mode === "external" ? "a separate proxy forwards inference" : "nobody forwards inference";
  return [`${who}, so these do nothing: ${ignored.join(", ")}`];
}

function missingOfMode(config: Settings): readonly Problem[] {
  const mode = proxyModeOf(config);
  const why =
    mode !== "in-process"
      ? `gateway.proxy.mode ${mode} needs it`
      : config.has("gateway.proxy.listen")
        ? "gateway.proxy.listen needs it"
        : undefined;
  return [
    ...(why === undefined || config.has("gateway.inference_proxy_url")
      ? []
      : [missingSetting("gateway.inference_proxy_url", why)]),
    ...(mode === "external" && !config.has("gateway.proxy_token")
      ? [missingSetting("gateway.proxy_token", "gateway.proxy.mode external needs it")]
      : []),
  ];
}

/** A second listener at the same address would fail to start, as if another program used the address. */
function problemsOfListen(config: Settings): readonly Problem[] {
  const name = "gateway.proxy.listen";
  const [own, main] = [config.get(name), config.get("server.listen")];
  const isAnyPort = own?.kind === "tcp" && own.port === 0;
  if (proxyModeOf(config) !== "in-process" || isAnyPort || !isDeepStrictEqual(own, main)) return [];
  return [problem(name, "is the address of server.listen; choose another port or path, or leave it out")];
}

function problemsOfPaths(config: Settings): readonly Problem[] {
  const name = "gateway.proxy.extra_paths";
  const entries = config.get(name) ?? [];
  if (entries.length > EXTRA_PATHS_MAX)
    return [problem(name, `must have at most ${EXTRA_PATHS_MAX} entries`)];
  const twice = new Set(entries.filter((entry, index) => entries.indexOf(entry) < index));
  return [
    ...entries.flatMap((entry) => {
      const segment = administrationIn(entry);
      return segment === undefined
        ? []
        : [
            problem(
              name,
              `${entry} is administration of the gateway (/${segment}), which is never forwarded`,
            ),
          ];
    }),
    ...[...twice].map((entry) => problem(name, `${entry} is listed more than once`)),
  ];
}

/** Checks the first segment and the one after `/v1`, because gateways accept both forms. */
function administrationIn(entry: string): string | undefined {
  const [first = "", second = ""] = entry.toLowerCase().split("/").slice(1);
  return [first, ...(first === "v1" ? [second] : [])].find((segment) => ADMINISTRATION.has(segment));
}

function problemsOfHeaders(config: Settings): readonly Problem[] {
  const name = "gateway.proxy.identity_headers";
  const facts: readonly string[] = IDENTITY_FACTS;
  return [...(config.get(name) ?? [])].flatMap(([fact, header]) => [
    ...(facts.includes(fact)
      ? []
      : [problem(name, `${fact} is not a fact about the caller; use one of ${facts.join(", ")}`)]),
    ...(RESERVED_HEADERS.has(header)
      ? [problem(name, `${header} belongs to the request itself; use a header of your own`)]
      : []),
  ]);
}
