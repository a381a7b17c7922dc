// The packages of the policy as a list: contents, audience, and the number of workstations that have applied it.
/** @jsxImportSource preact */

import type { PackageCounts } from "../../../domain/clients/service.ts";
import type { ListColumn } from "../../../domain/console/service.ts";
import type { PackageView } from "../../../domain/governance/service.ts";
import type { Page } from "../../../domain/shared/page.ts";
import type { Problem } from "../../../platform/errors.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import type { Column, Filter, List } from "../list/list.ts";
import { ListView, listStatus } from "../list/list-view.tsx";
import { andText, harnessText } from "../own/words.ts";
import { State, Text, useReader } from "../parts/values.tsx";
import { shareText } from "../workstations/client-values.tsx";
import { NEW_PACKAGE_PATH } from "./new/words.ts";
import { Audience, CONTENT_COLUMN, CONTENT_FILTERS, fileColumn, nameColumn } from "./package-columns.tsx";
import { audienceText, CATALOG_PATH, DRAFT_WORDS, PACKAGES_PATH, packagePath, updateText } from "./words.ts";

/** A row, with what workstations report. */
export interface PackageRow extends PackageView {
  /** undefined if no workstation reports the package */
  counts: PackageCounts | undefined;
  /** the current commit of its branch or tag, if its archive has a different one */
  newerCommit: string | undefined;
}

const FILTERS: readonly Filter[] = [
  ...CONTENT_FILTERS,
  {
    name: "audience",
    label: "Who gets it",
    kind: "choice",
    choices: [
      { value: "organization", label: "Everybody" },
      { value: "users", label: "Some people" },
    ],
  },
  {
    name: "origin",
    label: "Origin",
    kind: "choice",
    choices: [
      { value: "catalog", label: "Catalog" },
      { value: "own", label: "Own" },
    ],
  },
  {
    name: "update",
    label: "Update",
    kind: "choice",
    choices: [
      { value: "true", label: "Available" },
      { value: "false", label: "None" },
    ],
  },
];

const PACKAGE_COLUMNS: readonly Column<PackageRow, ListColumn<"/console/packages">>[] = [
  nameColumn(packagePath),
  {
    name: "version",
    label: "Version",
    cell: ({ version, update, newerCommit }) => (
      <>
        <Text value={version} />{" "}
        {update && <State tone="attention">{`Catalog: ${updateText(version, update)}`}</State>}{" "}
        {newerCommit !== undefined && <State tone="attention">Newer commit available</State>}
      </>
    ),
    csv: ({ version }) => version,
  },
  CONTENT_COLUMN,
  {
    name: "harnesses",
    label: "Harnesses",
    cell: ({ harnesses, disabledFor }) => (
      <>
        {harnesses.length === 0 ? "All" : harnesses.map(harnessText).join(", ")}{" "}
        {disabledFor.length > 0 && <small>{`off for ${andText(disabledFor.map(harnessText))}`}</small>}
      </>
    ),
    csv: ({ harnesses }) => harnesses.join(" "),
  },
  {
    name: "audience",
    label: "Who gets it",
    cell: ({ audience }) => <Audience audience={audience} />,
    csv: ({ audience }) => audienceText(audience),
  },
  {
    name: "state",
    label: "State",
    cell: ({ draft }) => <State tone={DRAFT_WORDS[draft].tone}>{DRAFT_WORDS[draft].label}</State>,
    csv: ({ draft }) => (draft === "same" ? "published" : draft),
  },
  {
    name: "origin",
    label: "Origin",
    cell: ({ isFromCatalog }) => (isFromCatalog ? "Catalog" : "Own"),
    csv: ({ isFromCatalog }) => (isFromCatalog ? "catalog" : "own"),
  },
  {
    name: "applied",
    label: "Applied on",
    cell: ({ counts }) => appliedText(counts) ?? <span class="muted">no workstation yet</span>,
    csv: ({ counts }) => appliedText(counts),
  },
];

/** Columns of the CSV file only. */
export const PACKAGE_CSV_COLUMNS: readonly Column<PackageRow>[] = [
  ...PACKAGE_COLUMNS,
  fileColumn("name", ({ name }) => name),
  fileColumn("executable", ({ isExecutable }) => isExecutable),
  fileColumn("catalog_version", ({ update }) => update?.version),
  fileColumn("newer_commit", ({ newerCommit }) => newerCommit),
];

/** @returns `3 of 4`: workstations that have applied it, of those that report it */
const appliedText = (counts: PackageCounts | undefined): string | undefined =>
  counts && shareText(counts.applied, counts.reported);

interface PackageListProps {
  page: Page<PackageRow> | undefined;
  problems?: readonly Problem[] | undefined;
}

export function packageListPage({ page, problems = [] }: PackageListProps): ConsolePage {
  const list: List<PackageRow> = {
    noun: "packages",
    filters: FILTERS,
    columns: PACKAGE_COLUMNS,
    rows: page?.items ?? [],
    idOf: ({ id }) => id,
    paging: page ?? { page: 1, perPage: 1, total: 0 },
    none: {
      text: (
        <>
          The policy has no packages yet. Add one from an archive, or choose some from{" "}
          <a href={CATALOG_PATH}>the catalog</a>.
        </>
      ),
      purpose: "An operator fills the catalog on the server",
      command: ["catalog", "seed", "catalog.yaml"],
    },
    problems,
    defaultSort: "id",
    csvPath: `${PACKAGES_PATH}.csv`,
    command: ["policy", "show"],
    api: { method: "GET", path: "/admin/governance-config" },
  };
  return {
    title: "Packages",
    live: ["revision"],
    status: listStatus(list),
    isError: problems.length > 0,
    content: (
      <>
        <NewPackage />
        <ListView list={list} />
      </>
    ),
  };
}

const NewPackage = () =>
  useReader().mayAdminister ? (
    <p>
      <a class="button primary" href={NEW_PACKAGE_PATH}>
        Add a package
      </a>
    </p>
  ) : null;
