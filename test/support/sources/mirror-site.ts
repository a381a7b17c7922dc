// A real database, a real store of artifacts and the real platform/outbound, with a connection to a repository host on this
// machine.
import { join } from "node:path";
import { createInspectionBudget } from "../../../src/domain/access/budgets/inspection-budget.ts";
import {
  type BrokenConnection,
  type Connection,
  destinationsOfConnection,
} from "../../../src/domain/catalog/connections/connection.ts";
import type { MirrorsDependencies, SourceInspection } from "../../../src/domain/catalog/mirroring/mirrors.ts";
import { repack } from "../../../src/domain/catalog/mirroring/repack.ts";
import { PackageSources, type SourceRequest } from "../../../src/domain/catalog/sources/package-sources.ts";
import { HARNESSES } from "../../../src/domain/harnesses/harnesses.ts";
import type { Actor } from "../../../src/domain/shared/actor.ts";
import { type Blobs, openBlobs } from "../../../src/platform/blobs/blobs.ts";
import { TemporaryFolders } from "../../../src/platform/files/temporary-folders.ts";
import { createOutbound } from "../../../src/platform/outbound/outbound.ts";
import { Secret } from "../../../src/platform/secret.ts";
import { createWorld, type World } from "../world.ts";
import { REPOSITORY, type RepositoryHost, TOKEN } from "./repository-host.ts";

export interface MirrorSite extends AsyncDisposable {
  world: World;
  blobs: Blobs;
  sources: PackageSources;
  /** where archives are created */
  work: string;
  observed: SourceInspection[];
  connections: Connection[];
  /** Inspects REPOSITORY at the connection `host`, as the service itself. */
  inspect(request?: SourceRequest, actor?: Actor): ReturnType<PackageSources["inspect"]>;
}

const SUFFIX = {
  github: "",
  gitlab: "/api/v4",
  gitea: "/api/v1",
  bitbucket_data_center: "/rest/api/latest",
};

/** @returns a connection to the host with access to every namespace */
export const connectionTo = (
  { origin, kind }: Pick<RepositoryHost, "origin" | "kind">,
  more: Partial<Connection> = {},
): Connection => ({
  id: "host",
  name: "Host",
  provider: kind,
  apiBase: `${origin}${SUFFIX[kind]}`,
  clone: undefined,
  downloadOrigins: [],
  namespaces: ["*"],
  ca: undefined,
  skipLinks: false,
  watchEveryHours: undefined,
  webhookSecret: undefined,
  credential: () => ({ kind: "token", token: new Secret(TOKEN) }),
  ...more,
});

/** @returns the parts of a server or domain for these connections */
export const mirroringOf = (connections: Connection[], work: string) => ({
  outbound: createOutbound({ allowed: [], found: () => connections.flatMap(destinationsOfConnection) }),
  mirroring: {
    repack,
    folders: new TemporaryFolders(work),
    connections: { list: () => connections, broken: () => [] },
  },
});

/** @returns a site; members of `parts` replace its own */
export async function createMirrorSite(
  connections: Connection[],
  {
    broken = [],
    ...parts
  }: Partial<Omit<MirrorsDependencies, "outbound">> & { broken?: BrokenConnection[] } = {},
): Promise<MirrorSite> {
  const world = await createWorld();
  const blobs = await openBlobs(join(world.directory, "artifacts"));
  const outbound = createOutbound({
    allowed: [],
    found: () => connections.flatMap(destinationsOfConnection),
  });
  const observed: SourceInspection[] = [];
  const work = join(world.directory, "work");
  const sources = new PackageSources({
    ...world,
    blobs,
    outbound,
    repack,
    harnesses: () => HARNESSES,
    connections: { list: () => connections, broken: () => broken },
    folders: new TemporaryFolders(work),
    spendInspection: createInspectionBudget(world),
    observeSource: (inspection) => observed.push(inspection),
    ...parts,
  });
  const inspect = (request: SourceRequest = {}, actor: Actor = world.system) =>
    sources.inspect(actor, { connection_id: "host", repository: REPOSITORY, ref: "main", ...request });
  const dispose = () => world.dispose();
  return {
    world,
    blobs,
    sources,
    work,
    observed,
    connections,
    inspect,
    [Symbol.asyncDispose]: dispose,
  };
}
