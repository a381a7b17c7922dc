// The installation: findings of doctor with their remedies, the running service, disk and sizes, and outgoing destinations.
/** @jsxImportSource preact */
import type {
  CheckFinding,
  Diagnosis,
  Examination,
  MachineFacts,
} from "../../../domain/system/operations.ts";
import { asSentence, capitalized } from "../../pages/words.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import { CONSOLE } from "../frame/navigation.ts";
import { AsCommand } from "../parts/command.tsx";
import { ConsoleForm } from "../parts/form.tsx";
import { TableHead } from "../parts/table-head.tsx";
import { percentText } from "../parts/texts.ts";
import {
  Copy,
  Count,
  type Fact,
  Facts,
  Id,
  Size,
  State,
  Text,
  Time,
  type Tone,
  useReader,
} from "../parts/values.tsx";

export const SYSTEM_PATH = `${CONSOLE}/system`;
export const EXAMINATION_PATH = `${SYSTEM_PATH}/examination`;

interface InstallationProps {
  diagnosis: Diagnosis;
  examination: Examination;
  machine: MachineFacts;
}

export const installationPage = ({ diagnosis, examination, machine }: InstallationProps): ConsolePage => ({
  title: "Installation",
  content: (
    <>
      <section>
        <h2>Checks</h2>
        <Checks diagnosis={diagnosis} />
        <AsCommand command={["doctor"]} api={{ method: "GET", path: "/admin/doctor" }} />
      </section>
      <section>
        <h2>Deep checks</h2>
        <DeepChecks examination={examination} />
      </section>
      <section>
        <h2>Service</h2>
        <Facts facts={factsOf(machine)} />
      </section>
      <section>
        <h2>Outgoing connections</h2>
        <Destinations destinations={machine.destinations} />
      </section>
    </>
  ),
});

const TONES: Readonly<Record<CheckFinding["result"], Tone>> = {
  failed: "bad",
  warning: "attention",
  skipped: "neutral",
  ok: "good",
};
const WORDS = { failed: "Failed", warning: "Warning", skipped: "Skipped", ok: "OK" } as const;
const PROBLEMS = ["failed", "warning"] as const;
const OTHERS = ["skipped", "ok"] as const;

function Checks({ diagnosis: { atMs, findings } }: { diagnosis: Diagnosis }) {
  const having = (results: readonly CheckFinding["result"][]) =>
    results.flatMap((wanted) => findings.filter(({ result }) => result === wanted));
  const [bad, others] = [having(PROBLEMS), having(OTHERS)];
  return (
    <>
      <p>
        {bad.length === 0 ? (
          "No check found a problem. "
        ) : (
          <>
            <Count value={bad.length} /> of <Count value={findings.length} /> checks need attention.{" "}
          </>
        )}
        Checked <Time at={atMs} />.
      </p>
      {bad.length > 0 && <Findings findings={bad} caption="Checks that need attention" />}
      {others.length > 0 && (
        <details class="checks">
          <summary>
            {others.length} {bad.length > 0 && "other "}
            {others.length === 1 ? "check" : "checks"}
          </summary>
          <Findings findings={others} caption="Checks without a problem" />
        </details>
      )}
    </>
  );
}

/** Auditors see the state and the command, but no button. */
function DeepChecks({ examination: { isRunning, last, problem } }: Pick<InstallationProps, "examination">) {
  const { mayAdminister } = useReader();
  return (
    <>
      <div class="panel">
        {isRunning ? (
          <p>
            <State tone="neutral">Running</State> Reload this page for the findings.
          </p>
        ) : problem !== null ? (
          <p>
            <State tone="bad">Failed</State> <Text value={asSentence(problem)} />
          </p>
        ) : last === undefined ? (
          <p>
            <State tone="neutral">Not run</State> They have not run since the service started.
          </p>
        ) : null}
        <p class="hint">
          They read every page of the database, every artifact and the whole audit log, which can take
          minutes, and repeat all other checks. The service answers requests in the meantime.
        </p>
        {mayAdminister && !isRunning && (
          <ConsoleForm action={EXAMINATION_PATH}>
            <button class="button" type="submit">
              Examine all
            </button>
          </ConsoleForm>
        )}
        <AsCommand
          command={["doctor", "--deep"]}
          api={{ method: "POST", path: "/admin/doctor/examination" }}
        />
      </div>
      {last && <Checks diagnosis={last} />}
    </>
  );
}

const Findings = ({ findings, caption }: { findings: readonly CheckFinding[]; caption: string }) => (
  <table class="rows">
    <caption class="visually-hidden">{caption}</caption>
    <TableHead labels={["Result", "Check", "Found", "What to do"]} />
    <tbody>
      {findings.map(({ check, result, detail, remedy }, index) => (
        <tr key={index}>
          <td data-label="Result">
            <State tone={TONES[result]}>{WORDS[result]}</State>
          </td>
          <td data-label="Check">
            <Text value={check.replaceAll("_", " ")} />
          </td>
          <td data-label="Found">
            <Text value={detail} />
          </td>
          <td data-label="What to do">
            {remedy === null ? <Text value={null} /> : <Remedy text={remedy} />}
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);

/** A command inside a remedy, up to the next clause. */
const COMMAND = /`?(quartermaster [a-z][^;`,]*)`?/;

/** A remedy, with a copy button for its command. */
function Remedy({ text }: { text: string }) {
  const found = COMMAND.exec(text);
  const command = found?.[1]?.trim();
  if (!found || command === undefined) return <Text value={asSentence(text)} />;
  const before = text.slice(0, found.index);
  const after = text.slice(found.index + found[0].length);
  return (
    <>
      {before !== "" && (
        <>
          <Text value={capitalized(before)} />{" "}
        </>
      )}
      <code>
        <Text value={command} />
      </code>{" "}
      <Copy text={command} what="command" />
      {after !== "" && <Text value={after} />}
    </>
  );
}

function factsOf(machine: MachineFacts): Fact[] {
  const { sizeBytes, availableBytes } = machine.disk;
  return [
    { label: "Version", value: machine.version },
    { label: "Commit", value: <Id value={machine.commit} /> },
    { label: "Schema", value: machine.schema },
    { label: "Running since", value: <Time at={machine.startedAtMs} /> },
    { label: "Data directory", value: <Text value={machine.directory} /> },
    {
      label: "Free disk space",
      value: (
        <>
          <Size bytes={availableBytes} /> of <Size bytes={sizeBytes} />,{" "}
          {percentText(availableBytes, sizeBytes)}
        </>
      ),
    },
    { label: "Database", value: <Size bytes={machine.databaseBytes} /> },
    { label: "Write-ahead log", value: <Size bytes={machine.walBytes} /> },
    { label: "Request log", value: <Size bytes={machine.requestLogBytes} /> },
  ];
}

function Destinations({ destinations }: Pick<MachineFacts, "destinations">) {
  return (
    <>
      {destinations.length === 0 ? (
        <p>The settings allow no outgoing connection, so the service never makes one.</p>
      ) : (
        <table class="rows">
          <caption class="visually-hidden">Destinations that the settings allow</caption>
          <TableHead labels={["Name", "Address", "Why"]} />
          <tbody>
            {destinations.map(({ name, origin, why }) => (
              <tr key={name}>
                <td data-label="Name">
                  <Text value={name} />
                </td>
                <td data-label="Address">
                  <Text value={origin} />
                </td>
                <td data-label="Why">
                  <Text value={why} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <AsCommand command={["config", "show", "--outgoing"]} />
    </>
  );
}
