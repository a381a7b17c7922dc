// Tables on the page of one workstation: its report beside the current policy.
/** @jsxImportSource preact */
import { AsCommand, options } from "../parts/command.tsx";
import { LineLink } from "../parts/line-link.tsx";
import { TableHead } from "../parts/table-head.tsx";
import { Id, State, Text } from "../parts/values.tsx";
import { explainPath } from "../policy/words.ts";
import { LongText } from "./client-values.tsx";
import type { ComparedHarness, ComparedPackage, Comparison } from "./comparison.ts";

/** The revision that reports are compared with. */
export interface CurrentRevision {
  id: string;
  sequence: number;
}

interface HarnessesProps {
  harnesses: readonly ComparedHarness[];
  /** address of the owner */
  user: string;
  current: CurrentRevision | undefined;
}

export function ComparedHarnesses({ harnesses, user, current }: HarnessesProps) {
  if (harnesses.length === 0)
    return (
      <p class="muted">
        The last report names no harness. A harness is reported once its client has found it.
      </p>
    );
  return (
    <>
      <table class="rows">
        <caption class="visually-hidden">harnesses as reported, and what the policy says</caption>
        <TableHead labels={["Harness", "Installed", "Profile", "Settings", wantedBy(current)]} />
        <tbody>
          {harnesses.map((harness, index) => (
            <HarnessRow key={index} harness={harness} />
          ))}
        </tbody>
      </table>
      <PolicyLines harnesses={harnesses} user={user} current={current} />
    </>
  );
}

const wantedBy = (current: CurrentRevision | undefined): string =>
  current === undefined ? "Policy" : `Policy r${current.sequence}`;

function HarnessRow({ harness }: { harness: ComparedHarness }) {
  const { name, version, path, profile, error, isInstalled, isReconciled } = harness;
  return (
    <tr>
      <td data-label="Harness">
        <Text value={name} />
      </td>
      <td data-label="Installed">
        {isInstalled ? <Text value={version} none="version unknown" /> : "not installed"}{" "}
        {path !== "" && (
          <span class="detail">
            <Text value={path} />
          </span>
        )}
      </td>
      <td data-label="Profile">
        <Text value={profile} />
      </td>
      <td data-label="Settings">
        {isInstalled && (
          <State tone={isReconciled ? "good" : "attention"}>{isReconciled ? "Applied" : "Not applied"}</State>
        )}{" "}
        {error !== "" && (
          <div class="detail">
            <LongText value={error} />
          </div>
        )}
      </td>
      <td data-label="Policy">{policyText(harness)}</td>
    </tr>
  );
}

function policyText({ wanted, isInstalled }: ComparedHarness): string {
  if (wanted === undefined) return "the policy cannot manage this harness";
  if (!wanted.isAllowed) return "not allowed";
  const refusal = isInstalled ? wanted.versionRefusal : undefined;
  return refusal ?? "allowed";
}

/** Lines of the policy that set the values of each harness. The values themselves are not shown, because some are secrets. */
function PolicyLines({ harnesses, user, current }: HarnessesProps) {
  const governed = harnesses.filter(({ wanted }) => wanted?.isAllowed === true);
  if (governed.length === 0) return null;
  return (
    <details>
      <summary>Lines of the policy {current && `r${current.sequence}`} behind it</summary>
      {governed.map(({ name, version, wanted }) => (
        <div key={name}>
          <h3>{name}</h3>
          {wanted?.values.length === 0 && <p class="muted">The policy sets no value of this harness.</p>}
          <ul>
            {wanted?.values.map(({ pointer, line }) => (
              <li key={pointer}>
                <code>{pointer}</code>{" "}
                {current && line !== undefined && <LineLink revision={current.id} line={line} />}
              </li>
            ))}
          </ul>
          <Explanation
            user={user}
            harness={name}
            version={wanted?.versionRefusal === undefined ? version : undefined}
          />
        </div>
      ))}
    </details>
  );
}

interface ExplanationProps {
  user: string;
  harness: string;
  /** undefined for a version that the page and the command refuse */
  version: string | undefined;
}

/** A link to the explanation for this user and the installed version. */
function Explanation({ user, harness, version: installed }: ExplanationProps) {
  const query = { user, harness, installed };
  return (
    <>
      <p>
        <a href={explainPath(query)}>
          Explain the policy of {harness} for <Text value={user} />
        </a>
      </p>
      <AsCommand command={["policy", "explain", ...options(query)]} />
    </>
  );
}

export function ComparedPackages({
  comparison,
  current,
}: {
  comparison: Comparison;
  current: CurrentRevision | undefined;
}) {
  const { packages, morePackages } = comparison;
  if (packages.length === 0)
    return <p class="muted">The last report names no package, and the policy wants none here.</p>;
  return (
    <>
      <table class="rows">
        <caption class="visually-hidden">packages as reported, and what the policy wants</caption>
        <TableHead labels={["Package", "Harness", "State", "Reported", wantedBy(current)]} />
        <tbody>
          {packages.map((row, index) => (
            <PackageRow key={index} row={row} current={current} />
          ))}
        </tbody>
      </table>
      {morePackages > 0 && <p class="hint">{morePackages} more. The command below prints them.</p>}
    </>
  );
}

function PackageRow({ row, current }: { row: ComparedPackage; current: CurrentRevision | undefined }) {
  const { id, harness, reported, wanted, isInOrder } = row;
  return (
    <tr>
      <td data-label="Package">
        <Text value={id} />
      </td>
      <td data-label="Harness">
        <Text value={harness} />
      </td>
      <td data-label="State">
        <State tone={isInOrder ? "good" : "attention"}>
          {reported ? stateText(reported.state) : "Missing"}
        </State>{" "}
        {reported && reported.error !== "" && (
          <div class="detail">
            <LongText value={reported.error} />
          </div>
        )}
      </td>
      <td data-label="Reported">
        <Text value={reported?.version} />{" "}
        {reported && reported.digest !== "" && <Id value={reported.digest} />}
      </td>
      <td data-label="Policy">
        {wanted ? (
          <>
            {wanted.version}{" "}
            {current && wanted.line !== undefined && (
              <span class="detail">
                <LineLink revision={current.id} line={wanted.line} />
              </span>
            )}
          </>
        ) : (
          "not wanted"
        )}
      </td>
    </tr>
  );
}

const STATE_LENGTH = 64;

const stateText = (state: string): string =>
  state === "" ? "No state" : `${state.charAt(0).toUpperCase()}${state.slice(1, STATE_LENGTH)}`;
