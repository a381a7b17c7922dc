// The operations that the service needs from a repository host. Each other file of this folder uses the API of one host;
// requests.ts sends the requests.
import type { Static, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { sourceFault } from "../errors.ts";

export type RefKind = "branch" | "tag" | "commit";

export interface NamedRef {
  kind: RefKind;
  /** as the administrator named it; for a commit, its object name */
  ref: string;
  /** object name of the branch or tag at the host; for a tag, possibly of the tag object */
  object: string;
}

export interface FoundCommit {
  /** whole object name */
  commit: string;
  /** UTC milliseconds; undefined if the host did not say */
  committedAtMs: number | undefined;
}

/** Requests to the host of one connection. Paths are below its API. */
export interface Ask {
  /**
   * @returns the document; undefined if the host has none at that path
   * @throws DomainError `source.*`
   */
  json(path: string, headers?: Readonly<Record<string, string>>): Promise<unknown>;
  /** Like `json`, but returns text. */
  text(path: string, headers?: Readonly<Record<string, string>>): Promise<string | undefined>;
  /** @returns whether the host serves that repository to git @throws DomainError `source.*` */
  offers(repository: string): Promise<boolean>;
  /**
   * @param names whole names of refs
   * @returns the object names of those that exist; under `^{}` the target of an annotated tag
   * @throws DomainError `source.*`
   */
  refs(repository: string, names: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

/** The API of one kind of host. Callers have checked the names; this code encodes them. */
export interface Host {
  /** prefix of a `source_ref` */
  scheme: string;
  /** whether groups may contain groups */
  isNested: boolean;
  /** @returns the full name in the host's spelling; undefined if there is no such repository */
  fullName(ask: Ask, repository: string): Promise<string | undefined>;
  /** @returns the object name of a branch; undefined for none */
  branch(ask: Ask, repository: string, ref: string): Promise<string | undefined>;
  /** @returns the object name of a tag; undefined for none */
  tag(ask: Ask, repository: string, ref: string): Promise<string | undefined>;
  /** @returns undefined if the commit is not in the repository */
  commit(ask: Ask, repository: string, named: NamedRef): Promise<FoundCommit | undefined>;
  /** @returns the path of an archive with one folder around everything; missing if archives come through git */
  archivePath?(repository: string, commit: string, folder: string): string;
  /** @returns whether the credential may write; undefined if the host does not say */
  mayWrite?(ask: Ask, repository: string): Promise<boolean | undefined>;
}

/** @returns the response in the expected shape; undefined stays @throws DomainError `source.bad_answer` */
export function requireShape<Shape extends TSchema>(
  shape: Shape,
  response: unknown,
): Static<Shape> | undefined {
  if (response === undefined) return undefined;
  if (Value.Check(shape, response)) return response;
  throw sourceFault("bad_answer");
}

export const encodedParts = (repository: string): string =>
  repository.split("/").map(encodeURIComponent).join("/");

/** @returns UTC milliseconds; undefined for text that is not a time */
export const timeIn = (text: string | undefined): number | undefined => {
  const time = Date.parse(text ?? "");
  return Number.isNaN(time) ? undefined : time;
};
