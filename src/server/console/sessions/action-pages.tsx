// The page with the download address of a session, and the question before a session is deleted.
/** @jsxImportSource preact */
import type { DownloadOffer } from "../../../domain/sessions/downloads/downloads.ts";
import type { SessionDetail, SessionView } from "../../../domain/sessions/service.ts";
import { SECOND_MS } from "../../../platform/clock.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import { AsCommand } from "../parts/command.tsx";
import { confirmationPage } from "../parts/form.tsx";
import { Size, Text, Time } from "../parts/values.tsx";
import { actionPath, BREADCRUMBS, sessionPath, titleOf } from "./words.ts";

/** @returns the page with the download address, which works without a credential and expires soon */
export const downloadPage = (
  session: SessionView,
  { url, expiresInSeconds }: DownloadOffer,
  nowMs: number,
): ConsolePage => ({
  title: "Download the session",
  breadcrumbs: [...BREADCRUMBS, { href: sessionPath(session.id), label: titleOf(session) }],
  content: (
    <>
      <p>
        The address works until <Time at={nowMs + expiresInSeconds * SECOND_MS} /> for anyone who has it. The
        download was recorded in the audit log.
      </p>
      <p>
        <a class="button primary" href={url} rel="noreferrer" data-plain>
          Download {session.artifact && <Size bytes={session.artifact.sizeBytes} />}
        </a>
      </p>
      <p>
        <a href={sessionPath(session.id)}>Back to the session</a>
      </p>
      <AsCommand
        command={["sessions", "export", session.id, "session.tgz"]}
        api={{ method: "POST", path: `/session-uploads/${session.id}/download` }}
      />
    </>
  ),
});

/** Asks before a session is deleted. */
export const removalPage = ({ session, artifacts }: SessionDetail): ConsolePage =>
  confirmationPage({
    title: "Delete this session?",
    consequences: [
      <>
        “<bdi>{titleOf(session)}</bdi>” of <Text value={session.userEmail} none="a removed user" /> is deleted
        for everybody, with {artifacts.length > 1 ? `the bytes of ${artifacts.length} versions` : "its bytes"}
        . This cannot be undone.
      </>,
      "The copy on the workstation's disk stays. If the session continues there, its next upload restores it here.",
    ],
    action: actionPath(session.id, "remove"),
    verb: "Delete",
    back: sessionPath(session.id),
    breadcrumbs: [...BREADCRUMBS, { href: sessionPath(session.id), label: titleOf(session) }],
    command: ["sessions", "remove", session.id],
    api: { method: "DELETE", path: `/session-uploads/${session.id}` },
  });
