// Determines what packages contain for harnesses, across all layouts, and which parts are code that a harness runs.
import { type Component, HARNESS_KEYS, type HarnessKey } from "../../harnesses/harnesses.ts";
import type { ManagedPackage } from "../model.ts";
import { componentsOf } from "./layouts.ts";

export const PACKAGE_KINDS = ["skills", "agents", "hooks", "plugins", "helpers"] as const;
export type PackageKind = (typeof PACKAGE_KINDS)[number];

/** Components that contain code which a harness runs. */
const EXECUTABLE: readonly PackageKind[] = ["hooks", "plugins", "helpers"];

const KIND_OF: Readonly<Record<Component, PackageKind>> = {
  skills_dir: "skills",
  agents_dir: "agents",
  hooks_file: "hooks",
  plugin_dir: "plugins",
  plugins: "plugins",
  helpers: "helpers",
};

export interface PackageContent {
  /** in the order of PACKAGE_KINDS; empty for a package that has only settings */
  kinds: readonly PackageKind[];
  isExecutable: boolean;
  /** harnesses for which the package has a layout */
  harnesses: readonly HarnessKey[];
}

/** @returns what the package contains, across all of its layouts */
export function contentOf({ adapters }: Pick<ManagedPackage, "adapters">): PackageContent {
  const layouts = HARNESS_KEYS.flatMap((key) => {
    const adapter = adapters[key];
    return adapter ? [adapter, ...(adapter.variants ?? [])] : [];
  });
  const found = new Set(layouts.flatMap((layout) => [...componentsOf(layout)].map((name) => KIND_OF[name])));
  const kinds = PACKAGE_KINDS.filter((kind) => found.has(kind));
  return {
    kinds,
    isExecutable: kinds.some((kind) => EXECUTABLE.includes(kind)),
    harnesses: HARNESS_KEYS.filter((key) => adapters[key] !== undefined),
  };
}
