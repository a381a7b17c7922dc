// The entries of a captured session's transcript.
import { Type } from "@sinclair/typebox";
import type { ReadTranscript, TranscriptEntry } from "../../../domain/sessions/service.ts";
import { PAGE_ENTRIES_MAX } from "../../../domain/sessions/transcript/limits.ts";
import { cursorOf, ENTRY_KINDS } from "../../../domain/sessions/transcript/model.ts";
import { toRfc3339 } from "../../../platform/clock.ts";
import { viewerOf } from "../../auth/viewer.ts";
import { actorOf } from "../../http/exchange.ts";
import { parameter, Uuid } from "../../http/paging.ts";
import { json } from "../../http/responses.ts";
import { operationsOf } from "../../openapi.ts";
import type { RouteContext } from "../../router.ts";
import { nullable, SessionPath } from "./schemas.ts";

const Transcript = Type.Object({
  artifact_id: Uuid,
  entries: Type.Array(
    Type.Object({
      kind: Type.Unsafe<string>({ type: "string", enum: ENTRY_KINDS }),
      name: nullable({ description: "Tool of a call" }),
      text: Type.String({ description: "Plain text; nothing in it is markup" }),
      is_cut: Type.Boolean({ description: "Whether the text is cut" }),
      at: nullable({ format: "date-time" }),
      tokens: Type.Union([
        Type.Object({ input: Type.Integer({ minimum: 0 }), output: Type.Integer({ minimum: 0 }) }),
        Type.Null(),
      ]),
      is_error: Type.Boolean({ description: "Whether a result reports a failed call" }),
    }),
  ),
  entries_before: Type.Integer({ minimum: 0, description: "Entries on earlier pages" }),
  is_cut: Type.Boolean({ description: "Whether only the download has further entries" }),
  next_cursor: nullable({ description: "Of the next page; null at the end" }),
});

const TranscriptParameters = Type.Object(
  { cursor: parameter({ type: "string", description: "`next_cursor` of an earlier page" }) },
  { additionalProperties: false },
);

const described = operationsOf("Sessions")(
  "getSessionTranscript",
  `The transcript of a session, up to ${PAGE_ENTRIES_MAX} entries at a time`,
  {
    200: {
      description: "One page; reading by anyone except the owner adds an audit entry",
      schema: Transcript,
    },
    410: { description: "The retention has ended, or the bytes are lost" },
    422: { description: "The bytes have an unknown format; download them" },
    503: { description: "The store does not answer, or too many sessions are being read" },
  },
);

export const sessionTranscriptRoutes = ({ router, domain }: RouteContext) =>
  router.get(
    "/session-uploads/:id/transcript",
    async ({ request, params, query }) => {
      const wanted = { id: params.id, cursor: query.cursor };
      return json(
        toWire(await domain.sessions.transcripts.read(actorOf(request), viewerOf(request), wanted)),
      );
    },
    { requires: "anyone", params: SessionPath, query: TranscriptParameters, detail: described },
  );

const toWire = ({ artifactId, entries, before, isCut, next }: ReadTranscript) => ({
  artifact_id: artifactId,
  entries: entries.map(toWireEntry),
  entries_before: before,
  is_cut: isCut,
  next_cursor: next && cursorOf(next),
});

const toWireEntry = ({ kind, name, text, isCut, atMs, tokens, isError }: TranscriptEntry) => ({
  kind,
  name,
  text,
  is_cut: isCut,
  at: atMs === null ? null : toRfc3339(atMs),
  tokens,
  is_error: isError,
});
