// What the domain needs for mirroring repositories, from the data directory and the options of the process.
import { repack as repackHere } from "../../../domain/catalog/mirroring/repack.ts";
import type { Mirroring } from "../../../domain/catalog/service.ts";
import type { DataDirectory } from "../../../platform/data-directory/data-directory.ts";
import { TemporaryFolders } from "../../../platform/files/temporary-folders.ts";
import type { ConfiguredConnections } from "./configured-connections.ts";

/** @param options `repack` runs inline if omitted */
export const mirroringOf = (
  { sources }: Pick<DataDirectory, "sources">,
  connections: ConfiguredConnections,
  { observeSource, repack = repackHere }: Partial<Pick<Mirroring, "observeSource" | "repack">>,
): Mirroring => ({
  ...{ connections, folders: new TemporaryFolders(sources), repack, observeSource },
  findGit: () => Bun.which("git") ?? undefined,
});
