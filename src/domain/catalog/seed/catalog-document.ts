// Reads a catalog from the text of a file: a plain list of packages, or a deployment file with the list in its section
// package_catalog. Finds the list and the lines of its members. package-rules.ts checks the packages.

import { countText } from "../../../platform/count-text.ts";
import { DomainError, type Problem } from "../../../platform/errors.ts";
import { isJsonObject } from "../../../platform/json/json-object.ts";
import { jsonTypeOf, ObjectReader } from "../../../platform/text/object-reader.ts";
import { ProblemList } from "../../../platform/text/problem-list.ts";
import { locate, readYamlText } from "../../../platform/text/yaml-text.ts";
import { CATALOG_FILE_BYTES_MAX, CATALOG_TOKENS_MAX, type ManagedPackage } from "../model.ts";
import { checkPackages } from "../packages/package-rules.ts";

const SECTION = "package_catalog";
const LIST = "packages";
const BOUNDS = { bytesMax: CATALOG_FILE_BYTES_MAX, tokensMax: CATALOG_TOKENS_MAX };

/** The package list of a file, not yet checked. */
export interface CatalogText {
  /** the list, or another value in its place; an empty list if the file could not be read */
  packages: unknown;
  /** pointer to the list: empty for the whole file, else /package_catalog/packages */
  root: string;
  /** problems of the file itself; pointers start at the root of the file */
  problems: Problem[];
  /** number of all problems, including those that `problems` omits */
  problemCount: number;
  /**
   * @param found with pointers that start at the list
   * @returns the same problems with pointers from the root of the file, and positions
   */
  locate(found: readonly Problem[]): Problem[];
}

const NO_LIST = { packages: [], root: "" };

/**
 * Finds the package list in the bytes of a YAML or JSON file.
 * @source handbook: catalog-file, Seed a catalog
 */
export const readCatalogText = (bytes: Uint8Array): CatalogText => {
  const problems = new ProblemList();
  const read = readYamlText(bytes, problems, BOUNDS);
  const { packages, root } = listOf(read.content, problems);
  return {
    packages,
    root,
    problems: problems.list(),
    problemCount: problems.count,
    locate: (found) => locate(read, root, found),
  };
};

const listOf = (content: unknown, problems: ProblemList): { packages: unknown; root: string } => {
  if (Array.isArray(content)) return { packages: content, root: "" };
  if (content === undefined) return NO_LIST;
  if (content === null) problems.add("", "the file is empty; write [] for a catalog without packages");
  else if (!isJsonObject(content))
    problems.add("", `the file must be a list of packages, not ${jsonTypeOf(content)}`);
  else if (!Object.hasOwn(content, SECTION))
    problems.add(
      "",
      `the file has no section ${SECTION}; a catalog is a list, or a file with ${SECTION}.${LIST}`,
    );
  else return sectionOf(content[SECTION], problems);
  return NO_LIST;
};

const sectionOf = (section: unknown, problems: ProblemList): { packages: unknown; root: string } => {
  const root = `/${SECTION}/${LIST}`;
  if (section === null) return { packages: [], root };
  const members = ObjectReader.read({ value: section, pointer: `/${SECTION}` }, problems, [LIST]);
  return { packages: members?.value(LIST) ?? [], root };
};

/**
 * Reads and checks a whole catalog file.
 * @param fileName the name of the file, for errors
 * @returns the packages in the order of the file and in the form of API responses, and the text, which can locate later problems
 * @throws DomainError invalid `catalog.invalid` with all problems; their pointers start at the root of the file
 */
export const parseCatalog = (
  bytes: Uint8Array,
  fileName: string,
): { packages: ManagedPackage[]; text: CatalogText } => {
  const text = readCatalogText(bytes);
  if (text.problemCount > 0) throw invalidCatalog(fileName, text.problemCount, text.problems);
  const { packages, problems, problemCount } = checkPackages(text.packages);
  if (problemCount === 0) return { packages, text };
  throw invalidCatalog(fileName, problemCount, text.locate(problems));
};

const invalidCatalog = (fileName: string, count: number, problems: readonly Problem[]): DomainError =>
  new DomainError("invalid", "catalog.invalid", `${fileName} has ${countText(count, "problem")}`, {
    hint: "correct these places and try again; nothing was changed",
    problems,
  });
