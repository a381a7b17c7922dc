// Columns and filters that the lists of packages share, whether the policy or the catalog has them.
/** @jsxImportSource preact */
import { PACKAGE_KINDS, type PackageContent } from "../../../domain/catalog/service.ts";
import type { PackageAudience } from "../../../domain/governance/model.ts";
import { HARNESS_KEYS } from "../../../domain/harnesses/harnesses.ts";
import type { Column, Filter } from "../list/list.ts";
import { harnessText } from "../own/words.ts";
import { numberText } from "../parts/texts.ts";
import { State, Text, useReader } from "../parts/values.tsx";
import { audienceText, KIND_WORDS } from "./words.ts";

/** Who gets a package, with the reader's grouping of numbers. */
export function Audience({ audience }: { audience: PackageAudience }) {
  const { language } = useReader();
  return <>{audienceText(audience, (number) => numberText(number, language))}</>;
}

export const CONTENT_FILTERS: readonly Filter[] = [
  { name: "q", label: "Search", kind: "search", hint: "Id or name" },
  {
    name: "kind",
    label: "Contains",
    kind: "choice",
    choices: PACKAGE_KINDS.map((value) => ({ value, label: KIND_WORDS[value] })),
  },
  {
    name: "harness",
    label: "Harness",
    kind: "choice",
    choices: HARNESS_KEYS.map((value) => ({ value, label: harnessText(value) })),
  },
];

/** @returns id and name, with a link to the page of the package */
export const nameColumn = <Row extends { id: string; name?: string | undefined }>(
  pathOf: (id: string) => string,
): Column<Row, "package"> => ({
  name: "package",
  label: "Package",
  sort: "id",
  isWide: true,
  cell: ({ id, name }) => (
    <>
      <a href={pathOf(id)}>
        <Text value={id} />
      </a>{" "}
      {name !== undefined && (
        <small>
          <Text value={name} />
        </small>
      )}
    </>
  ),
  csv: ({ id }) => id,
});

/** What a package contains; code is marked. */
export const Content = ({ content: { kinds, isExecutable } }: { content: PackageContent }) => (
  <>
    {kinds.map((kind) => KIND_WORDS[kind]).join(", ") || "Settings only"}{" "}
    {isExecutable && <State tone="attention">Runs code</State>}
  </>
);

export const CONTENT_COLUMN: Column<PackageContent, "contains"> = {
  name: "contains",
  label: "Contains",
  cell: (content) => <Content content={content} />,
  csv: ({ kinds }) => kinds.join(" "),
};

/** @returns a column of the CSV file only */
export const fileColumn = <Row,>(
  name: string,
  csv: (row: Row) => string | boolean | undefined,
): Column<Row> => ({ name, label: name, cell: csv, csv });
