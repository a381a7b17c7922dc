// One page of the transcript of a captured session.
/** @jsxImportSource preact */
import type { ReadingRight, ReadTranscript, SessionView } from "../../../domain/sessions/service.ts";
import { cursorOf } from "../../../domain/sessions/transcript/model.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import { AsCommand } from "../parts/command.tsx";
import { Count, Text } from "../parts/values.tsx";
import { transcriptAddress } from "./session-page.tsx";
import { Entries } from "./transcript-entries.tsx";
import { BREADCRUMBS, sessionPath, titleOf } from "./words.ts";

/** Why no page can be shown. */
export interface NoTranscript {
  status: number;
  /** sentences for the reader: the problem, and the next step */
  why: string;
  next: string | undefined;
  /** whether reloading may help */
  isPassing: boolean;
}

export interface TranscriptPageProps {
  session: SessionView;
  right: ReadingRight | undefined;
  /** of the reader's address */
  cursor: string | undefined;
  read: ReadTranscript | NoTranscript;
  /** whether the previous page belonged to another version */
  isOtherVersion: boolean;
}

export function transcriptPage(props: TranscriptPageProps): ConsolePage {
  const { session, read, cursor } = props;
  const isRefused = "why" in read;
  const path = `/session-uploads/${session.id}/transcript`;
  return {
    title: "Transcript",
    breadcrumbs: [...BREADCRUMBS, { href: sessionPath(session.id), label: titleOf(session) }],
    status: isRefused ? read.status : 200,
    isError: isRefused && read.status >= 400,
    content: (
      <>
        {props.right !== "owner" && (
          <p class="muted">
            A session of <Text value={session.userEmail} none="a removed user" />. The audit log records that
            you opened this page.
          </p>
        )}
        {isRefused ? <Refusal {...props} refusal={read} /> : <Reading {...props} read={read} />}
        <AsCommand
          api={{
            method: "GET",
            path: cursor === undefined ? path : `${path}?${new URLSearchParams({ cursor })}`,
          }}
        />
      </>
    ),
  };
}

function Refusal({
  session,
  right,
  refusal: { why, next, isPassing },
}: TranscriptPageProps & { refusal: NoTranscript }) {
  return (
    <div class="empty">
      <p>{why}</p>
      {next !== undefined && <p>{next}</p>}
      <p class="choices">
        {isPassing && <a href={transcriptAddress(session.id, { right })}>Try again</a>}
        <a href={sessionPath(session.id)}>Go to the session</a>
      </p>
    </div>
  );
}

function Reading(props: TranscriptPageProps & { read: ReadTranscript }) {
  const { read, isOtherVersion } = props;
  const { entries, before, isCut, next } = read;
  return (
    <>
      {isOtherVersion && (
        <p class="notice attention">
          A newer version of the session was uploaded since the page before this one. Its entries may not
          continue where that page ended.
        </p>
      )}
      {entries.length === 0 ? (
        <div class="empty">
          <p>{before === 0 ? "The transcript is empty." : "There are no more entries."}</p>
        </div>
      ) : (
        <>
          <p class="total">
            Entries <Count value={before + 1} /> to <Count value={before + entries.length} />
            {next === null && !isCut && ", the last ones"}
          </p>
          <Entries entries={entries} />
        </>
      )}
      {isCut && next === null && (
        <p class="notice attention">
          The transcript is too long to be shown completely. The download has all of it.
        </p>
      )}
      <Pages {...props} />
    </>
  );
}

function Pages({ session, right, read }: TranscriptPageProps & { read: ReadTranscript }) {
  const { before, next, artifactId } = read;
  if (before === 0 && next === null) return null;
  return (
    <nav class="pages" aria-label="Pages">
      {before > 0 && <a href={transcriptAddress(session.id, { right })}>First</a>}
      {next && (
        <a
          href={transcriptAddress(session.id, { right, cursor: cursorOf(next), version: artifactId })}
          rel="next"
        >
          Next
        </a>
      )}
    </nav>
  );
}
