// One captured session in the console: its page, its download address, and its deletion.
import type { SessionDetail } from "../../../../domain/sessions/service.ts";
import { DomainError } from "../../../../platform/errors.ts";
import { runInTurns } from "../../../../platform/steps.ts";
import type { Console } from "../../../console/console.ts";
import type { Reader } from "../../../console/reader.ts";
import { downloadPage, removalPage } from "../../../console/sessions/action-pages.tsx";
import { sessionPage } from "../../../console/sessions/session-page.tsx";
import { actingViewer, readingViewer } from "../../../console/sessions/viewers.ts";
import { SESSIONS_PATH, sessionPath, titleOf } from "../../../console/sessions/words.ts";
import { FormField, formOf, formOperation, formRoute, pageRoute, seeOther } from "../../../pages/html.ts";
import { asSentence } from "../../../pages/words.ts";
import type { RouteContext } from "../../../router.ts";

const Form = formOf({ csrf: FormField, by: FormField });

const isOwn = ({ session }: SessionDetail, { visitor }: Reader): boolean =>
  session.userId === visitor.principal.userId;

export function sessionPages({ router, domain, clock }: RouteContext, console: Console) {
  const { detail, transcripts, sharing, downloads } = domain.sessions;

  const page = async (reader: Reader, id: string) => {
    const viewer = readingViewer(reader);
    const found = await runInTurns(detail(viewer, id));
    const { session } = found;
    const right = transcripts.right(viewer, session);
    const isSelected = session.sharingMode === "selected";
    const { recipients } = isSelected ? await runInTurns(sharing.show(viewer, id)) : { recipients: [] };
    return sessionPage({
      detail: found,
      right,
      recipients: recipients.map(({ email }) => email),
      mayDownload: right === "owner" || right === "recipient" || reader.mayAdminister,
      mayRemove: isOwn(found, reader) || reader.mayAdminister,
    });
  };

  router
    .get(
      `${SESSIONS_PATH}/:id`,
      ({ request, params }) => console.show(request, "anyone", (reader) => page(reader, params.id)),
      pageRoute("showSessionPage", "One captured session"),
    )
    .post(
      `${SESSIONS_PATH}/:id/download`,
      ({ request, params, body }) => {
        const back = sessionPath(params.id);
        return console.act(request, body, { needs: "anyone", back }, async (reader) => {
          const viewer = actingViewer(reader);
          try {
            const offer = await downloads.offer(reader.actor, viewer, params.id);
            const { session } = await runInTurns(detail(viewer, params.id));
            return downloadPage(session, offer, clock.nowMs());
          } catch (error) {
            if (!(error instanceof DomainError) || !PASSING.has(error.kind)) throw error;
            return { to: back, notice: { kind: "attention", text: asSentence(error.message) } };
          }
        });
      },
      formRoute(Form, formOperation("sendSessionDownload", "Creates a short-lived download address")),
    );
  removalPages({ router, domain }, console);
}

function removalPages({ router, domain }: Pick<RouteContext, "router" | "domain">, console: Console) {
  const { detail, removal } = domain.sessions;

  return router
    .get(
      `${SESSIONS_PATH}/:id/delete`,
      ({ request, params }) =>
        console.show(request, "anyone", async (reader) => {
          const found = await runInTurns(detail(readingViewer(reader), params.id));
          const mayRemove = isOwn(found, reader) || reader.mayAdminister;
          if (!mayRemove || found.session.heldAtMs !== null) return seeOther(sessionPath(found.session.id));
          return removalPage(found);
        }),
      pageRoute("showSessionRemoval", "Asks before a captured session is deleted"),
    )
    .post(
      `${SESSIONS_PATH}/:id/delete`,
      ({ request, params, body }) =>
        console.act(
          request,
          body,
          { needs: "anyone", back: `${sessionPath(params.id)}/delete` },
          async (reader) => {
            const viewer = actingViewer(reader);
            const { session } = await runInTurns(detail(viewer, params.id));
            await removal.remove(reader.actor, viewer, params.id);
            return { to: SESSIONS_PATH, notice: `“${titleOf(session)}” is deleted.` };
          },
        ),
      formRoute(Form, formOperation("sendSessionRemoval", "Deletes a captured session")),
    );
}

/** The page of the session shows a lasting problem; otherwise the next attempt may succeed. */
const PASSING: ReadonlySet<DomainError["kind"]> = new Set(["gone", "unavailable"]);
