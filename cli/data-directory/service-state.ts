// Returns whether a service runs on the data directory of a command. Some changes take effect only when a service carries them
// out.
import { isServerRunning, openDataDirectory } from "../../src/platform/data-directory/data-directory.ts";
import type { Call } from "./in-domain.ts";

/** @throws DomainError `storage.*` */
export const isServiceRunning = ({ config }: Pick<Call, "config">): boolean =>
  isServerRunning(openDataDirectory(config.get("data_dir")));
