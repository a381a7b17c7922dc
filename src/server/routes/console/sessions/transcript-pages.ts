// The transcript of a captured session in the console. Readers other than the owner first see a page that says that opening it is
// recorded.
import type { ReadTranscript, SessionView } from "../../../../domain/sessions/service.ts";
import { DomainError } from "../../../../platform/errors.ts";
import { runInTurns } from "../../../../platform/steps.ts";
import type { Console } from "../../../console/console.ts";
import { valuesOf } from "../../../console/list/address.ts";
import type { Reader } from "../../../console/reader.ts";
import { RECORDING_ACCEPTED } from "../../../console/sessions/session-page.tsx";
import { type NoTranscript, transcriptPage } from "../../../console/sessions/transcript-page.tsx";
import { readingViewer } from "../../../console/sessions/viewers.ts";
import { SESSIONS_PATH, sessionPath } from "../../../console/sessions/words.ts";
import { formFailure, pageRoute, seeOther } from "../../../pages/html.ts";
import { asSentence } from "../../../pages/words.ts";
import type { RouteContext } from "../../../router.ts";

export function transcriptPages({ router, domain }: RouteContext, console: Console) {
  const { detail, transcripts } = domain.sessions;

  const read = async (
    reader: Reader,
    { id }: SessionView,
    cursor: string | undefined,
  ): Promise<ReadTranscript | NoTranscript> => {
    try {
      return await transcripts.read(reader.actor, readingViewer(reader), { id, cursor });
    } catch (error) {
      if (error instanceof DomainError && error.kind !== "forbidden") return refusalOf(error, reader);
      throw error;
    }
  };

  const page = async (reader: Reader, id: string) => {
    const viewer = readingViewer(reader);
    const { session } = await runInTurns(detail(viewer, id));
    const right = transcripts.right(viewer, session);
    const { cursor, version, [RECORDING_ACCEPTED.name]: told } = valuesOf(reader.url);
    if (right !== "owner" && told !== RECORDING_ACCEPTED.value) return seeOther(sessionPath(session.id));
    const found = await read(reader, session, cursor);
    const isOtherVersion = version !== undefined && "artifactId" in found && found.artifactId !== version;
    return transcriptPage({ session, right, cursor, read: found, isOtherVersion });
  };

  return router.get(
    `${SESSIONS_PATH}/:id/transcript`,
    ({ request, params }) => console.show(request, "anyone", (reader) => page(reader, params.id)),
    pageRoute("showSessionTranscript", "Transcript of a captured session"),
  );
}

/** An unknown format is not an error: the session can be downloaded. */
function refusalOf(error: DomainError, { request }: Reader): NoTranscript {
  const { kind, message, hint } = error;
  const isPassing = kind === "unavailable";
  const status = kind === "unverified" ? 200 : isPassing ? 503 : formFailure(error, request).status;
  return { status, why: asSentence(message), next: hint && asSentence(hint), isPassing };
}
