// Failures of a package as workstations report them, and the revisions that changed the package.
/** @jsxImportSource preact */
import type { PackageFailures } from "../../../domain/clients/service.ts";
import type { PackageChange } from "../../../domain/governance/service.ts";
import { TableHead } from "../parts/table-head.tsx";
import { Count, Revision, Text, Time } from "../parts/values.tsx";
import { HISTORY_PATH } from "../policy/words.ts";
import { clientPath } from "../workstations/client-list.tsx";
import { LongText } from "../workstations/client-values.tsx";

export function Failures({ failures: { failures, more } }: { failures: PackageFailures }) {
  return (
    <section aria-labelledby="failures">
      <h2 id="failures">Where it fails</h2>
      {failures.length === 0 ? (
        <p>No workstation reports a failure.</p>
      ) : (
        <table class="rows">
          <caption class="visually-hidden">Reported failures, the most frequent first</caption>
          <TableHead labels={["Reported", "Harness", "Version", { number: "Workstations" }, "For example"]} />
          <tbody>
            {failures.map(({ harness, version, state, error, clients, example }) => (
              <tr key={`${harness} ${version} ${state} ${error}`}>
                <td data-label="Reported">
                  <LongText value={[state || "in an unknown state", error].filter(Boolean).join(": ")} />
                </td>
                <td data-label="Harness">
                  <Text value={harness} />
                </td>
                <td data-label="Version">
                  <Text value={version} />
                </td>
                <td data-label="Workstations" class="number">
                  <Count value={clients} />
                </td>
                <td data-label="For example">
                  <a href={clientPath(example.id)}>
                    <Text value={example.hostname ?? "a workstation without a name"} />
                  </a>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {more > 0 && (
        <p>
          <Count value={more} /> more reports fail in other ways.
        </p>
      )}
    </section>
  );
}

export function History({ changes }: { changes: readonly PackageChange[] }) {
  return (
    <section aria-labelledby="history">
      <h2 id="history">Revisions that changed it</h2>
      {changes.length === 0 ? (
        <p>None of the latest revisions changed it.</p>
      ) : (
        <ul>
          {changes.map((change) => (
            <li key={change.revision.id}>
              <Revision
                sequence={change.revision.sequence}
                href={`${HISTORY_PATH}/${change.revision.sequence}`}
              />
              : <Text value={changeText(change)} />, by <Text value={change.revision.authorLabel} />,{" "}
              <Time at={change.revision.createdAtMs} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** @returns the change of a revision: `1.2.0 to 1.3.0, who gets it` */
function changeText({ from, to, isAudienceChanged, isUseChanged }: PackageChange): string {
  if (from === undefined) return `added as ${to}`;
  if (to === undefined) return `removed, was ${from}`;
  const parts = [
    ...(from === to ? [] : [`${from} to ${to}`]),
    ...(isAudienceChanged ? ["who gets it"] : []),
    ...(isUseChanged ? ["what harnesses do with it"] : []),
  ];
  return parts.length === 0 ? "its content" : parts.join(", ");
}
