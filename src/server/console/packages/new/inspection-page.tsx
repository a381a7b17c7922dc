// The second step: shows the contents of the archive before anybody gets it.
/** @jsxImportSource preact */
import type { KeptArchive } from "../../../../domain/catalog/sources/kept-archives.ts";
import type { Addition } from "../../../../domain/governance/additions/addition-model.ts";
import type { ConsolePage } from "../../frame/frame.tsx";
import { Count, Facts, Id, Size, Text } from "../../parts/values.tsx";
import { stepPage } from "./steps.tsx";
import { STEPS } from "./words.ts";

export function inspectionPage({
  addition,
  archive,
}: {
  addition: Addition;
  archive: KeptArchive;
}): ConsolePage {
  const { source } = addition;
  const { sha256, sizeBytes, entries, expandedBytes } = archive;
  const content = (
    <>
      <p>The archive follows the rules that every workstation applies, and is stored here.</p>
      <Facts
        facts={[
          { label: "Source", value: <Text value={source.sourceRef} /> },
          ...(source.commit === undefined ? [] : [{ label: "Commit", value: <Id value={source.commit} /> }]),
          { label: "SHA-256", value: <Id value={sha256} /> },
          { label: "Size", value: <Size bytes={sizeBytes} /> },
          { label: "Unpacked", value: <Size bytes={expandedBytes} /> },
          { label: "Files and folders", value: <Count value={entries} /> },
        ]}
      />
      <Downloads {...archive} />
      <Paths {...archive} />
      <p class="choices">
        <a class="button primary" href={STEPS.identity.path}>
          Continue
        </a>
        <a class="button" href={STEPS.source.path}>
          Choose another archive
        </a>
      </p>
    </>
  );
  return stepPage(
    { step: "inspection", title: "What is in the archive", addition, content },
    () => undefined,
  );
}

const Downloads = ({ runtimeDownloads }: Pick<KeptArchive, "runtimeDownloads">) => (
  <section aria-labelledby="downloads">
    <h2 id="downloads">Possible downloads at run time</h2>
    {runtimeDownloads.length === 0 ? (
      <p>Nothing was found. Only well-known commands are detected.</p>
    ) : (
      <>
        <p>The digest does not cover what these files download.</p>
        <ul>
          {runtimeDownloads.map(({ path, what }) => (
            <li key={path + what}>
              <code>
                <Text value={path} />
              </code>{" "}
              {what}
            </li>
          ))}
        </ul>
      </>
    )}
  </section>
);

const Paths = ({ paths, entries }: Pick<KeptArchive, "paths" | "entries">) => (
  <section aria-labelledby="paths">
    <h2 id="paths">Contents</h2>
    <details>
      <summary>
        Show {paths.length === entries ? "all" : "the first"} <Count value={paths.length} /> paths
      </summary>
      <ul class="plain">
        {paths.map((path) => (
          <li key={path}>
            <Text value={path} />
          </li>
        ))}
      </ul>
      {entries > paths.length && (
        <p>
          And <Count value={entries - paths.length} /> more.
        </p>
      )}
    </details>
  </section>
);
