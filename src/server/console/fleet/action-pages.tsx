// Removing and revoking workstations: the question before it, for one and for many, and the result of many.
/** @jsxImportSource preact */
import type { BulkRow, ClientView } from "../../../domain/clients/service.ts";
import { Hidden } from "../../pages/forms.tsx";
import { asSentence } from "../../pages/words.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import { ConsoleForm, confirmationPage } from "../parts/form.tsx";
import { numberText } from "../parts/texts.ts";
import { Text } from "../parts/values.tsx";
import { CLIENTS_ACTION_PATH, CLIENTS_PATH, clientPath } from "./client-list.tsx";
import { clientName } from "./client-page.tsx";
import { ACTS, type Act, consequenceOfMany, workstations } from "./words.ts";

const TRAIL = [{ href: CLIENTS_PATH, label: "Workstations" }];
/** Names that a sentence lists. */
const NAMED = 10;

interface OneProps {
  act: Act;
  client: ClientView;
  companions: readonly { id: string; hostname: string | null }[];
  /** whether the reader's own sign-in ends */
  isOwn: boolean;
}

/** Asks before one workstation is removed or revoked. */
export function confirmOne({ act, client, companions, isOwn }: OneProps): ConsolePage {
  const name = clientName(client);
  const removing = [
    <>
      Remove <Text value={name} /> (<Text value={client.userEmail} />) from the inventory? Its access stays;
      at its next report it appears again. To end its access, revoke it instead.
    </>,
  ];
  const revoking = [
    <>
      End the login of <Text value={name} /> (<Text value={client.userEmail} />
      )? Its next request is refused and it must sign in again.
    </>,
    ...(companions.length > 0 ? [<Companions companions={companions} />] : []),
    ...(isOwn ? ["The same sign-in opened this console, so you are signed out too."] : []),
  ];
  return confirmationPage({
    title: `${ACTS[act].verb} ${name}?`,
    consequences: act === "remove" ? removing : revoking,
    action: CLIENTS_ACTION_PATH,
    fields: { act, ids: client.id },
    verb: ACTS[act].verb,
    back: clientPath(client.id),
    trail: TRAIL,
    command: ["clients", act, client.id],
    ...(act === "remove" && { api: { method: "DELETE", path: `/admin/client-status/${client.id}` } }),
  });
}

function Companions({ companions }: Pick<OneProps, "companions">) {
  const named = companions.slice(0, NAMED);
  const more = companions.length - named.length;
  return (
    <>
      {companions.length === 1 ? "Another workstation uses" : `${companions.length} other workstations use`}{" "}
      the same login and must sign in again too:{" "}
      {named.map(({ id, hostname }, index) => (
        <span key={id}>
          {index > 0 && ", "}
          <Text value={hostname ?? id} />
        </span>
      ))}
      {more > 0 && ` and ${more} more`}.
    </>
  );
}

export interface ManyProps {
  act: Act;
  language: string;
  /** how many match now */
  count: number;
  /** of the selection */
  ids: readonly string[];
  /** query of the list; undefined for ids */
  filter: string | undefined;
  /** set if the filter is only this: the command has no other */
  notSeenForDays: number | undefined;
  error?: string | undefined;
}

/** Asks before many workstations are removed or revoked. A whole filter wants its number typed. */
export function confirmMany({
  act,
  language,
  count,
  ids,
  filter,
  notSeenForDays: days,
  error,
}: ManyProps): ConsolePage {
  const { verb } = ACTS[act];
  return confirmationPage({
    title: `${verb} ${workstations(count, language)}?`,
    consequences: [
      filter === undefined || filter === ""
        ? `${filter === undefined ? "These are the workstations that you selected." : "These are all workstations of the inventory."}`
        : "These are all workstations that match the filters now.",
      consequenceOfMany(act),
    ],
    action: CLIENTS_ACTION_PATH,
    fields: {
      act,
      ...(filter === undefined ? { ids: ids.join(",") } : { all: "1", filter, expected: String(count) }),
    },
    verb,
    back: `${CLIENTS_PATH}${filter ?? ""}`,
    ...(filter !== undefined && { typed: String(count) }),
    error,
    trail: TRAIL,
    ...(days !== undefined && { command: ["clients", act, "--stale", `${days}d`, "--yes"] }),
  });
}

