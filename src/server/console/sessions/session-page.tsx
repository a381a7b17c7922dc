// The page of one captured session: facts, actions, sharing, and versions. The transcript has its own page, because opening
// it writes an audit entry unless the reader is the owner.
/** @jsxImportSource preact */
import type { ReadingRight, SessionDetail, SessionView } from "../../../domain/sessions/service.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import { AsCommand } from "../parts/command.tsx";
import { ConsoleForm } from "../parts/form.tsx";
import { Count, Facts, Id, Size, State, Text, Time, useReader } from "../parts/values.tsx";
import { userPath } from "../people/words.ts";
import { Versions } from "./versions.tsx";
import {
  actionPath,
  BREADCRUMBS,
  FORMAT_WORDS,
  harnessLabel,
  peopleText,
  storageState,
  titleOf,
} from "./words.ts";

export interface SessionPageProps {
  detail: SessionDetail;
  /** why the reader may open the transcript; undefined if the reader may not */
  right: ReadingRight | undefined;
  /** active people with whom it is shared by name, if the reader may see them */
  recipients: readonly string[];
  /** whether the reader may download the bytes */
  mayDownload: boolean;
  mayRemove: boolean;
}

export const sessionPage = (props: SessionPageProps): ConsolePage => ({
  title: titleOf(props.detail.session),
  breadcrumbs: BREADCRUMBS,
  content: (
    <>
      <Condition {...props} />
      {props.detail.session.summary && (
        <p class="measure">
          <Text value={props.detail.session.summary} />
        </p>
      )}
      <SessionFacts {...props} />
      <Reading {...props} />
      <Sharing {...props} />
      <Versions artifacts={props.detail.artifacts} />
      <AsCommand
        command={["sessions", "show", props.detail.session.id]}
        api={{ method: "GET", path: `/session-uploads/${props.detail.session.id}` }}
      />
    </>
  ),
});

const hasBytes = ({ artifact, heldAtMs }: SessionView, nowMs: number): boolean =>
  artifact !== null && artifact.lostAtMs === null && (heldAtMs !== null || artifact.expiresAtMs > nowMs);

/** The state, and its meaning. */
function Condition({ detail: { session, artifacts } }: SessionPageProps) {
  const { nowMs } = useReader();
  const { tone, label } = storageState(session, nowMs);
  const pending = artifacts.find(({ status }) => status === "pending");
  return (
    <>
      <p>
        <State tone={tone}>{label}</State>
      </p>
      {session.artifact && session.artifact.lostAtMs !== null && (
        <p class="notice attention">
          The stored bytes are missing or damaged, noticed <Time at={session.artifact.lostAtMs} />. The next
          upload of this session restores it.
        </p>
      )}
      {session.heldAtMs !== null && (
        <p>
          An administrator holds this session since <Time at={session.heldAtMs} />: it is neither deleted nor
          removed by retention until the hold ends.
        </p>
      )}
      {!session.artifact && session.goneAtMs !== null && (
        <p class="notice attention">
          Its retention ended <Time at={session.goneAtMs} />, and its bytes were removed. The next upload of
          this session restores it.
        </p>
      )}
      {pending && (
        <p class="notice attention">
          {session.artifact ? "A newer version was" : "It was"} announced <Time at={pending.createdAtMs} />{" "}
          and its upload is not finished. The workstation will try again.
        </p>
      )}
    </>
  );
}

const SessionFacts = ({ detail: { session } }: SessionPageProps) => (
  <Facts
    facts={[
      { label: "Owner", value: <Owner session={session} /> },
      { label: "Harness", value: <Text value={harnessLabel(session.harness)} /> },
      { label: "Size", value: session.artifact ? <Size bytes={session.artifact.sizeBytes} /> : "–" },
      { label: "Uploaded", value: <Time at={session.artifact && session.updatedAtMs} /> },
      {
        label: "Kept until",
        value:
          session.heldAtMs === null ? <Time at={session.artifact?.expiresAtMs} none="–" /> : "The hold ends",
      },
      { label: "Captured", value: <Time at={session.capturedAtMs} none="unknown" /> },
      { label: "Resumable", value: session.resumable ? "Yes" : "No" },
      { label: "Form", value: FORMAT_WORDS[session.artifactFormat] },
      { label: "Profile", value: <Text value={session.profile} /> },
      { label: "Folder", value: <Text value={session.cwd} /> },
      { label: "Repository", value: <Text value={session.repositoryRemote ?? session.repositoryRoot} /> },
      { label: "Native id", value: <Text value={session.nativeSessionId} /> },
      { label: "Id", value: <Id value={session.id} /> },
    ]}
  />
);

