// A connection to a git host of the company, as the operator configured it. app/installation reads the configuration; hosts/ speaks to
// the hosts.
import type { Secret } from "../../../platform/secret.ts";

/** Kinds of hosts. */
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
  /** a GitHub App: its id, and its RSA key in PEM */
  | { kind: "app"; appId: string; key: Secret }
  /** for git only; many servers accept any user name with a token */
  | { kind: "login"; username: string; token: Secret }
  /** for repositories that everyone may read */
  | { kind: "none" };

export interface Connection {
  id: string;
  /** the id unless the operator gave another one */
  name: string;
  provider: Provider;
  /** URL of the API, without a slash at its end; of a host without an API that of its repositories */
  apiBase: string;
  /** where repositories are, for hosts whose archives come through git; undefined for others */
  clone: CloneAddress | undefined;
  /** origins to which the host may redirect for an archive, in addition to its own */
  downloadOrigins: readonly string[];
  /** owners that the organization may use; `*` means all; empty if the connection is not for this organization */
  namespaces: readonly string[];
  /** read again whenever its file changes */
  credential: () => Credential;
  /** PEM certificates that are trusted in addition to the built-in ones */
  ca: string | undefined;
  /** leaves symbolic links out instead of refusing them */
  skipLinks: boolean;
  /** hours between two checks for newer commits; undefined for never */
  watchEveryHours: number | undefined;
  /** of announcements of the host; undefined if none are expected */
  webhookSecret: Secret | undefined;
}

/** Address of the repositories of a host. */
export interface CloneAddress {
  /** URL without a slash at its end */
  base: string;
  /** path of a repository below it, with `{namespace}` and `{name}` */
  path: string;
}

/** A connection that cannot be used. */
export interface BrokenConnection {
  /** undefined if even that is missing */
  id: string | undefined;
  /** what is wrong, without secrets */
  problems: readonly string[];
}

/** The connections of the configuration, as they are now. */
export interface Connections {
  /** in the order of the file; without those that are broken */
  list(): readonly Connection[];
  broken(): readonly BrokenConnection[];
}

/** A service without connections. */
export const NO_CONNECTIONS: Connections = { list: () => [], broken: () => [] };

/** Beginning of the names of all their destinations. */
const DESTINATION = "package-source";

/** @returns whether the destination is the host of the connection: its API, or its repositories */
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
