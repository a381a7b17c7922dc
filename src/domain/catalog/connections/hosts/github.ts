// The API of GitHub and GitHub Enterprise Server.
import { Type } from "@sinclair/typebox";
import { encodedParts, type Host, requireShape, timeIn } from "./host.ts";

const Repository = Type.Object({
  full_name: Type.String(),
  permissions: Type.Optional(Type.Object({ push: Type.Optional(Type.Boolean()) })),
});
const Reference = Type.Object({ object: Type.Object({ sha: Type.String() }) });
const Commit = Type.Object({ committer: Type.Object({ date: Type.String() }) });

const SHA_ONLY = { accept: "application/vnd.github.sha" };
const JSON_ONLY = { accept: "application/vnd.github+json" };

const pathOf = (repository: string): string => `/repos/${encodedParts(repository)}`;

/** @source docs.github.com, REST API: repositories, git references, commits, "Download a repository archive (tar)" */
export const github: Host = {
  scheme: "github",
  isNested: false,
  fullName: async (ask, repository) =>
    requireShape(Repository, await ask.json(pathOf(repository), JSON_ONLY))?.full_name,
  branch: async (ask, repository, ref) => {
    const path = `${pathOf(repository)}/git/ref/heads/${encodeURIComponent(ref)}`;
    return requireShape(Reference, await ask.json(path, JSON_ONLY))?.object.sha;
  },
  tag: async (ask, repository, ref) => {
    const path = `${pathOf(repository)}/git/ref/tags/${encodeURIComponent(ref)}`;
    return requireShape(Reference, await ask.json(path, JSON_ONLY))?.object.sha;
  },
  commit: async (ask, repository, { kind, ref, object }) => {
    // An annotated tag has its own object; this endpoint returns the commit behind it.
    const wanted = kind === "tag" ? `tags/${ref}` : object;
    const found = await ask.text(`${pathOf(repository)}/commits/${encodeURIComponent(wanted)}`, SHA_ONLY);
    if (found === undefined) return undefined;
    const commit = found.trim();
    const path = `${pathOf(repository)}/git/commits/${encodeURIComponent(commit)}`;
    const details = requireShape(Commit, await ask.json(path, JSON_ONLY));
    return { commit, committedAtMs: timeIn(details?.committer.date) };
  },
  archivePath: (repository, commit) => `${pathOf(repository)}/tarball/${commit}`,
  mayWrite: async (ask, repository) =>
    requireShape(Repository, await ask.json(pathOf(repository), JSON_ONLY))?.permissions?.push,
};
