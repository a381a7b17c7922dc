// Reads a catalog from the text of a file: a plain list of packages, or a deployment file with the list in its section
// package_catalog. Finds the list and the line of each place in it; what a package must be is rules.ts.

import { type Document, isAlias, isMap, isNode, isScalar, isSeq } from "yaml";
import { DomainError, type Problem } from "../errors.ts";
import { kindOf, Members } from "./members.ts";
import type { ManagedPackage } from "./model.ts";
import { ProblemList } from "./problem-list.ts";
import { checkPackages } from "./rules.ts";
import { scanYaml } from "./yaml-scan.ts";
import { decodeText, parseYaml, type YamlSource } from "./yaml-source.ts";

const SECTION = "package_catalog";
const LIST = "packages";

/** The package list of a file, not yet judged. */
export interface CatalogText {
  /** what the file holds in the place of the list; an empty list when the file could not be read */
  packages: unknown;
  /** where the list stands in the file: empty for the whole of it, else /package_catalog/packages */
  root: string;
  /** what is wrong with the file itself; pointers start at the root of the file */
  problems: Problem[];
  /** of all problems, also those that `problems` leaves out */
  problemCount: number;
  /** @returns the 1-based line of a place, or of the nearest place around it that exists; pointers start at the list */
  lineOf(pointer: string): number | undefined;
}

const NO_LIST = { packages: [], root: "" };

/**
 * Finds the package list in the bytes of a YAML or JSON file.
 * @source control-api.md sections 8.1 and 16; bounds in yaml-source.ts and yaml-scan.ts
 */
export const readCatalogText = (bytes: Uint8Array): CatalogText => {
  const problems = new ProblemList();
  const text = decodeText(bytes, problems);
  const source = text === undefined ? undefined : parseYaml(text, problems);
  if (source) scanYaml(source, problems);
  const { packages, root } = source && problems.count === 0 ? listOf(source, problems) : NO_LIST;
  return {
    packages,
    root,
    problems: problems.list(),
    problemCount: problems.count,
    lineOf: (pointer) => source && lineAt(source, root + pointer),
  };
};

const listOf = (source: YamlSource, problems: ProblemList): { packages: unknown; root: string } => {
  const content = valuesIn(source.document, problems);
  if (Array.isArray(content)) return { packages: content, root: "" };
  if (content === undefined) return NO_LIST;
  if (content === null) problems.add("", "is empty; write [] for a catalog without packages");
  else if (typeof content !== "object")
    problems.add("", `must be a list of packages, not ${kindOf(content)}`);
  else if (!Object.hasOwn(content, SECTION))
    problems.add("", `has no section ${SECTION}; a catalog is a list, or a file with ${SECTION}.${LIST}`);
  else return sectionOf(Reflect.get(content, SECTION), problems);
  return NO_LIST;
};

const sectionOf = (section: unknown, problems: ProblemList): { packages: unknown; root: string } => {
  const root = `/${SECTION}/${LIST}`;
  if (section === null) return { packages: [], root };
  const members = Members.read({ value: section, pointer: `/${SECTION}` }, problems, [LIST]);
  return { packages: members?.value(LIST) ?? [], root };
};

const valuesIn = (document: Document.Parsed, problems: ProblemList): unknown => {
  try {
    // The scan has counted what the aliases amount to; the library's own count would refuse honest reuse.
    return document.toJS({ maxAliasCount: -1 });
  } catch (error) {
    problems.add("", `cannot be read as YAML: ${error instanceof Error ? error.message : "unknown fault"}`);
    return undefined;
  }
};

const lineAt = ({ document, lineAt }: YamlSource, pointer: string): number | undefined => {
  let node: unknown = document.contents;
  let offset = offsetOf(node);
  for (const escaped of pointer.split("/").slice(1)) {
    const child = childOf(document, node, escaped.replaceAll("~1", "/").replaceAll("~0", "~"));
    if (!child) break;
    node = child.value;
    offset = offsetOf(child.start) ?? offset;
  }
  return offset === undefined ? undefined : lineAt(offset);
};

const offsetOf = (node: unknown): number | undefined => (isNode(node) ? node.range?.[0] : undefined);

/** @returns the node of a member or item, and the one it begins with: a member begins with its key */
const childOf = (document: Document.Parsed, parent: unknown, token: string) => {
  const node = isAlias(parent) ? parent.resolve(document) : parent;
  if (isSeq(node)) {
    const item = node.items[Number(token)];
    return item === undefined ? undefined : { value: item, start: item };
  }
  const pair = isMap(node) ? node.items.find(({ key }) => isScalar(key) && key.value === token) : undefined;
  return pair && { value: pair.value, start: pair.key };
};

/**
 * Reads and judges a whole catalog file.
 * @param fileName how the person who reads the error knows the file
 * @returns every package in its order and in the shape of the answer
 * @throws DomainError invalid `catalog.invalid` with all problems; their pointers start at the root of the file
 */
export const parseCatalog = (bytes: Uint8Array, fileName: string): ManagedPackage[] =>
  parseCatalogText(bytes, fileName).packages;

/** As parseCatalog. @returns also the text, in which later findings can be located */
export const parseCatalogText = (
  bytes: Uint8Array,
  fileName: string,
): { packages: ManagedPackage[]; text: CatalogText } => {
  const text = readCatalogText(bytes);
  if (text.problemCount > 0) throw invalidCatalog(fileName, text.problemCount, text.problems);
  const { packages, problems, problemCount } = checkPackages(text.packages);
  if (problemCount === 0) return { packages, text };
  throw invalidCatalog(fileName, problemCount, locate(text, problems));
};

/** @param problems with pointers into the list @returns the same with pointers into the file, and lines */
export const locate = (text: CatalogText, problems: readonly Problem[]): Problem[] =>
  problems.map(({ pointer, detail }) => {
    const line = text.lineOf(pointer);
    return { pointer: text.root + pointer, detail, ...(line === undefined ? {} : { line }) };
  });

const invalidCatalog = (fileName: string, count: number, problems: readonly Problem[]): DomainError =>
  new DomainError(
    "invalid",
    "catalog.invalid",
    `${fileName} has ${count === 1 ? "1 problem" : `${count} problems`}`,
    {
      hint: "Correct the places named and try again; nothing was changed.",
      problems,
    },
  );
