// The responses of repository hosts: GitHub with a token or an app, GitLab, Gitea and Bitbucket Data Center.
import { jwtVerify } from "jose";
import type { HostCommit, HostState } from "./repository-host.ts";

export type HostKind = "github" | "gitlab" | "gitea" | "bitbucket_data_center";

/** Verifies the signatures of GitHub apps; unset for a host without one. */
export const githubApp: { key: CryptoKey | undefined; id: string; expiresAt: string; minted: number } = {
  key: undefined,
  id: "12345",
  expiresAt: "2026-01-01T01:00:00Z",
  minted: 0,
};

const NOT_FOUND = () => Response.json({ message: "Not Found" }, { status: 404 });
const archiveOf = ({ archive }: HostCommit) =>
  new Response(new Uint8Array(archive), { headers: { "content-type": "application/gzip" } });

/** @param path percent-encoded, with its query */
export async function routesOf(state: HostState, request: Request, path: string): Promise<Response> {
  const [pathname = "", query = ""] = path.split("?");
  const input: Asked = { state, pathname, query: new URLSearchParams(query), request };
  switch (state.kind) {
    case "github":
      return await github(input);
    case "gitlab":
      return gitlab(input);
    case "gitea":
      return gitea(input);
    case "bitbucket_data_center":
      return bitbucket(input);
  }
}

interface Asked {
  state: HostState;
  pathname: string;
  query: URLSearchParams;
  request: Request;
}

/** @returns the parts of a path that a pattern captures, decoded; a part never contains an unencoded slash */
function partsOf(pathname: string, pattern: string): string[] | undefined {
  const source = pattern.replaceAll("*", "([^/]+)");
  return new RegExp(`^${source}$`).exec(pathname)?.slice(1).map(decodeURIComponent);
}

const isRepository = ({ fullName }: HostState, name: string) => name.toLowerCase() === fullName.toLowerCase();

async function github({ state, pathname, request }: Asked): Promise<Response> {
  const authorization = request.headers.get("authorization");
  const app = await githubAppResponse(state, pathname, request);
  if (app) return app;
  const token = `Bearer ${state.token}`;
  if (authorization !== token) return authorization === null ? NOT_FOUND() : unauthorized();
  const [owner = "", name = "", rest = ""] =
    /^\/repos\/([^/]+)\/([^/]+)(\/.*)?$/.exec(pathname)?.slice(1) ?? [];
  if (!isRepository(state, `${owner}/${name}`)) return NOT_FOUND();
  if (rest === "" || rest === undefined)
    return Response.json({ full_name: state.fullName, permissions: { push: false, pull: true } });
  return githubRepository(state, rest) ?? NOT_FOUND();
}

