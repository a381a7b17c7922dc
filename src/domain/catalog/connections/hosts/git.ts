// A git server without an API: only its repositories can be read.
import type { Ask, Host } from "./host.ts";

const refsOf = (ask: Ask, repository: string, ref: string) =>
  ask.refs(repository, [`refs/heads/${ref}`, `refs/tags/${ref}`]);

/** The server answers under the requested name, or not at all. @source gitprotocol-http(5) */
export const git: Host = {
  scheme: "git",
  isNested: false,
  fullName: async (ask, repository) => ((await ask.offers(repository)) ? repository : undefined),
  branch: async (ask, repository, ref) => (await refsOf(ask, repository, ref)).get(`refs/heads/${ref}`),
  tag: async (ask, repository, ref) => {
    const refs = await refsOf(ask, repository, ref);
    // An annotated tag has its own object; the name with `^{}` is the commit behind it.
    return refs.get(`refs/tags/${ref}^{}`) ?? refs.get(`refs/tags/${ref}`);
  },
  // A commit that no branch or tag points to is checked only when it is fetched.
  commit: async (_ask, _repository, { object }) => ({ commit: object, committedAtMs: undefined }),
};
