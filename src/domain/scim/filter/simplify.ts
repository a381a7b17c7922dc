// Simplifies a filter before any row is read: removes tests that are always or never true for a type, so that a query over all
// types reads only the relevant ones.
import { matches } from "./evaluate.ts";
import { ALWAYS, type ElementTest, type Filter, type Junction, NEVER } from "./model.ts";

export const isAlways = (filter: Filter): boolean => filter.kind === "and" && filter.parts.length === 0;
export const isNever = (filter: Filter): boolean => filter.kind === "or" && filter.parts.length === 0;

/** @returns a filter that is true for the same resources: ALWAYS or NEVER if that is known for the whole type */
export function simplified(filter: Filter): Filter {
  switch (filter.kind) {
    case "and":
    case "or":
      return junction(filter.kind, filter.parts.map(simplified));
    case "not": {
      const part = simplified(filter.part);
      if (isAlways(part)) return NEVER;
      return isNever(part) ? ALWAYS : { kind: "not", part };
    }
    case "element": {
      const inner = simplified(filter.filter);
      return isNever(inner) ? NEVER : { ...filter, filter: inner };
    }
    default:
      return isAboutType(filter) ? constant(filter) : filter;
  }
}

const isAboutType = ({ path }: Extract<Filter, { kind: "present" | "compare" }>): boolean =>
  path.attribute.name === "meta" && (path.sub === undefined || path.sub.name === "resourceType");

const constant = (filter: Extract<Filter, { kind: "present" | "compare" }>): Filter =>
  matches(filter, { meta: { resourceType: filter.path.type } }) ? ALWAYS : NEVER;

function junction(kind: Junction["kind"], parts: readonly Filter[]): Filter {
  const [decides, adds] = kind === "and" ? [isNever, isAlways] : [isAlways, isNever];
  const decisive = parts.find(decides);
  if (decisive) return decisive;
  const left = parts
    .filter((part) => !adds(part))
    .flatMap((part) => (part.kind === kind ? part.parts : [part]));
  const merged = kind === "or" ? mergedElements(left) : left;
  const [only] = merged;
  return only && merged.length === 1 ? only : { kind, parts: merged };
}

/** Merges tests of one attribute into one lookup, because a value that satisfies one of the filters satisfies their `or`. */
function mergedElements(parts: readonly Filter[]): readonly Filter[] {
  const elements = Map.groupBy(parts.filter(isElement), ({ path }) => path.attribute);
  const others = parts.filter((part) => !isElement(part));
  const merged = [...elements.values()].flatMap((tests) => mergedTest(tests));
  return [...others, ...merged];
}

function mergedTest(tests: readonly ElementTest[]): readonly Filter[] {
  const [first] = tests;
  if (!first || tests.length === 1) return tests;
  return [
    {
      ...first,
      filter: junction(
        "or",
        tests.map(({ filter }) => filter),
      ),
    },
  ];
}

const isElement = (filter: Filter): filter is ElementTest => filter.kind === "element";
