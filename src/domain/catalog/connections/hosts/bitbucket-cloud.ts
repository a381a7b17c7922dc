// The API of Bitbucket Cloud, version 2.0. It serves no archives to access tokens, so archives come through git.
import { Type } from "@sinclair/typebox";
import { encodedParts, type Host, requireShape, timeIn } from "./host.ts";

const Repository = Type.Object({ full_name: Type.String() });
const Named = Type.Object({ target: Type.Object({ hash: Type.String() }) });
const Commit = Type.Object({ hash: Type.String(), date: Type.Optional(Type.String()) });

const pathOf = (repository: string): string => `/repositories/${encodedParts(repository)}`;

/** @source developer.atlassian.com, Bitbucket Cloud REST API: repositories, refs, commits */
export const bitbucketCloud: Host = {
  scheme: "bitbucket",
  isNested: false,
  fullName: async (ask, repository) =>
    requireShape(Repository, await ask.json(pathOf(repository)))?.full_name,
  branch: async (ask, repository, ref) => {
    const path = `${pathOf(repository)}/refs/branches/${encodeURIComponent(ref)}`;
    return requireShape(Named, await ask.json(path))?.target.hash;
  },
  tag: async (ask, repository, ref) => {
    const path = `${pathOf(repository)}/refs/tags/${encodeURIComponent(ref)}`;
    return requireShape(Named, await ask.json(path))?.target.hash;
  },
  commit: async (ask, repository, { object }) => {
    const path = `${pathOf(repository)}/commit/${encodeURIComponent(object)}`;
    const found = requireShape(Commit, await ask.json(path));
    return found && { commit: found.hash, committedAtMs: timeIn(found.date) };
  },
};
