// Validates input against the schema of the route. The framework's validation puts the whole value into its error. It is
// therefore disabled for bodies, and path and query are checked here first, so that it never fails for them.
import { KindGuard, type TSchema } from "@sinclair/typebox";
import { type ValueError, ValueErrorType } from "@sinclair/typebox/value";
import { getSchemaValidator } from "elysia";
import { type Problem, pointerOf, tokensOf } from "../../../platform/errors.ts";
import { unknownMember } from "../../../platform/text/object-reader.ts";
import { excerpt, PROBLEMS_MAX } from "../../../platform/text/problem-list.ts";
import { HttpError } from "../problems/problem.ts";

/** Limit on collected problems; the response says if there may be more. */
export const PROBLEMS_COUNTED_MAX = 1_000;
/** Limit on the total length of inspected pointers: one name may fill a body, and each finding below it repeats the name. */
export const POINTER_CHARACTERS_MAX = 256 * 1024;

/** Limit on members and elements read while collecting problems; each takes about a microsecond. */
export const READS_MAX = 25_000;

/** The schemas that a route may declare. */
export interface Schemas {
  body?: unknown;
  query?: unknown;
  params?: unknown;
}

type Place = "body" | "query" | "path";

/** Throws if the value is invalid; `more` adds problems found elsewhere. */
type Check = (value: unknown, more?: readonly Problem[]) => void;

/** @returns the check of the body, which replaces the framework's */
export function takeBodyCheck(route: Schemas): Check {
  const { body } = route;
  if (KindGuard.IsSchema(body)) route.body = { ...body, noValidate: true };
  return createCheck(route.body, "body");
}

/**
 * Reads the raw URL, because the framework keeps only the last of a repeated parameter.
 * @returns the names that the query repeats
 */
function repeatedIn(url: string, names: ReadonlySet<string>): string[] {
  const start = url.indexOf("?");
  if (start < 0 || !url.includes("&", start)) return [];
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const name of new URLSearchParams(url.slice(start + 1)).keys()) {
    if (!names.has(name)) continue;
    (seen.has(name) ? repeated : seen).add(name);
  }
  return [...repeated];
}

/** @returns the check of query and path parameters */
export function createAddressCheck(route: Schemas): (context: AddressParts) => void {
  const checkPath = createCheck(route.params, "path");
  const checkQuery = createCheck(route.query, "query");
  const declared = new Set(propertiesOf(route.query));
  return ({ request, params, query }) => {
    refuseUndecoded(params);
    checkPath(params);
    checkQuery(query, declared.size === 0 ? [] : repeatedIn(request.url, declared).map(repeated));
  };
}

/** The framework passes a path parameter that is not percent-encoded UTF-8 as null, regardless of the schema. */
function refuseUndecoded(params: AddressParts["params"]): void {
  for (const name in params)
    if (params[name] === null)
      throw new HttpError(404, "request.unknown_path", "the path is not percent-encoded UTF-8");
}

interface AddressParts {
  request: Request;
  /** undefined if the path has no parameters */
  params: Readonly<Record<string, unknown>> | undefined;
  query: unknown;
}

const repeated = (name: string): Problem => ({
  pointer: pointerOf([name]),
  detail: "must be given only once",
});

const propertiesOf = (schema: unknown): string[] =>
  KindGuard.IsObject(schema) ? Object.keys(schema.properties) : [];

/** Thrown when the read limit is reached. */
class MeterSpent extends Error {}

/**
 * Limits the reads of a JSON value. Schema validation visits the whole value even if only the last of 250,000 elements is
 * wrong; the limit stops it.
 * @param value JSON value
 * @param readsMax limit on members and elements read
 * @returns a read-only view of the value
 */
function metered(value: unknown, readsMax: number): unknown {
  let left = readsMax;
  const handler: ProxyHandler<object> = {
    get(target, name) {
      left -= 1;
      if (left < 0) throw new MeterSpent();
      return view(Reflect.get(target, name));
    },
  };
  const view = (part: unknown): unknown =>
    typeof part === "object" && part !== null ? new Proxy(part, handler) : part;
  return view(value);
}

