// Reads request bodies, bounded and after the guard: the caller of a route is known before the first byte is looked at.
import { type DocumentDecoration, Elysia } from "elysia";
import { HttpError } from "./problem.ts";

/** Bytes of a JSON or form body at most. */
export const BODY_BYTES_MAX = 2 * 1024 * 1024;
/** Fields of a form at most. */
export const FORM_FIELDS_MAX = 100;

/** What a route takes as its body. */
export type Accepted = "json" | "form" | "nothing";

const MEDIA_TYPES = { json: "application/json", form: "application/x-www-form-urlencoded" } as const;

/**
 * Macro `accepts`: named on every route that changes something, after `requires`.
 * The body is read in `transform`, behind the guard's: what `parse` reads would be read for strangers, too.
 */
export const bodies = new Elysia({ name: "bodies" }).macro({
  accepts: (accepted: Accepted) => ({
    detail: describeBody(accepted),
    parse: () => ({}), // keeps the framework's own parsers off the body
    transform: fillBody.bind(undefined, accepted),
  }),
});

interface Bodied {
  request: Request;
  body: unknown;
}

/**
 * Bound, so that it has no text: the framework reads what a hook is written like, and takes this one, which it sees
 * handing its context on, for one that wants cookies, query and all else made ready.
 */
async function fillBody(accepted: Accepted, context: Bodied): Promise<void> {
  context.body = accepted === "nothing" ? undefined : await readBody(context.request, accepted);
}

/** What the OpenAPI document says about the body. */
const describeBody = (accepted: Accepted): DocumentDecoration & { "x-accepts": Accepted } => ({
  "x-accepts": accepted,
});

async function readBody(request: Request, accepted: keyof typeof MEDIA_TYPES): Promise<unknown> {
  refuseOtherMediaTypes(request, MEDIA_TYPES[accepted]);
  const text = decode(await readBounded(request));
  return accepted === "json" ? parseJson(text) : parseForm(text);
}

/** @throws HttpError 415 for another media type, another character set or a compressed body */
function refuseOtherMediaTypes(request: Request, wanted: string): void {
  const [type = "", ...parameters] = (request.headers.get("content-type") ?? "").toLowerCase().split(";");
  const mediaType = type.trim();
  const isJson = wanted === MEDIA_TYPES.json && /^application\/[\w.-]+\+json$/.test(mediaType);
  const charset = parameters
    .map((parameter) => parameter.trim())
    .find((parameter) => parameter.startsWith("charset="));
  if ((mediaType !== wanted && !isJson) || (charset && !/^charset="?utf-?8"?$/.test(charset))) {
    throw new HttpError(415, "request.media_type", `send the body as ${wanted} in UTF-8`, {
      headers: { accept: wanted },
    });
  }
  const encoding = request.headers.get("content-encoding");
  if (encoding && encoding.toLowerCase() !== "identity") {
    throw new HttpError(415, "request.content_encoding", "send the body without a content encoding", {
      headers: { "accept-encoding": "identity" },
    });
  }
}

/** A stream costs more than all else of a small request: it is for bodies that do not say how long they are. */
async function readBounded(request: Request): Promise<Uint8Array> {
  const declared = Number(request.headers.get("content-length") ?? Number.NaN);
  if (declared > BODY_BYTES_MAX) throw tooLarge();
  if (declared >= 0) return await request.bytes();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request.body ?? []) {
    length += chunk.length;
    if (length > BODY_BYTES_MAX) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const tooLarge = () =>
  new HttpError(413, "request.too_large", `the body has more than ${BODY_BYTES_MAX} bytes`);

const utf8 = new TextDecoder("utf-8", { fatal: true });

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new HttpError(400, "request.malformed", "the body is not UTF-8");
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const why = error instanceof Error ? `: ${error.message.replace(/^JSON Parse error: /, "")}` : "";
    throw new HttpError(400, "request.malformed", `the body is not valid JSON${why}`);
  }
}

/** RFC 6749 section 3.1: a parameter must not be given twice; one without a value counts as left out. */
function parseForm(text: string): Record<string, string> {
  const fields: Record<string, string> = Object.create(null);
  let count = 0;
  for (const [name, value] of new URLSearchParams(text)) {
    count += 1;
    if (count > FORM_FIELDS_MAX)
      throw new HttpError(400, "request.malformed", `more than ${FORM_FIELDS_MAX} form fields`);
    if (name in fields)
      throw new HttpError(400, "request.malformed", `the field ${name.slice(0, 100)} is there twice`);
    if (value !== "") fields[name] = value;
  }
  return { ...fields };
}
