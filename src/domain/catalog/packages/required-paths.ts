// The paths of an archive that the adapters of a package name; the archive must contain all of them.
import { pointerOf } from "../../../platform/errors.ts";
import type { RequiredPath } from "../archive/archive.ts";
import type { ManagedPackage, PackageLayout } from "../model.ts";

/** The key of a helper's path for platforms without their own path. */
const DEFAULT_PLATFORM = "default";

export interface ArchiveOfPackage {
  managed: ManagedPackage;
  /** position in the list, for pointers */
  index: number;
  /** the platform of the archive; undefined for one archive for every platform */
  platform: string | undefined;
}

/** @returns every required path, with a pointer to the member that names it */
export function requiredPathsOf({ managed, index, platform }: ArchiveOfPackage): RequiredPath[] {
  return Object.entries(managed.adapters).flatMap(([harness, adapter]) => {
    const at = [index, "adapters", harness];
    const variants = adapter.variants ?? [];
    return [
      ...pathsOfLayout(adapter, { at, platform }),
      ...variants.flatMap((variant, place) =>
        pathsOfLayout(variant, { at: [...at, "variants", place], platform }),
      ),
    ];
  });
}

interface LayoutPlace {
  at: readonly (string | number)[];
  platform: string | undefined;
}

function pathsOfLayout(layout: PackageLayout, { at, platform }: LayoutPlace): RequiredPath[] {
  const folders = (["plugin_dir", "skills_dir", "agents_dir"] as const).flatMap((member) =>
    required(layout[member], "directory", [...at, member]),
  );
  const plugins = layout.plugins.flatMap((path, place) => required(path, "file", [...at, "plugins", place]));
  const helpers = Object.entries(layout.helpers).flatMap(([name, { paths }]) =>
    Object.entries(paths)
      .filter(([key]) => isFor(platform, key, paths))
      .flatMap(([key, path]) => required(path, "file", [...at, "helpers", name, "paths", key])),
  );
  return [...folders, ...required(layout.hooks_file, "file", [...at, "hooks_file"]), ...plugins, ...helpers];
}

const required = (
  path: string | undefined,
  kind: RequiredPath["kind"],
  at: readonly (string | number)[],
): RequiredPath[] => (path === undefined ? [] : [{ path, kind, pointer: pointerOf(at) }]);

/** The archive of one platform contains the helpers of that platform only. */
function isFor(platform: string | undefined, key: string, paths: Readonly<Record<string, string>>): boolean {
  if (platform === undefined) return true;
  return key === platform || (key === DEFAULT_PLATFORM && !(platform in paths));
}