/** The schema is compiled at the first request of the route, because compiling hundreds of routes would slow down the start. */
function createCheck(schema: unknown, place: Place): Check {
  if (schema === undefined) return () => {};
  let validator: ReturnType<typeof getSchemaValidator<TSchema>> | undefined;
  return (value, more = []) => {
    if (validator === undefined) {
      if (!KindGuard.IsSchema(schema)) return;
      validator = getSchemaValidator(schema, { normalize: false });
    }
    const isValid = validator.Check(value);
    if (isValid && more.length === 0) return;
    throw refusalOf(place, isValid ? [] : validator.Errors(metered(value, READS_MAX)), more);
  };
}

/** An invalid body is 422; an invalid path or query value is 400. */
function refusalOf(place: Place, findings: Iterable<ValueError>, more: readonly Problem[]): HttpError {
  const { problems, isCut } = problemsOf(findings, more);
  const counted = problems.length === 1 ? "one problem" : `${problems.length} problems`;
  const shown = problems.slice(0, PROBLEMS_MAX);
  const left = problems.length - shown.length;
  if (left > 0) shown.push({ pointer: "", detail: `and ${isCut ? "at least " : ""}${left} more` });
  else if (isCut) shown.push({ pointer: "", detail: "and possibly more: the check stopped early" });
  const list = shown
    .map(({ pointer, detail }) => (pointer ? `${excerpt(pointer)}: ${detail}` : detail))
    .join("; ");
  const message = `the ${place} has ${isCut ? "at least " : ""}${counted}: ${list}`;
  return new HttpError(place === "body" ? 422 : 400, "request.invalid", message, { problems: shown });
}

interface Found {
  problems: Problem[];
  /** whether there may be more problems */
  isCut: boolean;
}

function problemsOf(findings: Iterable<ValueError>, more: readonly Problem[]): Found {
  const problems = [...more];
  try {
    return { problems, isCut: !collect(withUnionsOpened(findings), problems) };
  } catch (error) {
    if (!(error instanceof MeterSpent)) throw error;
    return { problems, isCut: true };
  }
}

/**
 * Replaces the finding on a union by the findings on its member that has the type of the value, so that each problem has its
 * own path.
 */
function* withUnionsOpened(findings: Iterable<ValueError>): Generator<ValueError> {
  for (const finding of findings) {
    const meant = closestMember(finding);
    if (meant) yield* withUnionsOpened(meant);
    else yield finding;
  }
}

/** @returns the findings on that member; undefined unless exactly one member has the type */
function closestMember({ schema, value, errors }: ValueError): Iterable<ValueError> | undefined {
  if (!KindGuard.IsUnion(schema)) return undefined;
  const type = typeOf(value);
  const fitting = errors.filter((_, index) => schema.anyOf[index]?.type === type);
  return fitting.length === 1 ? fitting[0] : undefined;
}

/**
 * Collects problems. The validator reports a missing member twice, as absent and as mistyped; only one is kept.
 * @returns whether all findings were collected
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

const MISTYPED: ReadonlySet<ValueErrorType> = new Set([
  ValueErrorType.Array,
  ValueErrorType.Boolean,
  ValueErrorType.Integer,
  ValueErrorType.Number,
  ValueErrorType.Object,
  ValueErrorType.String,
]);

/**
 * Describes the expected and the actual type. It never repeats the value, which may be a password in the wrong place.
 */
function detailOf({ message, schema, path, type, value }: ValueError): string {
  if (type === ValueErrorType.ObjectAdditionalProperties)
    return unknownMember(tokensOf(path).at(-1) ?? "", propertiesOf(schema));
  const types = typesOf(schema);
  const found = typeOf(value);
  if (types.length > 0 && !types.includes(found)) return `expected ${types.join(" or ")}, not ${found}`;
  if (KindGuard.IsUnion(schema) && schema.anyOf.every(KindGuard.IsLiteral))
    return `must be one of ${schema.anyOf.map((choice) => choice.const).join(", ")}`;
  if ("format" in schema) return `expected a string of the format ${schema.format}`;
  const detail = `${message.charAt(0).toLowerCase()}${message.slice(1)}`;
  return MISTYPED.has(type) ? `${detail}, not ${found}` : detail;
}

/** @returns the JSON types of the members of a union; none if a member has no type */
function typesOf(schema: TSchema): string[] {
  if (!KindGuard.IsUnion(schema)) return [];
  const types = new Set(schema.anyOf.map(({ type }) => type));
  return types.has(undefined) ? [] : [...types];
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
