// The versions of a harness that workstations report, and whether the policy allows each.
/** @jsxImportSource preact */

import { TableHead } from "../parts/table-head.tsx";
import { Count, State, Text } from "../parts/values.tsx";

/** A version that workstations report. */
export interface ReportedVersion {
  /** empty if none could be read */
  version: string;
  clients: number;
  /** why the policy refuses it; undefined if it allows it */
  refusal: string | undefined;
}

export function Versions({ versions }: { versions: readonly ReportedVersion[] }) {
  return (
    <section aria-labelledby="versions">
      <h2 id="versions">Versions on workstations</h2>
      {versions.length === 0 ? (
        <p>No workstation has reported this harness.</p>
      ) : (
        <table class="rows">
          <caption class="visually-hidden">Reported versions, the most frequent first</caption>
          <TableHead
            labels={["Version", { number: "Workstations" }, "Under the draft, or the policy without one"]}
          />
          <tbody>
            {versions.map(({ version, clients, refusal }) => (
              <tr key={version}>
                <td data-label="Version">
                  <Text value={version} none="unreadable" />
                </td>
                <td data-label="Workstations" class="number">
                  <Count value={clients} />
                </td>
                <td data-label="Under the draft, or the policy without one">
                  <State tone={refusal === undefined ? "good" : "bad"}>
                    {refusal === undefined ? "Allowed" : "Refused"}
                  </State>{" "}
                  <Text value={refusal} none=" " />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
