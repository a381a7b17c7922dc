// The harnesses of the policy: which versions are allowed, and which versions workstations have.
/** @jsxImportSource preact */
import type { HarnessKey } from "../../../domain/harnesses/harnesses.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import { CONSOLE } from "../frame/navigation.ts";
import { harnessText } from "../own/words.ts";
import { AsCommand } from "../parts/command.tsx";
import { TableHead, WideTable } from "../parts/table-head.tsx";
import { Count, State } from "../parts/values.tsx";
import type { ReportedVersion } from "./harness-versions.tsx";

export const HARNESSES_PATH = `${CONSOLE}/harnesses`;

export interface HarnessView {
  harness: HarnessKey;
  isAllowed: boolean;
  requirement: string | undefined;
  allowsUnverified: boolean;
  /** versions below this one are certified; undefined for none */
  certifiedBefore: string | undefined;
  settings: number;
  servers: number;
  packages: number;
  /** the most frequent first */
  versions: readonly ReportedVersion[];
}

const clientsIn = (versions: readonly ReportedVersion[]): number =>
  versions.reduce((sum, { clients }) => sum + clients, 0);

export const harnessesPage = (views: readonly HarnessView[]): ConsolePage => ({
  title: "Harnesses",
  live: ["revision"],
  content: (
    <>
      <p>
        The numbers count workstations by the version that they report. Unreadable versions also count as
        allowed or refused.
      </p>
      <div id="harnesses" data-region>
        <WideTable label="Table of harnesses">
          <table class="rows">
            <caption class="visually-hidden">Harnesses of the policy in force</caption>
            <TableHead
              labels={[
                "Harness",
                "May run",
                "Versions",
                { number: "Allowed" },
                { number: "Refused" },
                { number: "Unreadable" },
                { number: "Settings" },
                { number: "MCP servers" },
                { number: "Packages" },
              ]}
            />
            <tbody>
              {views.map((view) => (
                <HarnessRow key={view.harness} view={view} />
              ))}
            </tbody>
          </table>
        </WideTable>
      </div>
      <AsCommand
        command={["harnesses", "list"]}
        api={{ method: "GET", path: "/admin/harnesses/managed-configs" }}
      />
    </>
  ),
});

const HarnessRow = ({ view }: { view: HarnessView }) => (
  <tr>
    <td data-label="Harness">
      <a href={`${HARNESSES_PATH}/${view.harness}`}>{harnessText(view.harness)}</a>
    </td>
    <td data-label="May run">
      <State tone={view.isAllowed ? "good" : "neutral"}>{view.isAllowed ? "Yes" : "No"}</State>
    </td>
    <td data-label="Versions">{rangeText(view)}</td>
    <td data-label="Allowed" class="number">
      <Count value={clientsIn(view.versions.filter(({ refusal }) => refusal === undefined))} />
    </td>
    <td data-label="Refused" class="number">
      <Count value={clientsIn(view.versions.filter(({ refusal }) => refusal !== undefined))} />
    </td>
    <td data-label="Unreadable" class="number">
      <Count value={clientsIn(view.versions.filter(({ version }) => version === ""))} />
    </td>
    <td data-label="Settings" class="number">
      <Count value={view.settings} />
    </td>
    <td data-label="MCP servers" class="number">
      <Count value={view.servers} />
    </td>
    <td data-label="Packages" class="number">
      <Count value={view.packages} />
    </td>
  </tr>
);

function rangeText({ requirement, allowsUnverified, certifiedBefore }: HarnessView): string {
  const certified = certifiedBefore === undefined ? "" : ` below ${certifiedBefore}`;
  const own = requirement ?? "any";
  return allowsUnverified ? `${own}, also not certified` : `${own}, certified${certified}`;
}
