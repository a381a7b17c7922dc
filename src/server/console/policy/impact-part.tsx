// The impact of a draft, as a part of its review.
/** @jsxImportSource preact */
import {
  HARNESS_NOT_ALLOWED,
  type HarnessImpact,
  type PolicyImpact,
} from "../../../domain/clients/service.ts";
import { harnessText } from "../own/words.ts";
import { TableHead } from "../parts/table-head.tsx";
import { Count, Facts, Text } from "../parts/values.tsx";
import { PEOPLE_CSV_PATH } from "./words.ts";

/** The impact of a draft: workstations, harnesses that would be refused, and people who gain or lose a package. */
export function Impact({ impact, draft }: { impact: PolicyImpact; draft: string }) {
  const { workstations, harnesses, packages, gatewayKeys } = impact;
  const refusing = harnesses.filter(({ refused }) => refused > 0);
  const isPart = workstations.counted < workstations.total;
  return (
    <section aria-labelledby="reach">
      <h2 id="reach">Whom it reaches</h2>
      {isPart && (
        <p class="hint">
          The <Count value={workstations.counted} /> most recently seen workstations are counted.
        </p>
      )}
      <RefusedEverywhere harnesses={refusing} isPart={isPart} />
      <Facts
        facts={[
          { label: "Become outdated until their next fetch", value: <Count value={workstations.outdated} /> },
          { label: "Would be refused", value: <Count value={workstations.refused} /> },
          { label: "Have a client that is too old", value: <Count value={workstations.clientTooOld} /> },
          { label: "All workstations", value: <Count value={workstations.total} /> },
          { label: "Gateway keys touched", value: <Count value={gatewayKeys} /> },
        ]}
      />
      {refusing.length > 0 && (
        <table class="rows">
          <caption class="visually-hidden">Versions that would be refused</caption>
          <TableHead labels={["Harness", "Version", { number: "Workstations" }, "Reason"]} />
          <tbody>
            {refusing.flatMap(({ harness, versions }) =>
              versions.map(({ version, clients, reason }) => (
                <tr key={harness + version}>
                  <td data-label="Harness">{harnessText(harness)}</td>
                  <td data-label="Version">
                    <Text value={version} none="unreadable" />
                  </td>
                  <td data-label="Workstations" class="number">
                    <Count value={clients} />
                  </td>
                  <td data-label="Reason">
                    <Text value={reason} />
                  </td>
                </tr>
              )),
            )}
          </tbody>
        </table>
      )}
      {packages.length > 0 && (
        <ul>
          {packages.map(({ id, gaining, losing }) => (
            <li key={id}>
              <Text value={id} />:{" "}
              <PeopleText verb="get it" people={gaining} list={peopleAddress(draft, id, "gaining")} />,{" "}
              <PeopleText verb="lose it" people={losing} list={peopleAddress(draft, id, "losing")} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** @returns the address of the file with everybody who gains or loses a package */
const peopleAddress = (draft: string, id: string, change: "gaining" | "losing"): string =>
  `${PEOPLE_CSV_PATH}?${new URLSearchParams({ draft, package: id, change })}`;

interface PeopleTextProps {
  verb: string;
  people: PolicyImpact["packages"][number]["gaining"];
  /** address of the file with all of them */
  list: string;
}

const PeopleText = ({ verb, people, list }: PeopleTextProps) => (
  <>
    <Count value={people.count} /> {people.count === 1 ? "person" : "people"} {verb}
    {people.named.length > 0 && (
      <>
        {" "}
        (<Text value={people.named.join(", ")} />
        {people.count > people.named.length && " and others"})
      </>
    )}
    {people.count > people.named.length && (
      <>
        {" "}
        <a href={list} download data-plain>
          All of them as CSV
        </a>
      </>
    )}
  </>
);

/** A version range that refuses every workstation is usually a mistake. */
function RefusedEverywhere({ harnesses, isPart }: { harnesses: readonly HarnessImpact[]; isPart: boolean }) {
  const closed = harnesses.filter(({ allowed }) => allowed === 0);
  if (closed.length === 0) return null;
  return (
    <div class="notice attention">
      {closed.map(({ harness, installed, versions }) => (
        <p key={harness}>
          <strong>
            {isPart ? "None of these workstations" : "No workstation"} would be allowed to run{" "}
            {harnessText(harness)}.
          </strong>{" "}
          {versions.every(({ reason }) => reason === HARNESS_NOT_ALLOWED) ? (
            <>
              The draft does not allow it; <Count value={installed} />{" "}
              {installed === 1 ? "workstation has" : "workstations have"} it.
            </>
          ) : installed === 1 ? (
            "The one that has it has a version that the draft refuses."
          ) : (
            <>
              All <Count value={installed} /> that have it have a version that the draft refuses.
            </>
          )}
        </p>
      ))}
    </div>
  );
}
