// The API of Gitea and Forgejo, version 1.
import { Type } from "@sinclair/typebox";
import { encodedParts, type Host, requireShape, timeIn } from "./host.ts";

const Repository = Type.Object({
  full_name: Type.String(),
  permissions: Type.Optional(Type.Object({ push: Type.Optional(Type.Boolean()) })),
});
const Branch = Type.Object({ commit: Type.Object({ id: Type.String() }) });
const Tag = Type.Object({ commit: Type.Object({ sha: Type.String() }) });
const Commit = Type.Object({ sha: Type.String(), created: Type.Optional(Type.String()) });

const pathOf = (repository: string): string => `/repos/${encodedParts(repository)}`;
/** Leaves out members that can be long. */
const BRIEF = "?stat=false&verification=false&files=false";

/** @source docs.gitea.com, API: repository, as answered by Gitea 1.26 */
export const gitea: Host = {
  scheme: "gitea",
  isNested: false,
  fullName: async (ask, repository) =>
    requireShape(Repository, await ask.json(pathOf(repository)))?.full_name,
  branch: async (ask, repository, ref) => {
    const path = `${pathOf(repository)}/branches/${encodeURIComponent(ref)}`;
    return requireShape(Branch, await ask.json(path))?.commit.id;
  },
  tag: async (ask, repository, ref) => {
    const path = `${pathOf(repository)}/tags/${encodeURIComponent(ref)}`;
    return requireShape(Tag, await ask.json(path))?.commit.sha;
  },
  commit: async (ask, repository, { object }) => {
    const path = `${pathOf(repository)}/git/commits/${encodeURIComponent(object)}${BRIEF}`;
    const found = requireShape(Commit, await ask.json(path));
    return found && { commit: found.sha, committedAtMs: timeIn(found.created) };
  },
  archivePath: (repository, commit) => `${pathOf(repository)}/archive/${commit}.tar.gz`,
  mayWrite: async (ask, repository) =>
    requireShape(Repository, await ask.json(pathOf(repository)))?.permissions?.push,
};
