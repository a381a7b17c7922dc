// What the domain needs for mirroring repositories, from the data directory and the options of the process.
import type { Mirroring } from "../../../domain/catalog/service.ts";
import type { DataDirectory } from "../../../platform/data-directory/data-directory.ts";
import { TemporaryFolders } from "../../../platform/files/temporary-folders.ts";
import { createRepackProcesses } from "../../sources/repack-processes.ts";
import type { ConfiguredConnections } from "./configured-connections.ts";

export const mirroringOf = (
  { sources }: Pick<DataDirectory, "sources">,
  connections: ConfiguredConnections,
  { observeSource }: Pick<Mirroring, "observeSource">,
): Mirroring => ({
  connections,
  folders: new TemporaryFolders(sources),
  observeSource,
  repack: createRepackProcesses(),
  findGit: () => Bun.which("git") ?? undefined,
});
