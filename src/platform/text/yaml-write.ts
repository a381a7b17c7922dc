// Values as YAML text that our own reader, yaml-text.ts, reads back unchanged.

import { Document, isScalar, visit } from "yaml";
import { MERGE_KEY } from "./yaml-source.ts";

/** @param content plain JSON @returns its text; no line is folded, so that every value stands on one line of a difference */
export const yamlText = (content: object): string => {
  const document = new Document(content, { schema: "core", aliasDuplicateObjects: false });
  visit(document, {
    Pair(_, { key }) {
      // Without quotes it would be read as the instruction to merge.
      if (isScalar(key) && key.value === MERGE_KEY) key.type = "QUOTE_DOUBLE";
    },
  });
  return document.toString({ lineWidth: 0 });
};
