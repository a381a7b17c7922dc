// Writes values as YAML text that yaml-text.ts reads back unchanged.

import { Document, isScalar, visit } from "yaml";
import { MERGE_KEY } from "./yaml-source.ts";

/** @param content plain JSON @returns YAML text; lines are not folded, so that a diff shows every value on one line */
export const yamlText = (content: object): string => {
  const document = new Document(content, { schema: "core", aliasDuplicateObjects: false });
  visit(document, {
    Pair(_, { key }) {
      // Without quotes it would be parsed as a merge key.
      if (isScalar(key) && key.value === MERGE_KEY) key.type = "QUOTE_DOUBLE";
    },
  });
  return document.toString({ lineWidth: 0 });
};
