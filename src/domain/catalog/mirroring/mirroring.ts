// Dependencies of repository mirroring that the program supplies.
import { TemporaryFolders } from "../../../platform/files/temporary-folders.ts";
import { type Connections, NO_CONNECTIONS } from "../connections/connection.ts";
import type { SourceInspection } from "./mirrors.ts";
import { type RunRepack, repack } from "./repack.ts";

export interface Mirroring {
  connections: Connections;
  /** folder for archives in progress; unused without connections */
  folders: TemporaryFolders;
  /** runs in this thread or in another */
  repack: RunRepack;
  /** @returns the absolute path of git; default: the machine has no git */
  findGit?: (() => string | undefined) | undefined;
  observeSource?: ((inspection: SourceInspection) => void) | undefined;
}

export const NO_MIRRORING: Mirroring = {
  connections: NO_CONNECTIONS,
  folders: new TemporaryFolders(""),
  repack,
};
