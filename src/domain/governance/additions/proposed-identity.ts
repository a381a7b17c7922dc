// Proposes the id and the version of a package from the origin of its archive. The administrator confirms or corrects both.
import { ID_CHARACTERS_MAX } from "../../catalog/service.ts";
import type { AdditionIdentity } from "./addition-model.ts";

const ARCHIVE_ENDING = /\.(?:tar\.gz|tgz|tar)$/i;
/** `guide-1.2.0`, `guide_v1.2.0-rc.1` */
const WITH_VERSION = /^(?<name>.+?)[-_.@]v?(?<version>\d+(?:\.\d+)*(?:[-+.][0-9A-Za-z.-]+)?)$/;
const REPOSITORY = /^github:[^/]+\/(?<name>[^@]+)@v?(?<version>.+)$/;

/** @param sourceRef name of a file, URL of an archive, or a repository @returns the proposal; empty texts for missing parts */
export function proposeIdentity(sourceRef: string): AdditionIdentity {
  const file = (sourceRef.split(/[?#]/)[0] ?? "").split(/[\\/]/).at(-1)?.replace(ARCHIVE_ENDING, "") ?? "";
  const { name = file, version = "" } = (REPOSITORY.exec(sourceRef) ?? WITH_VERSION.exec(file))?.groups ?? {};
  const id = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, ID_CHARACTERS_MAX);
  return { id, version, name: "" };
}
