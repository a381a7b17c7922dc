// Reads request bodies, bounded and after the guard: the caller of a route is known before the first byte is looked at.
import { parse as parseFields } from "node:querystring";
import { type DocumentDecoration, Elysia } from "elysia";
import { readScimBody, type ScimBody } from "../../scim/body.ts";
import { HttpError } from "../problems/problem.ts";
import { contentTypeOf, readText, refuseEncoded } from "./body-text.ts";
import { JSON_LIMITS, type JsonProblem, parseWithin } from "./json-text.ts";
import { type Schemas, takeBodyCheck } from "./validation.ts";

/** Bytes of a JSON or form body at most. */
export const BODY_BYTES_MAX = 2 * 1024 * 1024;
/** The same where no credential is asked for: the cost of reading is bounded by what strangers may send. */
export const UNAUTHENTICATED_BODY_BYTES_MAX = 64 * 1024;
/** Fields of a form at most. */
export const FORM_FIELDS_MAX = 100;

/** What a route takes as its body; `json-or-nothing` reads an empty one as an empty object. */
export type Accepted = "json" | "json-or-nothing" | "form" | "nothing" | ScimBody;

const MEDIA_TYPES = { json: "application/json", form: "application/x-www-form-urlencoded" } as const;

/**
 * Macro `accepts`: named on every route that changes something, after `requires`.
 * The body is read in `transform`, behind the guard's: what `parse` reads would be read for strangers, too.
 */
export const bodies = new Elysia({ name: "bodies" }).macro({
  accepts: (accepted: Accepted) => {
    const reader: Reader = { accepted, bytesMax: BODY_BYTES_MAX, check: () => {} };
    return {
      detail: describeBody(accepted),
      introspect(route: IntrospectedRoute) {
        reader.check = takeBodyCheck(route);
        reader.bytesMax = bodyBytesMax(route.detail?.["x-requires"]);
      },
      parse: () => ({}), // keeps the framework's own parsers off the body
      transform: fillBody.bind(undefined, reader),
    };
  },
});

/** @param requires who may call the route @returns bytes of its JSON or form body at most */
export const bodyBytesMax = (requires: string | undefined): number =>
  requires === "nobody" ? UNAUTHENTICATED_BODY_BYTES_MAX : BODY_BYTES_MAX;

interface IntrospectedRoute extends Schemas {
  detail?: { "x-requires"?: string };
}

interface Reader {
  readonly accepted: Accepted;
  bytesMax: number;
  /** throws the refusal of a body that does not fit the schema */
  check(body: unknown): void;
}

interface Bodied {
  request: Request;
  body: unknown;
}

/**
 * Bound, so that it has no text: the framework reads what a hook is written like, and takes this one, which it sees
 * handing its context on, for one that wants cookies, query and all else made ready.
 */
async function fillBody(reader: Reader, context: Bodied): Promise<void> {
  context.body = await readBody(context.request, reader);
  reader.check(context.body);
}

/** What the OpenAPI document says about the body. */
const describeBody = (accepted: Accepted): DocumentDecoration & { "x-accepts": Accepted } => ({
  "x-accepts": accepted,
});

async function readBody(request: Request, { accepted, bytesMax }: Reader): Promise<unknown> {
  if (accepted === "nothing") return undefined;
  if (accepted === "scim" || accepted === "scim-group") return await readScimBody(request, accepted);
  if (accepted === "json-or-nothing") return await readJsonOrNothing(request, bytesMax);
  refuseOtherMediaTypes(request, MEDIA_TYPES[accepted]);
  const text = await readText(request, bytesMax);
  return accepted === "json" ? await parseJson(text) : parseForm(text);
}

/** What has no content needs no type, so that is looked at last. */
async function readJsonOrNothing(request: Request, bytesMax: number): Promise<unknown> {
  const text = await readText(request, bytesMax);
  if (text === "") return {};
  refuseOtherMediaTypes(request, MEDIA_TYPES.json);
  return await parseJson(text);
}

/** @throws HttpError 415 for another media type, another character set or a compressed body */
function refuseOtherMediaTypes(request: Request, wanted: string): void {
  if (request.headers.get("content-type") !== wanted && !isWritten(request, wanted)) {
    throw new HttpError(415, "request.media_type", `send the body as ${wanted} in UTF-8`, {
      headers: { accept: wanted },
    });
  }
  refuseEncoded(request);
}

/** @returns whether the media type is written in another way than nearly everybody writes it */
function isWritten(request: Request, wanted: string): boolean {
  const { mediaType, isUtf8 } = contentTypeOf(request);
  const isJson = wanted === MEDIA_TYPES.json && /^application\/[\w.-]+\+json$/.test(mediaType);
  return isUtf8 && (mediaType === wanted || isJson);
}

const parseJson = (text: string): Promise<unknown> => parseWithin(text, JSON_LIMITS, malformed);

function malformed({ message, pointer }: JsonProblem): HttpError {
  const problems = pointer === undefined ? [] : [{ pointer, detail: message }];
  return new HttpError(400, "request.malformed", message, { problems });
}

/** Characters of a form up to which `parseFields` is three times as fast as URLSearchParams, whatever is in it. */
const SMALL_FORM_CHARACTERS = 16_384;
/** One more than may be there. */
const FORM_LIMITS = { maxKeys: FORM_FIELDS_MAX + 1 };

/** The parameters that may be given more than once (RFC 8707 section 2). */
const REPEATABLE: ReadonlySet<string> = new Set(["resource"]);

/** RFC 6749 section 3.1: a parameter must not be given twice; one without a value counts as left out. */
function parseForm(text: string): Record<string, string | string[]> {
  const given =
    text.length > SMALL_FORM_CHARACTERS ? parseLargeForm(text) : parseFields(text, "&", "=", FORM_LIMITS);
  const fields: Record<string, string | string[]> = {};
  let count = 0;
  for (const name in given) {
    const value = given[name];
    if (typeof value === "object" && !REPEATABLE.has(name))
      throw new HttpError(400, "request.malformed", `the field ${name.slice(0, 100)} is there twice`);
    count += 1;
    if (value) fields[name] = value;
  }
  if (count > FORM_FIELDS_MAX) throw tooManyFields();
  return fields;
}

/** 2 MiB of plus signs take `parseFields` 180 ms and 77 MB, and the runtime's own reader 4 ms. */
function parseLargeForm(text: string): Record<string, string | string[]> {
  let separators = 0;
  for (let at = text.indexOf("&"); at >= 0; at = text.indexOf("&", at + 1)) {
    separators += 1;
    if (separators >= FORM_FIELDS_MAX) throw tooManyFields();
  }
  const given: Record<string, string | string[]> = Object.create(null);
  for (const [name, value] of new URLSearchParams(text)) {
    const former = given[name];
    given[name] = former === undefined ? value : [former, value].flat();
  }
  return given;
}

const tooManyFields = () =>
  new HttpError(400, "request.malformed", `more than ${FORM_FIELDS_MAX} form fields`);
