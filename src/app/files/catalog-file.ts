// Catalogs on this machine's disk: a file for seeding with the archives that it names beside it, and a bundle.
// Both faces use the former: the service at start and on SIGHUP, and `catalog seed`.
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { CATALOG_FILE_BYTES_MAX } from "../../domain/catalog/model.ts";
import type { BundleFile, SeedRequest } from "../../domain/catalog/service.ts";
import { DomainError } from "../../platform/errors.ts";
import { openFile, readFile, readPieces } from "../../platform/files/files.ts";

/**
 * @returns what `catalog.seed` needs to know of the file; a relative source_ref starts from the file's own folder
 * @throws DomainError `file.*`
 */
export async function readCatalogFile(
  path: string,
): Promise<Pick<SeedRequest, "bytes" | "fileName" | "files">> {
  const absolute = resolve(path);
  return parseCatalogFile(absolute, await readFile(absolute, CATALOG_FILE_BYTES_MAX));
}

/** @param path absolute @returns the same of a file that has been read */
export function parseCatalogFile(
  path: string,
  bytes: Uint8Array,
): Pick<SeedRequest, "bytes" | "fileName" | "files"> {
  const resolveSource = (sourceRef: string): string =>
    sourceRef.startsWith("file://") ? pathOf(sourceRef) : resolve(dirname(path), sourceRef);
  return { bytes, fileName: path, files: { resolve: resolveSource, open: openFile } };
}

/** @throws DomainError `catalog.bad_file_url` for a host, and for escapes that are none */
function pathOf(fileUrl: string): string {
  try {
    return fileURLToPath(fileUrl);
  } catch (cause) {
    throw new DomainError("invalid", "catalog.bad_file_url", "is not a file:// URL of this machine", {
      hint: "write file:///srv/packages/tool.tar.gz with three slashes, and % as %25",
      cause,
    });
  }
}

/**
 * @param name how the operator wrote the path
 * @throws DomainError `file.*`
 */
export async function openBundleFile(path: string, name: string): Promise<BundleFile> {
  const { sizeBytes } = await openFile(path);
  return {
    name,
    sizeBytes,
    read: (range) => readPieces(path, range),
  };
}
