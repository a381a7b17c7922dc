// Writes the catalog as text that `catalog seed` accepts unchanged. catalog-document.ts reads such text.
import { yamlText } from "../../../platform/text/yaml-write.ts";
import type { ManagedPackage } from "../model.ts";

/** @returns the section `package_catalog` of a deployment file with every package, in YAML */
export const catalogYaml = (packages: readonly ManagedPackage[]): string =>
  yamlText({ package_catalog: { packages } });
