// Successful SCIM responses: media type, resources with headers, lists, and empty responses. src/domain/scim produces the bodies.
import type { DiscoveryResponse } from "../../domain/scim/discovery/discovery.ts";
import { etagOf } from "../../domain/scim/messages/messages.ts";
import type { ScimResponse } from "../../domain/scim/model.ts";
import { namesTag } from "../http/conditional.ts";
import { exchangeOf } from "../http/exchange.ts";
import { noContent, preparedHeaders } from "../http/responses.ts";

// Media types of SCIM: its own, and plain JSON for callers that accept only that (RFC 7644 section 3.1).

export const SCIM_MEDIA_TYPE = "application/scim+json";
export const JSON_MEDIA_TYPE = "application/json";

/** Accept ranges that match the SCIM media type. */
const FITTING = new Set([SCIM_MEDIA_TYPE, "application/*", "*/*"]);

/** @returns the media type of the response; an Accept header never causes a refusal */
export function responseMediaType(request: Request): string {
  const accept = request.headers.get("accept");
  if (accept === null || accept === "*/*" || accept === SCIM_MEDIA_TYPE) return SCIM_MEDIA_TYPE;
  const ranges = accept.split(",").map((range) => range.split(";", 1)[0]?.trim().toLowerCase() ?? "");
  const wantsJson = ranges.includes(JSON_MEDIA_TYPE) && !ranges.some((range) => FITTING.has(range));
  return wantsJson ? JSON_MEDIA_TYPE : SCIM_MEDIA_TYPE;
}

/** not cacheable, because the response is outdated immediately */
const NO_STORE = "no-store";
/** cacheable, but revalidated each time */
const NO_CACHE = "private, no-cache";

/** Prepared once per media type: setting the headers one by one costs as much as authentication. */
const headersFor = (cacheControl: string) => {
  const headersOf = (type: string) =>
    preparedHeaders({ "content-type": type, "cache-control": cacheControl });
  const [scim, plain] = [headersOf(SCIM_MEDIA_TYPE), headersOf(JSON_MEDIA_TYPE)];
  return (request: Request): Headers => (responseMediaType(request) === SCIM_MEDIA_TYPE ? scim : plain);
};
const noStoreHeaders = headersFor(NO_STORE);
const noCacheHeaders = headersFor(NO_CACHE);

/** @returns 200 with JSON text */
export async function scimJson(request: Request, json: string | AsyncIterable<string>): Promise<Response> {
  const body = typeof json === "string" ? json : await streamed(json);
  return new Response(body, { headers: noStoreHeaders(request) });
}

/** @returns the response to a read: the resource, or 304 if the caller has this version */
export async function shown(request: Request, answer: ScimResponse): Promise<Response> {
  const { json } = answer;
  if (json === undefined) return unchanged(etagOf(answer.version));
  const body = typeof json === "string" ? json : await streamed(json);
  return located(new Response(body, { headers: noCacheHeaders(request) }), answer);
}

/** @returns the response to a change: 201 or 200 with the resource, or 204 if the caller requested none */
export async function changed(
  request: Request,
  answer: ScimResponse,
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
  const body = typeof json === "string" ? json : await streamed(json);
  return located(new Response(body, { headers: noStoreHeaders(request), status }), answer);
}

/** @returns a discovery document, or 304 if the caller has this version */
export function document(request: Request, { json, etag, location }: DiscoveryResponse): Response {
  const known = request.headers.get("if-none-match");
  if (known !== null && namesTag(known, etag)) return unchanged(etag);
  return tagged(new Response(json, { headers: noCacheHeaders(request) }), { location, etag });
}

const unchanged = (etag: string): Response =>
  new Response(null, { status: 304, headers: { etag, "cache-control": NO_CACHE } });

const located = (response: Response, { location, version }: ScimResponse): Response =>
  tagged(response, { location, etag: etagOf(version) });

function tagged(response: Response, { location, etag }: { location: string; etag: string }): Response {
  response.headers.set("location", location);
  response.headers.set("etag", etag);
  return response;
}

/** Produces the first chunk before the status line is sent, so that refusing a large response still has its own status. */
async function streamed(pieces: AsyncIterable<string>): Promise<ReadableStream<string>> {
  const iterator = pieces[Symbol.asyncIterator]();
  let next = await iterator.next();
  return new ReadableStream<string>({
    async pull(controller) {
      if (next.done) return controller.close();
      controller.enqueue(next.value);
      next = await iterator.next();
    },
    async cancel() {
      await iterator.return?.();
    },
  });
}
