// The catalog as text that `catalog seed` accepts unchanged. How such text is read is document.ts.
import { stringify } from "yaml";
import type { ManagedPackage } from "./model.ts";
import { CATALOG_YAML } from "./yaml-source.ts";

/** No line is folded, so that every value stands on one line of a difference. */
const STYLE = { ...CATALOG_YAML, lineWidth: 0, aliasDuplicateObjects: false } as const;

/** @returns a deployment file's section `package_catalog` with every package, in YAML (control-api.md section 8.1) */
export const catalogYaml = (packages: readonly ManagedPackage[]): string =>
  stringify({ package_catalog: { packages } }, STYLE);

/** @returns one entry of the list, in YAML */
export const packageYaml = (managed: ManagedPackage): string => stringify(managed, STYLE);
