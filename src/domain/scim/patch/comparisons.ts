// How much a PATCH has to compare: each operation on a list looks at every value of it, and a filter at several parts of
// each. Ten thousand operations on long lists would keep everybody else waiting for longer than SCIM-125 allows.

import { ScimError } from "../errors.ts";
import type { Filter } from "../filter/model.ts";
import type { ScimObject } from "../model.ts";
import { elementsOf } from "../schema/document.ts";
import type { Step } from "./targets.ts";

/** In all operations of a request; they take some 100 ms. */
export const PATCH_COMPARISONS_MAX = 200_000;

/** Counts the comparisons of one request. */
export class Comparisons {
  #count = 0;

  /**
   * Call it before a step is carried out.
   * @param doc as the step finds it
   * @throws ScimError 413
   */
  add(doc: ScimObject, { target: { path, elements }, change: { value } }: Step): void {
    const { attribute } = path;
    if (!attribute?.multiValued) return;
    const valueCount = Math.max(elementsOf(doc[attribute.name]).length, 1);
    this.#count += valueCount * (elements ? testsIn(elements) : entriesIn(value));
    if (this.#count <= PATCH_COMPARISONS_MAX) return;
    const detail = `a request can compare ${PATCH_COMPARISONS_MAX} values of lists; send the other operations apart`;
    throw new ScimError(413, undefined, detail);
  }
}

function testsIn(filter: Filter): number {
  switch (filter.kind) {
    case "and":
    case "or":
      return filter.parts.reduce((sum, part) => sum + testsIn(part), 0);
    case "not":
      return testsIn(filter.part);
    case "element":
      return testsIn(filter.filter);
    default:
      return 1;
  }
}

const entriesIn = (value: unknown): number => (Array.isArray(value) ? Math.max(value.length, 1) : 1);
