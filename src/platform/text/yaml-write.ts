// Writes values as YAML text that yaml-text.ts reads back unchanged.

import { Document, isScalar, visit } from "yaml";
import { MERGE_KEY } from "./yaml-source.ts";

const MERGE_KEY_IN_JSON = JSON.stringify(MERGE_KEY);

/** @param content plain JSON @returns YAML text; lines are not folded, so that a diff shows every value on one line */
export const yamlText = (content: object): string => {
  const document = new Document(content, { schema: "core", aliasDuplicateObjects: false });
  // Visits take a third of the time, and no content has directives.
  if (JSON.stringify(content).includes(MERGE_KEY_IN_JSON)) quoteMergeKeys(document);
  return document.toString({ lineWidth: 0, directives: false });
};

/** Without quotes they would be parsed as merge keys. */
const quoteMergeKeys = (document: Document): void =>
  visit(document, {
    Pair(_, { key }) {
      if (isScalar(key) && key.value === MERGE_KEY) key.type = "QUOTE_DOUBLE";
    },
  });
