// Checks what a caller sent against the schema of the route. The framework's own check writes the whole value into its error, so
// it is switched off for bodies and never fails for the rest, which is checked here before it.
import { KindGuard, type TSchema } from "@sinclair/typebox";
import { type ValueError, ValueErrorType } from "@sinclair/typebox/value";
import { getSchemaValidator } from "elysia";
import { type Problem, pointerOf } from "../../../platform/errors.ts";
import { unknownMember } from "../../../platform/text/object-reader.ts";
import { PROBLEMS_MAX } from "../../../platform/text/problem-list.ts";
import { excerpt } from "../problems/excerpt.ts";
import { HttpError } from "../problems/problem.ts";
import { repeatedIn } from "../query-names.ts";
import { MeterSpent, metered } from "./metered.ts";

/** Problems that are looked for; the answer says when there may be more. */
export const PROBLEMS_COUNTED_MAX = 1_000;
/** Characters of all pointers that are looked at: one name may fill a body, and each finding below it repeats it. */
const POINTER_CHARACTERS_MAX = 256 * 1024;

/** Members and elements that are read while problems are looked for. */
const READS_MAX = 50_000;

/** The schemas that a route may have. */
export interface Schemas {
  body?: unknown;
  query?: unknown;
  params?: unknown;
}

type Place = "body" | "query" | "path";

/** Throws the refusal of a value; `more` is what was found wrong otherwise. */
type Check = (value: unknown, more?: readonly Problem[]) => void;

/** @returns the check of the body, in place of the framework's */
export function takeBodyCheck(route: Schemas): Check {
  const { body } = route;
  if (KindGuard.IsSchema(body)) route.body = { ...body, noValidate: true };
  return createCheck(route.body, "body");
}

/** @returns the check of the query and of the parameters in the path */
export function createAddressCheck(route: Schemas): (context: AddressParts) => void {
  const checkPath = createCheck(route.params, "path");
  const checkQuery = createCheck(route.query, "query");
  const declared = new Set(propertiesOf(route.query));
  return ({ request, params, query }) => {
    checkPath(params);
    checkQuery(query, declared.size === 0 ? [] : repeatedIn(request.url, declared).map(repeated));
  };
}

interface AddressParts {
  request: Request;
  params: unknown;
  query: unknown;
}

const repeated = (name: string): Problem => ({
  pointer: pointerOf([name]),
  detail: "expected once and given more than once",
});

const propertiesOf = (schema: unknown): string[] =>
  KindGuard.IsObject(schema) ? Object.keys(schema.properties) : [];

function createCheck(schema: unknown, place: Place): Check {
  if (!KindGuard.IsSchema(schema)) return () => {};
  let validator: ReturnType<typeof getSchemaValidator<TSchema>> | undefined; // compiled when it is first needed
  return (value, more = []) => {
    validator ??= getSchemaValidator(schema, { normalize: false });
    const isValid = validator.Check(value);
    if (isValid && more.length === 0) return;
    throw refusalOf(place, isValid ? [] : validator.Errors(metered(value, READS_MAX)), more);
  };
}

/** A body that is understood but wrong is 422; a path or query value is 400 (control-api.md section 1). */
function refusalOf(place: Place, findings: Iterable<ValueError>, more: readonly Problem[]): HttpError {
  const { problems, isCut } = problemsOf(findings, more);
  const counted = problems.length === 1 ? "one problem" : `${problems.length} problems`;
  const shown = problems.slice(0, PROBLEMS_MAX);
  const left = problems.length - shown.length;
  if (left > 0) shown.push({ pointer: "", detail: `and ${isCut ? "at least " : ""}${left} more` });
  else if (isCut) shown.push({ pointer: "", detail: "and perhaps more: not all of it was looked at" });
  const list = shown
    .map(({ pointer, detail }) => (pointer ? `${excerpt(pointer)}: ${detail}` : detail))
    .join("; ");
  const message = `the ${place} has ${isCut ? "at least " : ""}${counted}: ${list}`;
  return new HttpError(place === "body" ? 422 : 400, "request.invalid", message, { problems: shown });
}

interface Found {
  problems: Problem[];
  /** whether there may be more */
  isCut: boolean;
}

function problemsOf(findings: Iterable<ValueError>, more: readonly Problem[]): Found {
  const problems = [...more];
  try {
    return { problems, isCut: !collect(findings, problems) };
  } catch (error) {
    if (!(error instanceof MeterSpent)) throw error;
    return { problems, isCut: true };
  }
}

/**
 * Adds what was found. A missing member is found twice, once as absent and once as mistyped.
 * @returns whether that was all
 */
function collect(findings: Iterable<ValueError>, problems: Problem[]): boolean {
  const seen = new Set<string>();
  let characters = 0;
  for (const finding of findings) {
    characters += finding.path.length;
    if (seen.has(finding.path)) continue;
    if (problems.length === PROBLEMS_COUNTED_MAX) return false;
    seen.add(finding.path);
    problems.push({ pointer: finding.path, detail: detailOf(finding) });
    if (characters > POINTER_CHARACTERS_MAX) return false;
  }
  return true;
}

/** Says what is expected and never what was sent: that may be a password in the wrong place. */
function detailOf({ message, schema, path, type }: ValueError): string {
  if (type === ValueErrorType.ObjectAdditionalProperties)
    return unknownMember(nameIn(path), propertiesOf(schema));
  if ("format" in schema) return `expected a string of the format ${schema.format}`;
  return `${message.charAt(0).toLowerCase()}${message.slice(1)}`;
}

/** @returns the last token of an RFC 6901 pointer */
const nameIn = (pointer: string): string =>
  pointer
    .slice(pointer.lastIndexOf("/") + 1)
    .replaceAll("~1", "/")
    .replaceAll("~0", "~");
