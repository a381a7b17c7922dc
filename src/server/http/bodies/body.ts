// Reads request bodies within limits, after the guard: no byte is read before the caller is authenticated.

import { parse as parseFields } from "node:querystring";
import { KindGuard } from "@sinclair/typebox";
import { type DocumentDecoration, Elysia } from "elysia";
import { changedNumbersIn } from "../../../platform/json/numbers.ts";
import { type JsonLimits, pointerAt } from "../../../platform/json/structure.ts";
import { readScimBody, type ScimBody } from "../../scim/body.ts";
import { exchangeOf } from "../exchange.ts";
import { HttpError, PROBLEM_BYTES_MAX } from "../problems/problem.ts";
import {
  contentTypeOf,
  JSON_LIMITS,
  type JsonProblem,
  parseWithin,
  readText,
  refuseEncoded,
} from "./body-text.ts";
import { type Schemas, takeBodyCheck } from "./validation.ts";

/** Size limit of a JSON or form body, in bytes. */
export const BODY_BYTES_MAX = 2 * 1024 * 1024;
/** Size limit where no credential is required, which bounds the cost of unauthenticated requests. */
export const UNAUTHENTICATED_BODY_BYTES_MAX = 64 * 1024;
/** Maximum number of form fields. */
export const FORM_FIELDS_MAX = 100;

/**
 * The body that a route accepts; `json-or-nothing` reads an empty body as an empty object. The handler of a route with `bytes`,
 * with `upload`, a form with a file, or with `scim-group` reads the body itself.
 */
export type Accepted = "json" | "json-or-nothing" | "form" | "upload" | "bytes" | "nothing" | ScimBody;

const MEDIA_TYPES = { json: "application/json", form: "application/x-www-form-urlencoded" } as const;

/** No page for a shorter form reaches PROBLEM_BYTES_MAX. Few forms are longer. */
export const ENTERED_CHARACTERS_MAX = 1_024;

interface Answered {
  request: Request;
  body: unknown;
  responseValue: unknown;
}

/** @returns the response @throws HttpError instead of a refusal page with more than PROBLEM_BYTES_MAX */
async function refuseLongPage({ request, body, responseValue: response }: Answered): Promise<unknown> {
  if (!(response instanceof Response) || response.status < 400) return response;
  if (charactersIn(body) <= ENTERED_CHARACTERS_MAX) return response;
  const bytes = await response.bytes();
  if (bytes.length <= PROBLEM_BYTES_MAX) return new Response(bytes, response);
  const reason = exchangeOf(request).refusal?.reason ?? "request.form_too_long";
  const message =
    "the form was refused, and your input is too long to be shown again; go back one page, where your browser still has it";
  throw new HttpError(response.status, reason, message);
}

/** @param body fields of a form */
const charactersIn = (body: unknown): number =>
  Object.values(Object(body)).reduce<number>((sum, value) => sum + String(value).length, 0);

/** @param schema of an object @returns the maximum length of each list that has one, by name of the member */
function listsIn(schema: unknown): ReadonlyMap<string, number> {
  const members = KindGuard.IsObject(schema) ? Object.entries(schema.properties) : [];
  const maxima = members.map(([name, member]) => [name, elementsMaxOf(member)] as const);
  return new Map(maxima.filter(([, elementsMax]) => Number.isFinite(elementsMax)));
}

/** @returns the largest number of elements that the schema allows in a list; Infinity without a maximum, or without a list */
function elementsMaxOf(schema: unknown): number {
  if (KindGuard.IsArray(schema)) return schema.maxItems ?? Infinity;
  if (!KindGuard.IsUnion(schema)) return Infinity;
  const lists = schema.anyOf.filter(KindGuard.IsArray);
  return lists.length > 0 ? Math.max(...lists.map(elementsMaxOf)) : Infinity;
}

/**
 * Macro `accepts`: every route that changes something declares it after `requires`. The body is read in a `transform` hook
 * that runs after the guard's; a `parse` hook would run before the guard.
 */
export const bodies = new Elysia({ name: "bodies" }).macro({
  accepts: (accepted: Accepted) => {
    const reader: Reader = {
      accepted,
      bytesMax: BODY_BYTES_MAX,
      limits: JSON_LIMITS,
      check: () => {},
      keepsNumbers: false,
    };
    return {
      detail: describeBody(accepted),
      introspect(route: IntrospectedRoute) {
        reader.limits = { ...JSON_LIMITS, listsMax: listsIn(route.body) };
        reader.check = takeBodyCheck(route);
        reader.bytesMax = bodyBytesMax(route.detail?.["x-requires"]);
        reader.keepsNumbers = route.detail?.["x-requires"] === "administrator";
      },
      parse: () => ({}), // keeps the framework's own parsers away from the body
      transform: async (context: { request: Request; body: unknown }) => {
        context.body = await readBody(context.request, reader);
        reader.check(context.body);
      },
      ...(accepted === "form" && { afterHandle: refuseLongPage }),
    };
  },
});