/** How far an action on a filter has come. */
export interface Progress {
  done: number;
  unchanged: number;
  /** ids that were refused in earlier slices, and in this one */
  refused: readonly string[];
  /** workstations that the action concerns */
  whole: number;
  /** workstations that no slice has reached; 0 at the end */
  left: number;
  /** query of the list */
  filter: string;
}

export interface ResultProps {
  act: Act;
  rows: readonly BulkRow[];
  progress: Progress;
  language: string;
}

/** What happened to each workstation, and what can be done next. */
export function resultPage({ act, rows, progress, language }: ResultProps): ConsolePage {
  const { done, unchanged, refused, whole, left } = progress;
  const number = (value: number): string => numberText(value, language);
  const isOver = left === 0;
  return {
    title: isOver
      ? `${workstations(done, language)} ${ACTS[act].past}`
      : `${number(whole - left)} of ${number(whole)} done`,
    trail: TRAIL,
    content: (
      <>
        <ul class="chips" aria-label="Result">
          <li>{number(done)} done</li>
          <li>{number(unchanged)} unchanged</li>
          <li>{number(refused.length)} refused</li>
        </ul>
        {!isOver && <GoOn act={act} progress={progress} />}
        {isOver && refused.length > 0 && <Retry act={act} ids={refused} />}
        <Rows rows={rows} past={ACTS[act].past} />
        <p>
          <a href={CLIENTS_PATH}>Back to the workstations</a>
        </p>
      </>
    ),
  };
}

/** With a script, the form goes on by itself. */
function GoOn({ act, progress }: { act: Act; progress: Progress }) {
  const { done, unchanged, refused, whole, left, filter } = progress;
  const fields = {
    act,
    all: "1",
    filter,
    expected: whole,
    done,
    unchanged,
    left,
    refused: refused.join(","),
  };
  return (
    <div class="panel">
      <p>
        <progress value={whole - left} max={whole} aria-label="Progress" />
      </p>
      <ConsoleForm action={CLIENTS_ACTION_PATH} isContinued>
        {Object.entries(fields).map(([name, value]) => (
          <Hidden key={name} name={name} value={String(value)} />
        ))}
        <div class="choices">
          <a class="button" href={CLIENTS_PATH}>
            Stop here
          </a>
          <button class="button primary" type="submit">
            Go on
          </button>
        </div>
      </ConsoleForm>
    </div>
  );
}

const Retry = ({ act, ids }: { act: Act; ids: readonly string[] }) => (
  <ConsoleForm action={CLIENTS_ACTION_PATH} class="panel">
    <Hidden name="act" value={act} />
    <Hidden name="ids" value={ids.join(",")} />
    <Hidden name="retry" value="1" />
    <button class="button" type="submit">
      Retry the refused ones
    </button>
  </ConsoleForm>
);

const RESULTS = { unchanged: "Unchanged", refused: "Refused" } as const;

function Rows({ rows, past }: { rows: readonly BulkRow[]; past: string }) {
  if (rows.length === 0) return null;
  return (
    <table class="rows">
      <caption class="visually-hidden">result of each workstation</caption>
      <thead>
        <tr>
          <th scope="col">Workstation</th>
          <th scope="col">Result</th>
          <th scope="col">Reason</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ id, name, result, why }) => (
          <tr key={id}>
            <td data-label="Workstation">
              <Text value={name ?? id} />
            </td>
            <td data-label="Result">{result === "done" ? capitalized(past) : RESULTS[result]}</td>
            <td data-label="Reason">
              <Text value={why && asSentence(why)} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Nothing was selected, or the action is none of ours. */
export const unclearPage = (why: string): ConsolePage => ({
  title: "Nothing to do",
  status: 400,
  isError: true,
  trail: TRAIL,
  content: (
    <div class="error-summary" role="alert" tabIndex={-1} autofocus>
      <p>{why}</p>
      <p>
        <a href={CLIENTS_PATH}>Back to the workstations</a>
      </p>
    </div>
  ),
});
