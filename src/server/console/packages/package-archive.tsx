// The contents of a package's archive, and the parts that each version of a harness uses.
/** @jsxImportSource preact */
import type { ArchiveListing, ManagedPackage } from "../../../domain/catalog/service.ts";
import { withHiddenSecrets } from "../../../domain/governance/shown/hidden-secrets.ts";
import { layoutIntervalsOf } from "../../../domain/governance/versions/layout-selection.ts";
import { HARNESS_KEYS } from "../../../domain/harnesses/harnesses.ts";
import { addressWith } from "../list/address.ts";
import { harnessText } from "../own/words.ts";
import { TableHead } from "../parts/table-head.tsx";
import { Count, type Fact, Id, Size, Text, useReader } from "../parts/values.tsx";
import { HiddenValues, isHiddenFrom } from "../policy/hidden-values.tsx";

export interface StoredArchive {
  sizeBytes: number;
  entries: number;
  expandedBytes: number;
}

type Adapters = ManagedPackage["adapters"];

/** Parameter of the address that shows the contents of the archive, which are slow to read. */
export const CONTENTS = { name: "contents", value: "all" } as const;

/** @returns the source and digest of the archive, and whether it is stored */
export const sourceFacts = (managed: ManagedPackage, archive: StoredArchive | undefined): Fact[] => [
  { label: "Source", value: <Source value={managed.source_ref} /> },
  { label: "SHA-256", value: <Id value={managed.sha256} /> },
  {
    label: "Archive",
    value: archive ? (
      <>
        <Size bytes={archive.sizeBytes} /> here
      </>
    ) : (
      "not stored here"
    ),
  },
  ...Object.entries(managed.platform_sources ?? {}).map(([platform, source]) => ({
    label: `Source for ${platform}`,
    value: <Source value={source.source_ref} />,
  })),
];

/** @returns the source of a package without a password or a token */
export const shownSource = (value: string): string =>
  withHiddenSecrets(value, { path: ["packages", "", "source_ref"] });

function Source({ value }: { value: string }) {
  const reader = useReader();
  const shown = shownSource(value);
  return (
    <>
      <Text value={isHiddenFrom(reader) ? shown : value} />
      <HiddenValues isNeeded={shown !== value} />
    </>
  );
}

/** Which part of the archive each version of a harness uses. */
export function Layouts({ adapters }: { adapters: Adapters }) {
  const rows = HARNESS_KEYS.flatMap((harness) => {
    const adapter = adapters[harness];
    return adapter ? layoutIntervalsOf(adapter).map((stretch) => ({ harness, ...stretch })) : [];
  });
  return (
    <section aria-labelledby="layouts">
      <h2 id="layouts">What harnesses use</h2>
      {rows.length === 0 ? (
        <p>The package has no files for harnesses.</p>
      ) : (
        <table class="rows">
          <caption class="visually-hidden">Layouts by harness and version</caption>
          <TableHead labels={["Harness", "Versions", "Uses"]} />
          <tbody>
            {rows.map(({ harness, introduced, before, layout }) => (
              <tr key={`${harness} ${introduced.raw}`}>
                <td data-label="Harness">{harnessText(harness)}</td>
                <td data-label="Versions">
                  {before ? `${introduced.raw} to below ${before.raw}` : `${introduced.raw} and later`}
                </td>
                <td data-label="Uses">{layout ? <Layout layout={layout} /> : "not available"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

type PlacedLayout = NonNullable<ReturnType<typeof layoutIntervalsOf>[number]["layout"]>;

function Layout({ layout }: { layout: PlacedLayout }) {
  const parts: [label: string, paths: readonly string[]][] = [
    ["Skills", present(layout.skills_dir)],
    ["Agents", present(layout.agents_dir)],
    ["Hooks", present(layout.hooks_file)],
    ["Plugin folder", present(layout.plugin_dir)],
    ["Plugins", layout.plugins],
    ...Object.entries(layout.helpers).map(([name, { paths }]): [string, string[]] => [
      `Command ${name}`,
      Object.entries(paths).map(([platform, path]) => `${platform}: ${path}`),
    ]),
  ];
  const shown = parts.filter(([, paths]) => paths.length > 0);
  return (
    <Text value={shown.map(([label, paths]) => `${label}: ${paths.join(", ")}`).join("; ")} none="nothing" />
  );
}

const present = (path: string | undefined): string[] => (path === undefined ? [] : [path]);

interface ContentsProps {
  archive: StoredArchive | undefined;
  contents: ArchiveListing | undefined;
}

/** The entries of the archive, on request. */
export function Contents({ archive, contents }: ContentsProps) {
  const { url } = useReader();
  if (!archive) return null;
  return (
    <section aria-labelledby="contents">
      <h2 id="contents">Archive</h2>
      <p>
        <Count value={archive.entries} /> files and folders, <Size bytes={archive.expandedBytes} /> unpacked.{" "}
        {!contents && (
          <a href={`${addressWith(url, { [CONTENTS.name]: CONTENTS.value })}#contents`}>Show them</a>
        )}
      </p>
      {contents && <Entries contents={contents} />}
    </section>
  );
}

const Entries = ({ contents: { listed, entries } }: { contents: ArchiveListing }) => (
  <>
    <table class="rows">
      <caption class="visually-hidden">Files and folders of the archive</caption>
      <TableHead labels={["Path", { number: "Size" }]} />
      <tbody>
        {listed.map(({ path, kind, sizeBytes }) => (
          <tr key={path}>
            <td data-label="Path">
              <Text value={kind === "directory" ? `${path}/` : path} />
            </td>
            <td data-label="Size" class="number">
              {kind === "directory" ? "folder" : <Size bytes={sizeBytes} />}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
    {entries > listed.length && (
      <p>
        And <Count value={entries - listed.length} /> more.
      </p>
    )}
  </>
);
