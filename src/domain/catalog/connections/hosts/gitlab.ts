// The API of GitLab, version 4.
import { Type } from "@sinclair/typebox";
import { type Host, requireShape, timeIn } from "./host.ts";

const Project = Type.Object({ path_with_namespace: Type.String() });
const Commit = Type.Object({ id: Type.String(), committed_date: Type.Optional(Type.String()) });
const Named = Type.Object({ commit: Commit });

const pathOf = (repository: string): string => `/projects/${encodeURIComponent(repository)}`;

/** @source docs.gitlab.com, REST API: projects, branches, tags, commits, "Get file archive" */
export const gitlab: Host = {
  scheme: "gitlab",
  isNested: true,
  fullName: async (ask, repository) =>
    requireShape(Project, await ask.json(pathOf(repository)))?.path_with_namespace,
  branch: async (ask, repository, ref) => {
    const path = `${pathOf(repository)}/repository/branches/${encodeURIComponent(ref)}`;
    return requireShape(Named, await ask.json(path))?.commit.id;
  },
  tag: async (ask, repository, ref) => {
    const path = `${pathOf(repository)}/repository/tags/${encodeURIComponent(ref)}`;
    return requireShape(Named, await ask.json(path))?.commit.id;
  },
  commit: async (ask, repository, { object }) => {
    const path = `${pathOf(repository)}/repository/commits/${encodeURIComponent(object)}`;
    const found = requireShape(Commit, await ask.json(path));
    return found && { commit: found.id, committedAtMs: timeIn(found.committed_date) };
  },
  archivePath: (repository, commit, folder) => {
    const query = new URLSearchParams({ sha: commit, ...(folder !== "" && { path: folder }) });
    return `${pathOf(repository)}/repository/archive.tar.gz?${query}`;
  },
};