/**
 * @param requires who may call the route
 * @returns size limit of its JSON or form body in bytes
 */
export const bodyBytesMax = (requires: string | undefined): number =>
  requires === "nobody" ? UNAUTHENTICATED_BODY_BYTES_MAX : BODY_BYTES_MAX;

interface IntrospectedRoute extends Schemas {
  detail?: { "x-requires"?: string };
}

interface Reader {
  readonly accepted: Accepted;
  bytesMax: number;
  limits: JsonLimits;
  /** refuses numbers that would be rounded, because policies and settings must be stored exactly */
  keepsNumbers: boolean;
  /** throws if the body does not match the schema */
  check(body: unknown): void;
}

/** OpenAPI description of the body. */
const describeBody = (accepted: Accepted): DocumentDecoration & { "x-accepts": Accepted } => ({
  "x-accepts": accepted,
});

type JsonReader = Pick<Reader, "bytesMax" | "limits" | "keepsNumbers">;

async function readBody(request: Request, { accepted, ...reader }: Reader): Promise<unknown> {
  if (accepted === "nothing" || accepted === "bytes" || accepted === "upload") return undefined;
  if (accepted === "scim-group") return undefined;
  if (accepted === "scim") return await readScimBody(request, accepted);
  if (accepted === "json-or-nothing") return await readJsonOrNothing(request, reader);
  refuseOtherMediaTypes(request, MEDIA_TYPES[accepted]);
  const text = await readText(request, reader.bytesMax);
  return accepted === "json" ? await parseJson(text, reader) : parseForm(text);
}

/** An empty body needs no media type, so the type is checked last. */
async function readJsonOrNothing(request: Request, reader: JsonReader): Promise<unknown> {
  const text = await readText(request, reader.bytesMax);
  if (text === "") return {};
  refuseOtherMediaTypes(request, MEDIA_TYPES.json);
  return await parseJson(text, reader);
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

/** Handles unusual spellings of the media type, and `+json` types. */
function isWritten(request: Request, wanted: string): boolean {
  const { mediaType, isUtf8 } = contentTypeOf(request);
  const isJson = wanted === MEDIA_TYPES.json && /^application\/[\w.-]+\+json$/.test(mediaType);
  return isUtf8 && (mediaType === wanted || isJson);
}

async function parseJson(text: string, { limits, keepsNumbers }: JsonReader): Promise<unknown> {
  const value = await parseWithin(text, limits, malformed);
  const [changed] = keepsNumbers ? changedNumbersIn(text) : [];
  if (changed) throw malformed({ message: changed.detail, pointer: pointerAt(text, changed.at) });
  return value;
}

function malformed({ message, pointer }: JsonProblem): HttpError {
  const problems = pointer === undefined ? [] : [{ pointer, detail: message }];
  return new HttpError(400, "request.malformed", message, { problems });
}

/** Below this size `parseFields` is three times as fast as URLSearchParams for any content. */
const SMALL_FORM_CHARACTERS = 16_384;
/** One more than allowed, so that an excess is detected. */
const FORM_LIMITS = { maxKeys: FORM_FIELDS_MAX + 1 };

/** Parameters that may be repeated (RFC 8707 section 2). */
const REPEATABLE: ReadonlySet<string> = new Set(["resource"]);

/** RFC 6749 section 3.1: parameters must not be repeated; an empty one counts as omitted. */
function parseForm(text: string): Record<string, string | string[]> {
  const given =
    text.length > SMALL_FORM_CHARACTERS ? parseLargeForm(text) : parseFields(text, "&", "=", FORM_LIMITS);
  const fields: Record<string, string | string[]> = {};
  let count = 0;
  for (const name in given) {
    const value = given[name];
    if (typeof value === "object" && !REPEATABLE.has(name))
      throw new HttpError(400, "request.malformed", `the field ${name.slice(0, 100)} is duplicated`);
    count += 1;
    if (value) fields[name] = value;
  }
  if (count > FORM_FIELDS_MAX) throw tooManyFields();
  return fields;
}

/** For 2 MiB of plus signs `parseFields` takes 180 ms and 77 MB, the runtime's parser 4 ms. */
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
