// The list of captured sessions: the reader's own and those shared with the reader; for administrators all of the organization.
/** @jsxImportSource preact */
import type { ListColumn } from "../../../domain/console/service.ts";
import { HARNESS_KEYS } from "../../../domain/harnesses/harnesses.ts";
import type { ArtifactStatus } from "../../../domain/sessions/model.ts";
import type { SessionView } from "../../../domain/sessions/service.ts";
import type { Page } from "../../../domain/shared/page.ts";
import { toRfc3339 } from "../../../platform/clock.ts";
import type { Problem } from "../../../platform/errors.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import { pathWith } from "../list/address.ts";
import type { Column, Filter, List, Values } from "../list/list.ts";
import { ListView, listStatus } from "../list/list-view.tsx";
import { harnessText } from "../own/words.ts";
import { options } from "../parts/command.tsx";
import { dayText, sizeText } from "../parts/texts.ts";
import { Id, State, Text, Time, useReader } from "../parts/values.tsx";
import {
  harnessLabel,
  SESSIONS_CHAPTER,
  SESSIONS_CSV_PATH,
  sessionPath,
  sharingText,
  storageState,
  titleOf,
} from "./words.ts";

/** Value of the filter for the reader's own sessions. */
export const MINE = "mine";

const STATUS_LABELS: Readonly<Record<Exclude<ArtifactStatus, "complete">, string>> = {
  pending: "Not finished",
  failed: "Failed",
  superseded: "Has older versions",
};

const filtersFor = (readsAll: boolean): readonly Filter[] => [
  { name: "q", label: "Search", kind: "search", hint: "Part of a title, summary, folder or native id" },
  {
    name: "whose",
    label: "Whose",
    kind: "choice",
    choices: [{ value: MINE, label: "Mine only" }],
  },
  ...(readsAll
    ? [{ name: "user", label: "Owner", kind: "person", hint: "Address or id" } satisfies Filter]
    : []),
  {
    name: "harness",
    label: "Harness",
    kind: "choice",
    choices: HARNESS_KEYS.map((value) => ({ value, label: harnessText(value) })),
  },
  { name: "updated_from", label: "Uploaded from", kind: "date" },
  { name: "updated_to", label: "Uploaded to", kind: "date" },
  {
    name: "status",
    label: "Uploads",
    kind: "choice",
    choices: Object.entries(STATUS_LABELS).map(([value, label]) => ({ value, label })),
    hint: readsAll ? "Sessions with such a version" : "Own sessions with such a version",
    isOptional: true,
  },
];

/** Characters of a summary in the list; the page of the session has all of it. */
const SUMMARY_SHOWN = 100;

const summaryText = (summary: string | null): string =>
  summary !== null && summary.length > SUMMARY_SHOWN
    ? `${summary.slice(0, SUMMARY_SHOWN).toWellFormed()}…`
    : (summary ?? "");

const timeOf = (ms: number | null | undefined): string | null =>
  ms === null || ms === undefined ? null : toRfc3339(ms);

const optionalTextColumn = <Name extends string>(
  name: Name,
  label: string,
  value: (session: SessionView) => string | null,
): Column<SessionView, Name> => ({
  name,
  label,
  isOptional: true,
  cell: (session) => <Text value={value(session)} />,
  csv: value,
});

export const SESSION_COLUMNS: readonly Column<SessionView, ListColumn<"/console/sessions">>[] = [
  {
    name: "title",
    label: "Session",
    isWide: true,
    cell: (session) => (
      <>
        <a href={sessionPath(session.id)}>
          <bdi>{titleOf(session)}</bdi>
        </a>
        {session.summary && (
          <span class="detail">
            {" "}
            <Text value={summaryText(session.summary)} />
          </span>
        )}
      </>
    ),
    csv: ({ title }) => title,
  },
  {
    name: "harness",
    label: "Harness",
    cell: ({ harness }) => harnessLabel(harness),
    csv: ({ harness }) => harness,
  },
  {
    name: "user",
    label: "Owner",
    isWide: true,
    cell: (session) => <Owner session={session} />,
    csv: ({ userEmail }) => userEmail,
  },
  { name: "state", label: "State", cell: (session) => <Storage session={session} /> },
  {
    name: "size_bytes",
    label: "Size",
    isNumber: true,
    cell: ({ artifact }) => <SizeText bytes={artifact?.sizeBytes} />,
    csv: ({ artifact }) => artifact?.sizeBytes,
  },
  {
    name: "updated_at",
    label: "Uploaded",
    sort: "-updated",
    cell: ({ updatedAtMs }) => <Time at={updatedAtMs} />,
    csv: ({ updatedAtMs }) => toRfc3339(updatedAtMs),
  },
  {
    name: "retention_expires_at",
    label: "Kept until",
    cell: (session) => <KeptUntil session={session} />,
    csv: ({ artifact }) => timeOf(artifact?.expiresAtMs),
  },
  {
    name: "shared_with",
    label: "Shared with",
    cell: sharingText,
    csv: ({ sharingMode }) => sharingMode,
  },
  {
    name: "resumable",
    label: "Resumable",
    cell: ({ resumable }) => (resumable ? "Yes" : "No"),
    csv: ({ resumable }) => resumable,
  },
  { ...optionalTextColumn("summary", "Summary", ({ summary }) => summary), isWide: true },
  { ...optionalTextColumn("cwd", "Folder", ({ cwd }) => cwd), isWide: true },
  {
    ...optionalTextColumn("repository", "Repository", ({ repositoryRemote }) => repositoryRemote),
    isWide: true,
  },
  optionalTextColumn("profile", "Profile", ({ profile }) => profile),
  optionalTextColumn("native_session_id", "Native id", ({ nativeSessionId }) => nativeSessionId),
  {
    name: "recipients",
    label: "Recipients",
    isOptional: true,
    isNumber: true,
    cell: ({ recipientCount }) => recipientCount,
    csv: ({ recipientCount }) => recipientCount,
  },
  {
    name: "captured_at",
    label: "Captured",
    isOptional: true,
    cell: ({ capturedAtMs }) => <Time at={capturedAtMs} none="unknown" />,
    csv: ({ capturedAtMs }) => timeOf(capturedAtMs),
  },
  {
    name: "lost_at",
    label: "Lost",
    isOptional: true,
    cell: ({ artifact }) => <Time at={artifact?.lostAtMs} none="–" />,
    csv: ({ artifact }) => timeOf(artifact?.lostAtMs),
  },
  { name: "id", label: "Id", isOptional: true, cell: ({ id }) => <Id value={id} />, csv: ({ id }) => id },
];

