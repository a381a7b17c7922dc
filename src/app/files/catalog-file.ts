// Reads catalogs from the local disk: a catalog file with the archives beside it, and a bundle. The service (at start and on
// SIGHUP) and `catalog seed` both read the catalog file.
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { CATALOG_FILE_BYTES_MAX } from "../../domain/catalog/model.ts";
import type { BundleFile, SeedRequest } from "../../domain/catalog/service.ts";
import { DomainError } from "../../platform/errors.ts";
import { openFile, readFile, readPieces } from "../../platform/files/operator-files.ts";

/**
 * @returns the content for `catalog.seed`; a relative source_ref is resolved against the folder of the file
 * @throws DomainError `file.*`
 */
export async function readCatalogFile(
  path: string,
): Promise<Pick<SeedRequest, "bytes" | "fileName" | "files">> {
  const absolute = resolve(path);
  return parseCatalogFile(absolute, await readFile(absolute, CATALOG_FILE_BYTES_MAX));
}

/**
 * Parses the content of a catalog file.
 * @param path absolute
 */
export function parseCatalogFile(
  path: string,
  bytes: Uint8Array,
): Pick<SeedRequest, "bytes" | "fileName" | "files"> {
  const resolveSource = (sourceRef: string): string =>
    sourceRef.startsWith("file://") ? pathOf(sourceRef) : resolve(dirname(path), sourceRef);
  return { bytes, fileName: path, files: { resolve: resolveSource, open: openFile } };
}

/** @throws DomainError `catalog.bad_file_url` if the URL has a host or an invalid escape */
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
 * @param name the path as the operator wrote it
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
