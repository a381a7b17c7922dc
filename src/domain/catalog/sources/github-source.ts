// Public repositories as package sources: the grammar of `github:owner/repository@ref`, and the URLs that it expands to.
// package-sources.ts fetches them.
import { DomainError } from "../../../platform/errors.ts";

/** URLs of the provider. They are fixed, and parameters only for tests. */
export interface GithubOrigins {
  api: string;
  archives: string;
}

export const GITHUB: GithubOrigins = {
  api: "https://api.github.com",
  archives: "https://codeload.github.com",
};

export interface GithubSource {
  owner: string;
  repository: string;
  /** branch, tag or commit */
  ref: string;
}

const PREFIX = "github:";
export const GITHUB_NAME_CHARACTERS_MAX = 100;
export const GITHUB_REF_CHARACTERS_MAX = 255;
const SEGMENT = "(?!\\.{1,2}(?:[/@]|$))[A-Za-z0-9._-]+";
const COORDINATES = new RegExp(`^(${SEGMENT})/(${SEGMENT})@(${SEGMENT}(?:/${SEGMENT})*)$`);
const COMMIT = /^[0-9a-f]{40}$/;

/**
 * Parses a repository reference. No segment of it may lead to another path of the provider.
 * @param text trimmed
 * @returns undefined for text without the prefix of a repository
 * @throws DomainError `package_source.bad_repository`
 */
export function readGithubSource(text: string): GithubSource | undefined {
  if (!text.startsWith(PREFIX)) return undefined;
  const [, owner = "", repository = "", ref = ""] = COORDINATES.exec(text.slice(PREFIX.length)) ?? [];
  const isName = (name: string) => name !== "" && name.length <= GITHUB_NAME_CHARACTERS_MAX;
  if (isName(owner) && isName(repository) && ref.length <= GITHUB_REF_CHARACTERS_MAX) {
    return { owner, repository, ref };
  }
  throw new DomainError(
    "invalid",
    "package_source.bad_repository",
    "write a public repository as github:owner/repository@ref, where ref is a branch, a tag or a commit",
  );
}

/** @returns the URL of the ref's commit, which the provider returns as text if COMMIT_MEDIA_TYPE is requested */
export const commitUrl = ({ owner, repository, ref }: GithubSource, { api }: GithubOrigins): string =>
  `${api}/repos/${owner}/${repository}/commits/${encodeURIComponent(ref)}`;

export const COMMIT_MEDIA_TYPE = "application/vnd.github.sha";

/** @throws DomainError `package_source.no_commit` unless `commit` is a valid response of commitUrl */
export function archiveUrl(
  { owner, repository }: GithubSource,
  commit: string,
  { archives }: GithubOrigins,
): string {
  if (COMMIT.test(commit)) return `${archives}/${owner}/${repository}/tar.gz/${commit}`;
  throw new DomainError("invalid", "package_source.no_commit", "the provider has no commit for that ref");
}
