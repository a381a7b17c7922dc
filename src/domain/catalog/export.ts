// The catalog as text that `catalog seed` accepts unchanged. How such text is read is document.ts.
import { Document, isScalar, visit } from "yaml";
import { MERGE_KEY } from "../yaml-source.ts";
import type { ManagedPackage } from "./model.ts";

/** @returns a deployment file's section `package_catalog` with every package, in YAML (control-api.md section 8.1) */
export const catalogYaml = (packages: readonly ManagedPackage[]): string =>
  yamlOf({ package_catalog: { packages } });

/** @returns one entry of the list, in YAML */
export const packageYaml = (managed: ManagedPackage): string => yamlOf(managed);

/** No line is folded, so that every value stands on one line of a difference. */
function yamlOf(content: object): string {
  const document = new Document(content, { schema: "core", aliasDuplicateObjects: false });
  visit(document, {
    Pair(_, { key }) {
      // Without quotes it would be read as the instruction to merge.
      if (isScalar(key) && key.value === MERGE_KEY) key.type = "QUOTE_DOUBLE";
    },
  });
  return document.toString({ lineWidth: 0 });
}
