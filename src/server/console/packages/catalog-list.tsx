// The catalog as a list: the contents of each package, and its version in the policy.
/** @jsxImportSource preact */
import type { ListColumn } from "../../../domain/console/service.ts";

import type { CatalogView } from "../../../domain/governance/service.ts";
import type { Page } from "../../../domain/shared/page.ts";
import type { Problem } from "../../../platform/errors.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import type { Column, Filter, List } from "../list/list.ts";
import { ListView, listStatus } from "../list/list-view.tsx";
import { harnessText } from "../own/words.ts";
import { State, Text, useReader } from "../parts/values.tsx";
import { shownSource } from "./package-archive.tsx";
import { CONTENT_COLUMN, CONTENT_FILTERS, fileColumn, nameColumn } from "./package-columns.tsx";
import { ARCHIVE_WORDS, CATALOG_PATH, catalogPath, IMPORT_PATH, OFFER_WORDS } from "./words.ts";

const FILTERS: readonly Filter[] = [
  ...CONTENT_FILTERS,
  {
    name: "offer",
    label: "In the policy",
    kind: "choice",
    choices: [
      { value: "new", label: OFFER_WORDS.new.label },
      { value: "update", label: OFFER_WORDS.update.label },
      { value: "taken", label: OFFER_WORDS.taken.label },
    ],
  },
  {
    name: "archive",
    label: "Archive",
    kind: "choice",
    choices: [
      { value: "here", label: ARCHIVE_WORDS.here },
      { value: "elsewhere", label: ARCHIVE_WORDS.elsewhere },
    ],
  },
];

const CATALOG_COLUMNS: readonly Column<CatalogView, ListColumn<"/console/catalog">>[] = [
  nameColumn(catalogPath),
  {
    name: "version",
    label: "Version",
    cell: ({ version }) => <Text value={version} />,
    csv: ({ version }) => version,
  },
  {
    name: "published",
    label: "Version in the policy",
    cell: ({ published }) => <Text value={published} none="not in the policy" />,
    csv: ({ published }) => published,
  },
  {
    name: "offer",
    label: "State",
    cell: (view) => <Offered view={view} />,
    csv: ({ offer }) => offer,
  },
  CONTENT_COLUMN,
  {
    name: "harnesses",
    label: "Harnesses",
    cell: ({ harnesses }) => (harnesses.length === 0 ? "All" : harnesses.map(harnessText).join(", ")),
    csv: ({ harnesses }) => harnesses.join(" "),
  },
  {
    name: "archive",
    label: "Archive",
    cell: ({ isStored }) => (isStored ? ARCHIVE_WORDS.here : ARCHIVE_WORDS.elsewhere),
    csv: ({ isStored }) => (isStored ? "here" : "elsewhere"),
  },
];

/** Columns of the CSV file only. */
export const CATALOG_CSV_COLUMNS: readonly Column<CatalogView>[] = [
  ...CATALOG_COLUMNS,
  fileColumn("name", ({ name }) => name),
  fileColumn("executable", ({ isExecutable }) => isExecutable),
  fileColumn("sha256", ({ sha256 }) => sha256),
  fileColumn("source", ({ sourceRef }) => shownSource(sourceRef)),
];

/** Whether the package can be added or updated, and where it already is. */
export function Offered({ view: { offer, published, drafted } }: { view: CatalogView }) {
  const { tone, label } = OFFER_WORDS[offer];
  return (
    <>
      <State tone={tone}>{label}</State>{" "}
      {drafted !== published && (
        <small>{drafted === undefined ? "removed in your draft" : "in your draft"}</small>
      )}
    </>
  );
}

interface CatalogListProps {
  page: Page<CatalogView> | undefined;
  problems?: readonly Problem[] | undefined;
}

export function catalogListPage({ page, problems = [] }: CatalogListProps): ConsolePage {
  const list: List<CatalogView> = {
    noun: "packages",
    filters: FILTERS,
    columns: CATALOG_COLUMNS,
    rows: page?.items ?? [],
    idOf: ({ id }) => id,
    paging: page ?? { page: 1, perPage: 1, total: 0 },
    none: {
      text: (
        <>
          The catalog is empty. <a href={IMPORT_PATH}>Import a signed bundle</a>, or let an operator fill it
          from a file.
        </>
      ),
      command: ["catalog", "seed", "catalog.yaml"],
    },
    problems,
    csvPath: `${CATALOG_PATH}.csv`,
    command: ["catalog", "list"],
    api: { method: "GET", path: "/admin/package-catalog" },
  };
  return {
    title: "Catalog",
    status: listStatus(list),
    isError: problems.length > 0,
    content: (
      <>
        <ImportLink />
        <ListView list={list} />
      </>
    ),
  };
}

const ImportLink = () =>
  useReader().mayAdminister ? (
    <p>
      <a class="button" href={IMPORT_PATH}>
        Import a bundle
      </a>
    </p>
  ) : null;
