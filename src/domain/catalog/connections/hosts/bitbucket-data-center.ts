// The API of Bitbucket Data Center.
import { Type } from "@sinclair/typebox";
import { type Host, requireShape } from "./host.ts";

const Repository = Type.Object({ slug: Type.String(), project: Type.Object({ key: Type.String() }) });
const Branches = Type.Object({
  values: Type.Array(Type.Object({ displayId: Type.String(), latestCommit: Type.String() })),
});
const Tag = Type.Object({ latestCommit: Type.String() });
const Commit = Type.Object({ id: Type.String(), committerTimestamp: Type.Optional(Type.Integer()) });

/** Maximum number of branches to list whose names contain the ref, best match first. */
const BRANCHES_LISTED = 100;
/** The host adds a folder around an archive only on request. */
const PREFIX = "archive/";

function pathOf(repository: string): string {
  const [project = "", name = ""] = repository.split("/").map(encodeURIComponent);
  return `/projects/${project}/repos/${name}`;
}

/** @source developer.atlassian.com, Bitbucket Data Center REST API: repository */
export const bitbucketDataCenter: Host = {
  scheme: "bitbucket",
  isNested: false,
  fullName: async (ask, repository) => {
    const found = requireShape(Repository, await ask.json(pathOf(repository)));
    return found && `${found.project.key}/${found.slug}`;
  },
  branch: async (ask, repository, ref) => {
    const query = new URLSearchParams({
      filterText: ref,
      boostMatches: "true",
      limit: String(BRANCHES_LISTED),
    });
    const found = requireShape(Branches, await ask.json(`${pathOf(repository)}/branches?${query}`));
    return found?.values.find(({ displayId }) => displayId === ref)?.latestCommit;
  },
  tag: async (ask, repository, ref) => {
    const path = `${pathOf(repository)}/tags/${encodeURIComponent(ref)}`;
    return requireShape(Tag, await ask.json(path))?.latestCommit;
  },
  commit: async (ask, repository, { object }) => {
    const path = `${pathOf(repository)}/commits/${encodeURIComponent(object)}`;
    const found = requireShape(Commit, await ask.json(path));
    return found && { commit: found.id, committedAtMs: found.committerTimestamp };
  },
  archivePath: (repository, commit, folder) => {
    const query = new URLSearchParams({
      at: commit,
      format: "tgz",
      prefix: PREFIX,
      ...(folder !== "" && { path: folder }),
    });
    return `${pathOf(repository)}/archive?${query}`;
  },
};
