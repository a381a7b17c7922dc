// Reads the members of one repository connection from the configuration file: their names, their valid values, and their
// dependencies on each other. configured-connections.ts decides how to treat a connection with problems.
import { closest } from "fastest-levenshtein";
import {
  type CloneAddress,
  PROVIDERS,
  type Provider,
} from "../../../domain/catalog/connections/connection.ts";
import { isJsonObject, type JsonObject } from "../../../platform/json/json-object.ts";

const MEMBERS = [
  ...["id", "name", "provider", "api_base_url", "web_base_url", "app_id", "private_key", "token"],
  ...["ca_bundle", "download_hosts", "organizations", "skip_links", "watch_every_hours"],
  ...["webhook_secret", "username", "clone_path"],
];

export const ID_CHARACTERS_MAX = 64;
export const NAME_CHARACTERS_MAX = 200;
export const DOWNLOAD_HOSTS_MAX = 32;
export const NAMESPACES_MAX = 1_000;
export const WATCH_HOURS_MAX = 720;
export const USERNAME_CHARACTERS_MAX = 200;
export const CLONE_PATH_CHARACTERS_MAX = 200;

const ID = /^[A-Za-z0-9_-]+$/;
const HOST = /^(?=.{1,253}$)[a-z0-9-]+(?:\.[a-z0-9-]+)*$/;
/** A colon would end a user name in a header (RFC 7617 section 2). */
const USERNAME = /^[\x21-\x39\x3b-\x7e]+$/;
const CLONE_PATH =
  /^(?!.*\/\/)(?!.*\.\.)[A-Za-z0-9._~/-]*\{namespace\}[A-Za-z0-9._~/-]*\/[A-Za-z0-9._~/-]*\{name\}(?:\.git)?$/;
const NAMESPACE = /^(?:\*|[A-Za-z0-9._-]+(?:\/[A-Za-z0-9._-]+)*)$/;

interface HostRule {
  base: string | undefined;
  /** path of the API below the address of the host */
  api: string;
  downloadOrigins(base: URL): string[];
  /** for hosts whose archives are fetched with git */
  clone?: { base: string | undefined; path: string };
}

const none = () => [];

const HOST_RULES: Readonly<Record<Provider, HostRule>> = {
  github: {
    base: "https://api.github.com",
    api: "",
    downloadOrigins: ({ host, hostname }) =>
      hostname === "api.github.com"
        ? ["https://codeload.github.com", "https://objects.githubusercontent.com"]
        : [`https://codeload.${host}`],
  },
  gitlab: { base: "https://gitlab.com", api: "/api/v4", downloadOrigins: none },
  gitea: { base: undefined, api: "/api/v1", downloadOrigins: none },
  bitbucket_data_center: { base: undefined, api: "/rest/api/latest", downloadOrigins: none },
  bitbucket_cloud: {
    base: "https://api.bitbucket.org",
    api: "/2.0",
    downloadOrigins: none,
    clone: { base: "https://bitbucket.org", path: "{namespace}/{name}.git" },
  },
  git: {
    base: undefined,
    api: "",
    downloadOrigins: none,
    clone: { base: undefined, path: "{namespace}/{name}" },
  },
};

export interface ConnectionMembers {
  id: string;
  name: string;
  provider: Provider;
  apiBase: string;
  clone: CloneAddress | undefined;
  downloadOrigins: string[];
  namespaces: string[];
  skipLinks: boolean;
  watchEveryHours: number | undefined;
  appId: string | undefined;
  caBundle: string | undefined;
  username: string | undefined;
}

/**
 * @param slug of the installation's organization
 * @returns the members, and the problems, which make the members unusable
 */
export function readMembers(
  given: JsonObject,
  { slug }: { slug: string },
): { members: ConnectionMembers; problems: string[] } {
  const misspelled = misspelledMembers(given);
  const problems = [...misspelled].map(
    ([member, meant]) => `there is no member ${member}; the nearest is ${meant}`,
  );
  const meant = new Set(misspelled.values());
  const need = <T>(value: T | undefined, problem: string): T | undefined => {
    const [member = ""] = problem.split(" ", 1);
    const isMisspelled = given[member] === undefined && meant.has(member); // its only problem is already listed
    if (value === undefined && !isMisspelled) problems.push(problem);
    return value;
  };
  const id = textIn(given.id);
  need(idIn(given), ID_PROBLEM);
  const name = given.name === undefined ? id : textIn(given.name);
  if (given.name !== undefined && (name === undefined || name.length > NAME_CHARACTERS_MAX))
    problems.push(`name must be text of at most ${NAME_CHARACTERS_MAX} characters`);
  const provider = need(providerIn(given), PROVIDER_PROBLEM) ?? "github";
  const base = need(baseIn(given.api_base_url ?? HOST_RULES[provider].base), BASE_PROBLEM);
  const members: ConnectionMembers = {
    id: id ?? "",
    name: name ?? "",
    provider,
    apiBase: base ? apiOf(base, HOST_RULES[provider]) : "",
    clone: cloneIn(given, { provider, base, problems }),
    downloadOrigins: [
      ...(base ? HOST_RULES[provider].downloadOrigins(base) : []),
      ...(need(downloadHosts(given.download_hosts), DOWNLOAD_HOSTS_PROBLEM) ?? []),
    ],
    namespaces: need(namespacesIn(given.organizations, slug), ORGANIZATIONS_PROBLEM) ?? [],
    skipLinks: need(booleanIn(given.skip_links), "skip_links must be yes or no") ?? false,
    watchEveryHours: hoursIn(given.watch_every_hours, problems),
    appId: textIn(given.app_id),
    caBundle: textIn(given.ca_bundle),
    username: usernameIn(given.username, problems),
  };
  return { members, problems };
}