function Owner({ session: { userId, userEmail } }: { session: SessionView }) {
  const { visitor } = useReader();
  return userId === visitor.principal.userId ? "You" : <Text value={userEmail} none="a removed user" />;
}

function Storage({ session }: { session: SessionView }) {
  const { tone, label } = storageState(session, useReader().nowMs);
  return <State tone={tone}>{label}</State>;
}

/** The cell is a number already, so an element around the text would only make the page longer. */
function SizeText({ bytes }: { bytes: number | undefined }) {
  const { language } = useReader();
  return bytes === undefined ? <Text value={null} /> : sizeText(bytes, language);
}

/** Only the day: hours do not matter after weeks. */
function KeptUntil({ session: { artifact, heldAtMs } }: { session: SessionView }) {
  const { zone } = useReader();
  if (heldAtMs !== null) return "Hold ends";
  return artifact ? <span class="day">{dayText(artifact.expiresAtMs, zone)}</span> : <Text value={null} />;
}

interface SessionListProps {
  readsAll: boolean;
  /** address of the reader */
  email: string;
  values: Values;
  page: Page<SessionView> | undefined;
  problems?: readonly Problem[] | undefined;
  /** whether the current policy enables capturing */
  isCapturing: boolean;
  /** the days of the address, in the format of the command */
  days: { from: string | undefined; to: string | undefined };
  /** the filters, in the format of the API; undefined if it lacks one of them */
  query: Values | undefined;
}

export function sessionListPage({
  readsAll,
  email,
  values,
  page,
  problems = [],
  isCapturing,
  days: { from, to },
  query,
}: SessionListProps): ConsolePage {
  const isMine = values.whose === MINE;
  const user = isMine ? email : values.user;
  const { q, harness, status } = values;
  const list: List<SessionView> = {
    noun: "sessions",
    filters: filtersFor(readsAll),
    columns: SESSION_COLUMNS,
    rows: page?.items ?? [],
    idOf: ({ id }) => id,
    paging: page ?? { page: 1, perPage: 1, total: 0 },
    none: {
      text: <None isCapturing={isCapturing} readsAll={readsAll} />,
      purpose: isCapturing
        ? "To see which workstations follow the policy, run on the server"
        : "To publish a policy from a file, run on the server",
      // A member cannot change the policy or run commands on the server.
      command: !readsAll
        ? undefined
        : isCapturing
          ? ["policy", "rollout"]
          : ["policy", "apply", "policy.yaml"],
    },
    problems,
    defaultSort: "-updated",
    csvPath: SESSIONS_CSV_PATH,
    // A member's list of shared sessions has no command: commands are for operators, who see all sessions.
    command:
      readsAll || isMine
        ? [
            "sessions",
            "list",
            ...options({ q, user, harness, status, "updated-from": from, "updated-to": to }),
          ]
        : undefined,
    api: query && { method: "GET", path: pathWith("/session-uploads", new URLSearchParams(query)) },
  };
  return {
    title: "Captured sessions",
    status: listStatus(list),
    isError: problems.length > 0,
    content: <ListView list={list} />,
  };
}

const None = ({ isCapturing, readsAll }: { isCapturing: boolean; readsAll: boolean }) => (
  <>
    {isCapturing
      ? "No session is here yet. Workstations upload a session when it ends."
      : "No session is here. Workstations capture sessions only if the policy asks for them, which is off by default."}{" "}
    {!isCapturing && readsAll && (
      <>
        The member <code>session_upload</code> of the <a href="/console/policy">policy</a> turns it on.{" "}
      </>
    )}
    See <a href={SESSIONS_CHAPTER}>Captured sessions in the handbook</a>.
  </>
);
