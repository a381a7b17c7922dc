// Dependencies of repository mirroring that the program supplies.
import { TemporaryFolders } from "../../../platform/files/temporary-folders.ts";
import { type Connections, NO_CONNECTIONS } from "../connections/connection.ts";
import type { SourceInspection } from "./mirrors.ts";
import { type RunRepack, repack } from "./repack.ts";

export interface Mirroring {
  connections: Connections;
  /** for archives that are being made; unused without connections */
  folders: TemporaryFolders;
  /** in this thread or in another */
  repack: RunRepack;
  /** @returns the absolute path of git, if the machine has it; default: it has none */
  findGit?: (() => string | undefined) | undefined;
  observeSource?: ((inspection: SourceInspection) => void) | undefined;
}

/** A service without connections. */
export const NO_MIRRORING: Mirroring = {
  connections: NO_CONNECTIONS,
  folders: new TemporaryFolders(""),
  repack,
};