const BASE_PROBLEM = "api_base_url must be an https URL of the host, without user name, query and fragment";
const DOWNLOAD_HOSTS_PROBLEM = `download_hosts must be a list of at most ${DOWNLOAD_HOSTS_MAX} exact host names, without port and path`;
const ORGANIZATIONS_PROBLEM =
  "organizations must be a mapping of organization slugs, or of *, to lists of namespaces";

/** @returns the unknown members, each with the nearest known one */
const misspelledMembers = (given: JsonObject): ReadonlyMap<string, string> =>
  new Map(
    Object.keys(given)
      .filter((member) => !MEMBERS.includes(member))
      .map((member) => [member, closest(member, MEMBERS)]),
  );

const textIn = (value: unknown): string | undefined => {
  const text = typeof value === "number" ? String(value) : value;
  return typeof text === "string" && text.trim() !== "" && !/\p{Cc}/u.test(text) ? text.trim() : undefined;
};

const idIn = (given: JsonObject): string | undefined => {
  const id = textIn(given.id);
  return id !== undefined && ID.test(id) && id.length <= ID_CHARACTERS_MAX ? id : undefined;
};

const ID_PROBLEM = `id must be 1 to ${ID_CHARACTERS_MAX} letters, digits, - and _`;

const providerIn = ({ provider }: JsonObject): Provider | undefined =>
  PROVIDERS.find((known) => known === provider);

const PROVIDER_PROBLEM = `provider must be one of ${PROVIDERS.join(", ")}`;

/** @returns whether archives of that provider are fetched with git, at an address with a path for each repository */
export const comesThroughGit = (provider: Provider): boolean => HOST_RULES[provider].clone !== undefined;

/** Bitbucket Cloud serves its repositories from another host than its API. Reference deployments call that host web_base_url. */
function cloneIn(
  given: JsonObject,
  { provider, base, problems }: { provider: Provider; base: URL | undefined; problems: string[] },
): CloneAddress | undefined {
  const { clone } = HOST_RULES[provider];
  if (!clone) return undefined;
  const path = given.clone_path === undefined ? clone.path : textIn(given.clone_path);
  if (path === undefined || !CLONE_PATH.test(path) || path.length > CLONE_PATH_CHARACTERS_MAX)
    problems.push(CLONE_PATH_PROBLEM);
  const own = clone.base === undefined ? base : baseIn(given.web_base_url ?? clone.base);
  if (!own && clone.base !== undefined) problems.push(WEB_BASE_PROBLEM);
  return own && { base: withoutSlash(own), path: path ?? "" };
}

const CLONE_PATH_PROBLEM = `clone_path must be at most ${CLONE_PATH_CHARACTERS_MAX} characters with {namespace} and, at the end, {name} or {name}.git`;
const WEB_BASE_PROBLEM =
  "web_base_url must be an https URL of the repositories, without user name, query and fragment";

const withoutSlash = ({ origin, pathname }: URL): string => `${origin}${pathname.replace(/\/+$/, "")}`;

function usernameIn(value: unknown, problems: string[]): string | undefined {
  if (value === undefined || value === null) return undefined;
  const text = textIn(value);
  if (text !== undefined && USERNAME.test(text) && text.length <= USERNAME_CHARACTERS_MAX) return text;
  problems.push(
    `username must be one word of at most ${USERNAME_CHARACTERS_MAX} characters, without a colon`,
  );
  return undefined;
}

function baseIn(value: unknown): URL | undefined {
  const url = URL.parse(textIn(value) ?? "");
  if (url?.protocol !== "https:" || url.hostname === "") return undefined;
  return url.username === "" && url.password === "" && url.search === "" && url.hash === "" ? url : undefined;
}

/** Operators may configure the address of the host or of its API. */
function apiOf({ origin, pathname }: URL, { api }: HostRule): string {
  const path = pathname
    .replace(/\/+$/, "")
    .replace(/\/api\/v[14]$|\/rest\/api\/(?:latest|1\.0)$|\/2\.0$/, "");
  return `${origin}${api === "" ? pathname.replace(/\/+$/, "") : path + api}`;
}

function downloadHosts(value: unknown): string[] | undefined {
  const hosts = value ?? [];
  if (!Array.isArray(hosts) || hosts.length > DOWNLOAD_HOSTS_MAX) return undefined;
  const names = hosts.map((host) => (typeof host === "string" ? host.toLowerCase() : ""));
  return names.every((host) => HOST.test(host)) ? names.map((host) => `https://${host}`) : undefined;
}

/** @returns the namespaces of the organization; none if the connection is for others only */
function namespacesIn(value: unknown, slug: string): string[] | undefined {
  if (!isJsonObject(value) || Object.keys(value).length === 0) return undefined;
  const lists = Object.values(value);
  const isSound = lists.every(
    (list) =>
      Array.isArray(list) &&
      list.length <= NAMESPACES_MAX &&
      list.every((namespace) => typeof namespace === "string" && NAMESPACE.test(namespace)),
  );
  if (!isSound) return undefined;
  const own = value[slug] ?? value["*"] ?? [];
  return Array.isArray(own) ? own.map(String) : undefined;
}

const WORDS: Readonly<Record<string, boolean>> = { yes: true, true: true, no: false, false: false };
const booleanIn = (value: unknown): boolean | undefined => WORDS[String(value ?? "no")];

function hoursIn(value: unknown, problems: string[]): number | undefined {
  if (value === undefined || value === null) return undefined;
  const hours = Number(value);
  if (Number.isInteger(hours) && hours >= 1 && hours <= WATCH_HOURS_MAX) return hours;
  problems.push(`watch_every_hours must be a whole number from 1 to ${WATCH_HOURS_MAX}`);
  return undefined;
}
