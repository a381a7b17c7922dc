// The catalog as text that `catalog seed` accepts unchanged. How such text is read is catalog-document.ts.
import { yamlText } from "../../../platform/text/yaml-write.ts";
import type { ManagedPackage } from "../model.ts";

/** @returns a deployment file's section `package_catalog` with every package, in YAML */
export const catalogYaml = (packages: readonly ManagedPackage[]): string =>
  yamlText({ package_catalog: { packages } });

/** @returns one entry of the list, in YAML */
export const packageYaml = (managed: ManagedPackage): string => yamlText(managed);
