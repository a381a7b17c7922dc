// A connection to a git host of the company, as the operator configured it. app/installation reads the configuration; hosts/
// talks to the hosts.
import type { Secret } from "../../../platform/secret.ts";

export const PROVIDERS = [
  "github",
  "gitlab",
  "gitea",
  "bitbucket_data_center",
  "bitbucket_cloud",
  "git",
] as const;
export type Provider = (typeof PROVIDERS)[number];

export type Credential =
  | { kind: "token"; token: Secret }
  /** id and RSA key (PEM) of a GitHub App */
  | { kind: "app"; appId: string; key: Secret }
  /** user name for git; many servers accept any user name with a token */
  | { kind: "login"; username: string; token: Secret }
  /** for repositories that everyone may read */
  | { kind: "none" };

export interface Connection {
  id: string;
  /** the id unless the operator gave another one */
  name: string;
  provider: Provider;
  /** URL of the API, or of the repositories if the host has no API; without a trailing slash */
  apiBase: string;
  /** where git finds the repositories; undefined for hosts that serve archives over their API */
  clone: CloneAddress | undefined;
  /** origins to which the host may redirect for an archive, in addition to its own */
  downloadOrigins: readonly string[];
  /** repository owners that the organization may use; `*` means all; empty if the connection is not for this organization */
  namespaces: readonly string[];
  /** reloaded whenever its file changes */
  credential: () => Credential;
  /** PEM certificates that are trusted in addition to the built-in ones */
  ca: string | undefined;
  /** leaves symbolic links out instead of refusing them */
  skipLinks: boolean;
  /** hours between two checks for newer commits; undefined for never */
  watchEveryHours: number | undefined;
  /** secret of the host's announcements; undefined if none are expected */
  webhookSecret: Secret | undefined;
}

export interface CloneAddress {
  /** URL without a slash at its end */
  base: string;
  /** path of a repository below it, with `{namespace}` and `{name}` */
  path: string;
}

/** A connection that cannot be used. */
export interface BrokenConnection {
  /** undefined if the id itself is missing */
  id: string | undefined;
  /** what is wrong, without secrets */
  problems: readonly string[];
  /** whether the setting itself is wrong, so there is no connection to name */
  isWholeSetting?: boolean | undefined;
}

/** @returns why a connection cannot be used; names the connection unless the problem names the setting */
export const disabledText = ({ id = "without an id", problems, isWholeSetting }: BrokenConnection): string =>
  isWholeSetting
    ? problems.join("; ")
    : `the repository connection ${id} is disabled: ${problems.join("; ")}`;

/** The current connections of the configuration. */
export interface Connections {
  /** in the order of the file, without broken ones */
  list(): readonly Connection[];
  broken(): readonly BrokenConnection[];
}

export const NO_CONNECTIONS: Connections = { list: () => [], broken: () => [] };

/** Prefix of the names of their destinations. */
const DESTINATION = "package-source";

/** @returns whether the destination is the connection's API or repositories */
export const isDestinationOf = (
  { id, clone }: Pick<Connection, "id" | "clone">,
  destination: string,
): boolean =>
  destination === `${DESTINATION}:${id}` ||
  (clone !== undefined && destination === cloneDestination(id, clone));

const cloneDestination = (id: string, { base }: CloneAddress): string =>
  `${DESTINATION}:${id}:${new URL(base).host}`;

type Reached = Pick<Connection, "id" | "apiBase" | "downloadOrigins" | "clone">;

/** @returns the destinations of a connection: its API, its repositories if they are elsewhere, and each host to which it may redirect */
export const destinationsOfConnection = ({ id, apiBase, downloadOrigins, clone }: Reached) => {
  const { origin, pathname } = new URL(apiBase);
  const own = { name: `${DESTINATION}:${id}`, origin, ...(pathname !== "/" && { base: pathname }) };
  const why = `repositories of the connection ${id}`;
  const cloneOrigin = clone && new URL(clone.base).origin;
  return [
    { ...own, why },
    ...(clone && cloneOrigin !== undefined && cloneOrigin !== origin
      ? [{ name: cloneDestination(id, clone), origin: cloneOrigin, why }]
      : []),
    ...downloadOrigins
      .filter((download) => download !== origin && download !== cloneOrigin)
      .map((download) => ({
        name: `${DESTINATION}:${id}:${new URL(download).host}`,
        origin: download,
        why: `archives to which the connection ${id} redirects`,
      })),
  ];
};
