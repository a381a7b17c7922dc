// The state of the chain of audit entries: time and result of the last verification, and the button that verifies it.
/** @jsxImportSource preact */
import type { PastVerification, VerificationState } from "../../../domain/audit/log.ts";
import { breakText } from "../../../domain/audit/reading/break-text.ts";
import { asSentence } from "../../pages/words.ts";
import { CONSOLE } from "../frame/navigation.ts";
import { AsCommand } from "../parts/command.tsx";
import { ConsoleForm } from "../parts/form.tsx";
import { Count, State, Text, Time, useReader } from "../parts/values.tsx";

export const VERIFY_PATH = `${CONSOLE}/audit/verify`;

/** Auditors see the state and the command, but no button. */
export function ChainState({ chain: { last, isRunning } }: { chain: VerificationState }) {
  const { mayAdminister } = useReader();
  return (
    <div class="panel">
      {isRunning ? (
        <p>
          <State tone="neutral">Verifying</State> Every entry is being compared with its digest. Reload this
          page for the result.
        </p>
      ) : last === undefined ? (
        <p>
          <State tone="neutral">Not verified</State> The chain was not verified since the service started.
        </p>
      ) : (
        <Outcome {...last} />
      )}
      {mayAdminister && !isRunning && (
        <ConsoleForm action={VERIFY_PATH}>
          <button class="button" type="submit">
            Verify the chain
          </button>
        </ConsoleForm>
      )}
      <AsCommand command={["audit", "verify"]} api={{ method: "POST", path: "/admin/audit/verify" }} />
    </div>
  );
}

function Outcome({ atMs, verification: { entries, removed, broken } }: PastVerification) {
  if (broken !== undefined)
    return (
      <p>
        <State tone="bad">Broken</State> <Text value={asSentence(breakText(broken))} /> The{" "}
        <Count value={entries} /> entries before it are intact. Compare the log with an earlier export or with
        the log in a backup. Verified <Time at={atMs} />.
      </p>
    );
  return (
    <p>
      <State tone="good">Intact</State> <Count value={entries} /> entries are intact and in order
      {removed > 0 && (
        <>
          ; retention removed <Count value={removed} /> earlier
        </>
      )}
      . Verified <Time at={atMs} />.
    </p>
  );
}