function Owner({ session: { userId, userEmail } }: { session: SessionView }) {
  const { visitor, readsAll } = useReader();
  const email = <Text value={userEmail} none="a removed user" />;
  if (userId === visitor.principal.userId) return "You";
  return readsAll && userEmail !== "" ? <a href={userPath(userId)}>{email}</a> : email;
}

/** All actions that concern the bytes. */
function Reading({ detail: { session }, right, mayDownload, mayRemove }: SessionPageProps) {
  const { nowMs } = useReader();
  const isThere = hasBytes(session, nowMs);
  const isHeld = session.heldAtMs !== null;
  return (
    <section>
      <h2>Transcript and bytes</h2>
      {isThere && right === undefined && (
        <p>
          Administrators cannot open transcripts of other people in this installation. To allow it, an
          operator sets <code>sessions.administrators_may_read</code>.
        </p>
      )}
      {isThere && (right === "recipient" || right === "administrator") && (
        <p>
          This is a session of <Text value={session.userEmail} none="a removed user" />. Opening its
          transcript is recorded in the audit log with your name, and so is a download.
        </p>
      )}
      {!isThere && <p>There are no bytes to read or to download.</p>}
      <div class="choices">
        {isThere && right !== undefined && (
          <a class="button primary" href={transcriptAddress(session.id, { right })}>
            Open the transcript
          </a>
        )}
        {isThere && mayDownload && (
          <ConsoleForm action={actionPath(session.id, "download")}>
            <button class="button" type="submit">
              Download
            </button>
          </ConsoleForm>
        )}
        {mayRemove && !isHeld && (
          <a class="button danger" href={actionPath(session.id, "remove")} data-dialog>
            Delete
          </a>
        )}
      </div>
      {mayRemove && isHeld && <p class="hint">It cannot be deleted while an administrator holds it.</p>}
    </section>
  );
}

/** Parameter of the transcript's address for readers other than the owner, who were told that opening it is recorded. */
export const RECORDING_ACCEPTED = { name: "recorded", value: "yes" } as const;

export function transcriptAddress(
  id: string,
  { right, ...place }: { right: ReadingRight | undefined; cursor?: string; version?: string },
): string {
  const query = new URLSearchParams({
    ...place,
    ...(right !== "owner" && { [RECORDING_ACCEPTED.name]: RECORDING_ACCEPTED.value }),
  });
  return `${actionPath(id, "transcript")}${query.size > 0 ? `?${query}` : ""}`;
}

function Sharing({ detail: { session }, right, recipients }: SessionPageProps) {
  const { id, sharingMode, recipientCount } = session;
  const isOwner = right === "owner";
  const isShared = sharingMode !== "private";
  return (
    <section>
      <h2>Shared with</h2>
      {sharingMode === "private" && <p>Nobody: only its owner and administrators can see this session.</p>}
      {sharingMode === "workspace" && (
        <p>
          Everybody in the organization: <Count value={recipientCount} /> other active{" "}
          {recipientCount === 1 ? "user" : "users"}.
        </p>
      )}
      {sharingMode === "selected" && (
        <>
          <p>{peopleText(recipientCount)}, chosen by name.</p>
          {recipients.length > 0 && (
            <ul class="chips" aria-label="People">
              {recipients.map((email) => (
                <li key={email} class="chip">
                  <Text value={email} />
                </li>
              ))}
            </ul>
          )}
        </>
      )}
      {isOwner && (
        <div class="choices">
          <a class="button" href={actionPath(id, "share")}>
            {isShared ? "Change" : "Share"}
          </a>
          {isShared && (
            <ConsoleForm action={actionPath(id, "share")}>
              <input type="hidden" name="mode" value="private" />
              <button class="button" type="submit">
                Stop sharing
              </button>
            </ConsoleForm>
          )}
        </div>
      )}
      {isShared && right === "administrator" && (
        <AsCommand command={["sessions", "revoke", id]} label="End the sharing as a command" />
      )}
    </section>
  );
}