function githubRepository({ branches, tags, commits }: HostState, rest: string): Response | undefined {
  const [head] = partsOf(rest, "/git/ref/heads/*") ?? [];
  const [tag] = partsOf(rest, "/git/ref/tags/*") ?? [];
  const sha = head === undefined ? tags.get(tag ?? "") : branches.get(head);
  if (sha !== undefined) return Response.json({ ref: "refs", object: { sha, type: "commit" } });
  const [wanted] = partsOf(rest, "/commits/*") ?? [];
  const commit = commits.get(tags.get(wanted?.replace(/^tags\//, "") ?? "") ?? wanted ?? "");
  if (commit) return new Response(commit.sha);
  const [details] = partsOf(rest, "/git/commits/*") ?? [];
  const known = commits.get(details ?? "");
  if (known) return Response.json({ sha: known.sha, committer: { date: known.committedAt } });
  const [packed] = partsOf(rest, "/tarball/*") ?? [];
  const archived = commits.get(packed ?? "");
  return archived && archiveOf(archived);
}

const unauthorized = () => Response.json({ message: "Bad credentials" }, { status: 401 });

/** @returns undefined for a request that is not from a GitHub App */
async function githubAppResponse(state: HostState, pathname: string, request: Request) {
  if (!githubApp.key) return undefined;
  const isInstallation = pathname === `/repos/${state.fullName}/installation`;
  if (!isInstallation && pathname !== "/app/installations/77/access_tokens") return undefined;
  const jwt = request.headers.get("authorization")?.replace(/^Bearer /, "") ?? "";
  try {
    const options = { issuer: githubApp.id, algorithms: ["RS256"], currentDate: new Date("2026-01-01") };
    await jwtVerify(jwt, githubApp.key, { ...options, maxTokenAge: 600 });
  } catch {
    return unauthorized();
  }
  if (isInstallation) return Response.json({ id: 77 });
  const body: { repositories?: unknown; permissions?: unknown } = JSON.parse(await request.text());
  const input = JSON.stringify([body.repositories, body.permissions]);
  if (input !== JSON.stringify([["tools"], { contents: "read" }])) return unauthorized();
  githubApp.minted += 1;
  state.token = `ghs_minted_${githubApp.minted}`;
  return Response.json({ token: state.token, expires_at: githubApp.expiresAt }, { status: 201 });
}

function gitlab({ state, pathname, query, request }: Asked): Response {
  const { branches, tags, commits } = state;
  const given = request.headers.get("private-token");
  if (given !== state.token) return given === null ? NOT_FOUND() : unauthorized();
  const [project = "", rest = ""] = /^\/api\/v4\/projects\/([^/]+)(\/.*)?$/.exec(pathname)?.slice(1) ?? [];
  if (!isRepository(state, decodeURIComponent(project))) return NOT_FOUND();
  if (!rest) return Response.json({ path_with_namespace: state.fullName });
  const [branch] = partsOf(rest, "/repository/branches/*") ?? [];
  const [tag] = partsOf(rest, "/repository/tags/*") ?? [];
  const [sha] = partsOf(rest, "/repository/commits/*") ?? [];
  const named = commits.get(branches.get(branch ?? "") ?? tags.get(tag ?? "") ?? "");
  const answer = (commit: HostCommit) => ({ id: commit.sha, committed_date: commit.committedAt });
  if (named) return Response.json({ commit: answer(named) });
  const commit = commits.get(sha ?? "");
  if (commit) return Response.json(answer(commit));
  const archived = rest === "/repository/archive.tar.gz" && commits.get(query.get("sha") ?? "");
  return archived ? archiveOf(archived) : NOT_FOUND();
}

function gitea({ state, pathname, request }: Asked): Response {
  const { branches, tags, commits } = state;
  const given = request.headers.get("authorization");
  if (given !== `token ${state.token}`) return given === null ? NOT_FOUND() : unauthorized();
  const [owner = "", name = "", rest = ""] =
    /^\/api\/v1\/repos\/([^/]+)\/([^/]+)(\/.*)?$/.exec(pathname)?.slice(1) ?? [];
  if (!isRepository(state, `${owner}/${name}`)) return NOT_FOUND();
  if (!rest) return Response.json({ full_name: state.fullName, permissions: { push: true } });
  const [branch] = partsOf(rest, "/branches/*") ?? [];
  const head = branches.get(branch ?? "");
  if (head !== undefined) return Response.json({ name: branch, commit: { id: head } });
  const [tag] = partsOf(rest, "/tags/*") ?? [];
  const tagged = tags.get(tag ?? "");
  if (tagged !== undefined) return Response.json({ name: tag, commit: { sha: tagged } });
  const [sha] = partsOf(rest, "/git/commits/*") ?? [];
  const commit = commits.get(sha ?? "");
  if (commit) return Response.json({ sha: commit.sha, created: commit.committedAt });
  const [packed] = partsOf(rest, "/archive/*") ?? [];
  const archived = commits.get(packed?.replace(/\.tar\.gz$/, "") ?? "");
  return archived ? archiveOf(archived) : NOT_FOUND();
}

function bitbucket({ state, pathname, query, request }: Asked): Response {
  const { branches, tags, commits } = state;
  const given = request.headers.get("authorization");
  if (given !== `Bearer ${state.token}`) return given === null ? NOT_FOUND() : unauthorized();
  const [project = "", name = "", rest = ""] =
    /^\/rest\/api\/latest\/projects\/([^/]+)\/repos\/([^/]+)(\/.*)?$/.exec(pathname)?.slice(1) ?? [];
  if (!isRepository(state, `${project}/${name}`)) return NOT_FOUND();
  const [key = "", slug = ""] = state.fullName.split("/");
  if (!rest) return Response.json({ slug, project: { key } });
  if (rest === "/branches") {
    const matching = [...branches].filter(([branch]) => branch.includes(query.get("filterText") ?? ""));
    return Response.json({
      values: matching.map(([displayId, latestCommit]) => ({ displayId, latestCommit })),
    });
  }
  const [tag] = partsOf(rest, "/tags/*") ?? [];
  const tagged = tags.get(tag ?? "");
  if (tagged !== undefined) return Response.json({ displayId: tag, latestCommit: tagged });
  const [sha] = partsOf(rest, "/commits/*") ?? [];
  const commit = commits.get(sha ?? "");
  if (commit) return Response.json({ id: commit.sha, committerTimestamp: Date.parse(commit.committedAt) });
  const archived = rest === "/archive" && commits.get(query.get("at") ?? "");
  const isWhole = query.get("format") === "tgz" && query.get("prefix") !== null;
  return archived && isWhole ? archiveOf(archived) : NOT_FOUND();
}
