// The successful answers of the protocol: resources with their headers, lists, and nothing at all (scim.md SCIM-35,
// SCIM-43, SCIM-81, SCIM-95). The texts come from the area.

import type { DiscoveryAnswer } from "../../domain/scim/discovery.ts";
import { etagOf } from "../../domain/scim/messages.ts";
import type { ScimAnswer } from "../../domain/scim/model.ts";
import { noContent } from "../answers.ts";
import { namesTag } from "../conditional.ts";
import { exchangeOf } from "../exchange.ts";
import { answerMediaType } from "./media-type.ts";

/** Kept by nobody: it belongs to one moment. */
const UNKEPT = "no-store";
/** Kept, but asked about each time. */
const ASKED_ABOUT = "private, no-cache";

/** @returns 200 with JSON text */
export const scimJson = (request: Request, text: string): Response =>
  new Response(text, { headers: { "content-type": answerMediaType(request), "cache-control": UNKEPT } });

/** @returns the answer to a read: the resource, or 304 where the caller has this version */
export function shown(request: Request, answer: ScimAnswer): Response | Promise<Response> {
  const { json } = answer;
  if (json === undefined) {
    return new Response(null, {
      status: 304,
      headers: { etag: etagOf(answer.version), "cache-control": ASKED_ABOUT },
    });
  }
  const head = headOf(request, answer, ASKED_ABOUT);
  return typeof json === "string" ? new Response(json, head) : streamed(json, head);
}

/** @returns the answer to a change: 201 or 200 with the resource, or 204 where nobody asked for it */
export async function changed(
  request: Request,
  answer: ScimAnswer,
  status: 200 | 201 = 200,
): Promise<Response> {
  const { json, id } = answer;
  const { scim } = exchangeOf(request);
  if (scim) scim.resourceId = id;
  if (json === undefined) {
    const response = noContent();
    response.headers.set("etag", etagOf(answer.version));
    return response;
  }
  const head = { ...headOf(request, answer, UNKEPT), status };
  return typeof json === "string" ? new Response(json, head) : await streamed(json, head);
}

/** @returns a discovery document, or 304 where the caller has it */
export function document(request: Request, { json, etag, location }: DiscoveryAnswer): Response {
  const shared = { etag, "cache-control": ASKED_ABOUT };
  const known = request.headers.get("if-none-match");
  if (known !== null && namesTag(known, etag)) return new Response(null, { status: 304, headers: shared });
  return new Response(json, {
    headers: { ...shared, location, "content-type": answerMediaType(request) },
  });
}

const headOf = (request: Request, { location, version }: ScimAnswer, cacheControl: string) => ({
  headers: {
    "content-type": answerMediaType(request),
    "cache-control": cacheControl,
    location,
    etag: etagOf(version),
  },
});

const encoder = new TextEncoder();

/** The first piece is made before the head is sent, so that a refusal of a large answer still has its status. */
async function streamed(pieces: AsyncIterable<string>, head: ResponseInit): Promise<Response> {
  const iterator = pieces[Symbol.asyncIterator]();
  let next = await iterator.next();
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (next.done) return controller.close();
      controller.enqueue(encoder.encode(next.value));
      next = await iterator.next();
    },
    async cancel() {
      await iterator.return?.();
    },
  });
  return new Response(stream, head);
}
