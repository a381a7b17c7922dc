// Bodies that are as deep, as wide or as unusual as their route allows: each is refused, at a bounded cost and with a bounded
// response. The routes are those of the server; services that process valid content are tested elsewhere.
import { afterAll, expect, test } from "bun:test";
import { OBJECT_SHAPES_MAX } from "../../src/platform/json/shapes.ts";
import { OBJECT_MEMBERS_MAX } from "../../src/platform/json/structure.ts";
import { EXCERPT_CHARACTERS_MAX } from "../../src/platform/text/problem-list.ts";
import { FORM_TEXT_BYTES_MAX } from "../../src/server/console/long-form.ts";
import {
  type Accepted,
  bodyBytesMax,
  UNAUTHENTICATED_BODY_BYTES_MAX,
} from "../../src/server/http/bodies/body.ts";
import { JSON_VALUES_MAX } from "../../src/server/http/bodies/body-text.ts";
import { PROBLEM_BYTES_MAX } from "../../src/server/http/problems/problem.ts";
import type { DocumentedRoute } from "../../src/server/openapi.ts";
import { SCIM_BYTES_MAX } from "../../src/server/scim/body.ts";
import { createGatewayServer, PROXY_TOKEN } from "../support/gateway/gateway-server.ts";
import { type Caller, SCIM_TOKEN, type Sent } from "../support/server.ts";

/** Processor time of a body on an idle machine. */
const COST_MS = 50;
/** Code that is not compiled yet and other processes on the same cores make the same work take several times as long. */
const LOADED = 6;
const ATTEMPTS = 3;

const FORM_TYPE = "application/x-www-form-urlencoded";
const BOUNDARY = "x";
const PARTS_TYPE = `multipart/form-data; boundary=${BOUNDARY}`;
const SAME_ORIGIN = { origin: "null", "sec-fetch-site": "same-origin" };
const REPEATED = new RegExp(`x{${EXCERPT_CHARACTERS_MAX + 1}}`);

interface Taking {
  route: DocumentedRoute;
  accepts: Exclude<Accepted, "nothing">;
}

const testServer = await createGatewayServer();
const administrator = await testServer.signedIn("admin");
afterAll(() => testServer[Symbol.asyncDispose]());

const takers = (await testServer.server.allRoutes()).flatMap((route): Taking[] => {
  const accepts = route.hooks.detail?.["x-accepts"];
  return accepts === undefined || accepts === "nothing" ? [] : [{ route, accepts }];
});

test("many routes accept a body", () => {
  expect(takers.length).toBeGreaterThan(20);
});

test.each([...new Set(takers.map(({ accepts }) => accepts))])(
  "routes for %s refuse hostile bodies at a bounded cost",
  async (kind) => {
    const hostileBodies = createHostileBodies();
    for (const taking of takers.filter(({ accepts }) => accepts === kind))
      await refusesAll(taking, hostileBodies(taking));
  },
);

async function refusesAll({ route: { method, path, hooks }, accepts }: Taking, bodies: Bodies) {
  const requirement = hooks.detail?.["x-requires"];
  const place = path.replaceAll(/:\w+/g, crypto.randomUUID());
  const costMsMax = LOADED * COST_MS;
  for (const [at, [name, body]] of Object.entries(bodies).entries()) {
    const headers = { "content-type": typeOf(accepts, name), ...SAME_ORIGIN };
    // A guarded route reads nothing without a credential, so one body is enough there.
    const credentials = credentialsFor(accepts === "upload" ? "session" : requirement, administrator);
    for (const credential of at === 0 ? credentials : credentials.slice(-1)) {
      const ask = () => testServer.request(method, place, { ...credential, headers, body });
      const { response, costMs } = await leastCostly(ask, costMsMax);
      const answer = await response.text();
      const found = {
        isOurFault: response.status >= 500,
        isCostly: costMs > costMsMax,
        isLong: Buffer.byteLength(answer) > PROBLEM_BYTES_MAX,
        repeatsMuch: REPEATED.test(answer),
      };
      const expected = { isOurFault: false, isCostly: false, isLong: false, repeatsMuch: false };
      expect([method, path, name, found]).toEqual([method, path, name, expected]);
    }
  }
}

test("a refusal repeats only part of the address", async () => {
  const long = "x".repeat(12_000);
  const refused = new Set<string>();
  for (const { method, path, hooks } of await testServer.server.allRoutes()) {
    const [, credential = {}] = credentialsFor(hooks.detail?.["x-requires"], administrator);
    const isEndless = path.endsWith("/events");
    const place = path.replaceAll(/:\w+/g, "codex");
    const queries = Object.keys(propertiesOf(hooks.query)).map((name) => `${place}?${name}=${long}`);
    for (const address of isEndless ? [] : [path.replaceAll(/:\w+/g, long), ...queries]) {
      const response = await testServer.request(method === "ALL" ? "GET" : method, address, credential);
      if (response.status < 400) continue;
      refused.add(path);
      expect([path, REPEATED.test(await response.text())]).toEqual([path, false]);
    }
  }
  expect(refused.size).toBeGreaterThan(20);
});

/** Sends the request again after an expensive response, because the process also collects the garbage of earlier tests. */
async function leastCostly(
  ask: () => Promise<Response>,
  costMsMax: number,
): Promise<{ response: Response; costMs: number }> {
  for (let attempt = 1; ; attempt += 1) {
    const before = process.cpuUsage();
    const response = await ask();
    const { user, system } = process.cpuUsage(before);
    const costMs = (user + system) / 1_000;
    if (costMs <= costMsMax || attempt === ATTEMPTS) return { response, costMs };
  }
}

function credentialsFor(requirement: string | undefined, { accessToken, cookie }: Caller): Sent[] {
  if (requirement === "nobody") return [{}];
  if (requirement === "session") return [{}, { cookie }];
  if (requirement === "scim") return [{}, { token: SCIM_TOKEN }];
  return [{}, { token: requirement === "proxy" ? PROXY_TOKEN : accessToken }];
}

type Bodies = Readonly<Record<string, Uint8Array>>;

const bytesOf = (texts: Readonly<Record<string, string>>): Bodies =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, Buffer.from(text)]));

/**
 * Bodies for one route after another. One function reads a kind of body for all routes: the first route of a kind gets
 * all of them. Members with equal schemas are checked by the same code, so only the first one is filled up to the limit
 * of the body.
 */
function createHostileBodies() {
  const kindsSeen = new Set<string>();
  const membersSeen = new Set<string>();
  const uploads = bytesOf(formsWithFile(2 * FORM_TEXT_BYTES_MAX));
  return ({ route: { method, hooks }, accepts }: Taking): Bodies => {
    const bytes = bytesMaxOf(accepts, hooks.detail?.["x-requires"]);
    const kind = `${accepts} ${bytes}`;
    const isSeen = kindsSeen.has(kind);
    kindsSeen.add(kind);
    if (accepts === "form")
      return bytesOf(isSeen ? { "many fields": manyFields(SMALL_BYTES) } : forms(bytes));
    if (accepts === "upload") return uploads;
    const general = isSeen ? jsonForEach(SMALL_BYTES) : { ...jsonForEach(bytes), ...jsonForReader(bytes) };
    if (accepts === "scim-group")
      return bytesOf({ ...general, ...(isSeen ? unknownMembers(bytes, method) : memberLists(bytes)) });
    const members = Object.entries(propertiesOf(hooks.body)).map(([name, schema]) => {
      const member = `${bytes} ${shapeOf(schema)}`;
      const isSmall = membersSeen.has(member);
      membersSeen.add(member);
      return memberFilled(name, isSmall ? SMALL_BYTES : bytes);
    });
    return bytesOf(Object.assign(general, ...members));
  };
}

/** @returns the schema without descriptions, and with every limit replaced by 0 */
const shapeOf = (schema: unknown): string =>
  JSON.stringify(schema, (key, value) => {
    if (typeof value === "number") return 0;
    return key === "description" && typeof value === "string" ? undefined : value;
  });

/**
 * Forms with a file or a long text, for their three readers. The longest text that one of them reads in one turn is a
 * policy with escaped line ends.
 */
const formsWithFile = (bytes: number): Record<string, string> => ({
  "fields without parts": "a&".repeat(bytes / 2),
  "escapes without parts": `a=${"%0a".repeat(bytes / 3 - 1)}`,
  "parts without headers": `--${BOUNDARY}\r\n`.repeat(bytes / 5),
  "fields in parts": partsOf(bytes, 'name="a"'),
  "files in parts": partsOf(bytes, 'name="a"; filename="a"'),
  "headers of a part": `--${BOUNDARY}\r\ncontent-disposition: form-data; name="a"\r\n${"a: b\r\n".repeat(bytes / 7)}`,
});

const partsOf = (bytes: number, parameters: string): string => {
  const part = `--${BOUNDARY}\r\ncontent-disposition: form-data; ${parameters}\r\n\r\nx\r\n`;
  return `${part.repeat(bytes / part.length - 1)}--${BOUNDARY}--\r\n`;
};

function typeOf(accepts: Accepted, name: string): string {
  if (accepts === "upload") return name.endsWith("without parts") ? FORM_TYPE : PARTS_TYPE;
  return accepts === "form" ? FORM_TYPE : "application/json";
}

const bytesMaxOf = (accepts: Taking["accepts"], requires: string | undefined): number =>
  accepts === "scim" || accepts === "scim-group" ? SCIM_BYTES_MAX[accepts] : bodyBytesMax(requires);

/** As many values as fit into a body of this many bytes, or as a body may have. */
const valuesIn = (bytes: number, bytesOfEach: number): number =>
  Math.min(JSON_VALUES_MAX, Math.floor(bytes / bytesOfEach) - 10);

const listOf = (count: number, value: string): string => `[${`${value},`.repeat(count - 1)}${value}]`;

const namesOf = (count: number, radix = 36): string =>
  `{${Array.from({ length: count }, (_, at) => `"${at.toString(radix)}":0`).join(",")}}`;

/** Objects with the maximum number of members. @param radix 10 for names that the runtime stores as list indices */
function widestObjects(bytes: number, radix: number): string {
  const widest = namesOf(Math.min(OBJECT_MEMBERS_MAX, Math.floor(bytes / 9)), radix);
  const count = Math.min(OBJECT_SHAPES_MAX / OBJECT_MEMBERS_MAX, Math.floor(bytes / widest.length));
  return listOf(Math.max(1, count), widest);
}

/** Objects of two members each, of as many shapes as a body may have, repeated until the body is full. */
function shapedObjects(bytes: number): string {
  const count = Math.min(Math.floor(JSON_VALUES_MAX / 5) - 1, Math.floor(bytes / 20));
  const side = Math.floor(Math.sqrt(OBJECT_SHAPES_MAX)) - 1;
  const shaped = (at: number) =>
    `{"${(Math.floor(at / side) % side).toString(36)}":0,"x${(at % side).toString(36)}":0}`;
  return `[${Array.from({ length: count }, (_, at) => shaped(at)).join(",")}]`;
}

/** Within the limit of every route. */
const SMALL_BYTES = UNAUTHENTICATED_BODY_BYTES_MAX;

/** Bodies that show that a route uses the reader, and bodies whose checks the reader leaves to the route. */
const jsonForEach = (bytes: number): Record<string, string> => ({
  "nested lists": "[".repeat(bytes),
  "a name as long as the body": `{"${"x".repeat(bytes - 6)}":0}`,
  "as many names as an object may have": namesOf(Math.min(OBJECT_MEMBERS_MAX, Math.floor(bytes / 9))),
});

const jsonForReader = (bytes: number): Record<string, string> => ({
  "nested objects": '{"a":'.repeat(bytes / 5),
  "a list of lists": listOf(valuesIn(bytes, 3) - 1, "[]"),
  "too many values": listOf(bytes / 2 - 1, "0"),
  "many names": `[${namesOf(Math.min(JSON_VALUES_MAX / 2 - 1, Math.floor(bytes / 9)))}]`, // SCIM ignores unknown ones
  "the widest objects": widestObjects(bytes, 36),
  "the widest objects, with numbers for names": widestObjects(bytes, 10),
  "objects with a number as a name": listOf(Math.floor(valuesIn(bytes, 4) / 3), '{"999":0}'), // the most expensive one
  "objects of many shapes": shapedObjects(bytes),
  "the same long name twice": `{"${"x".repeat(bytes / 2 - 6)}":0,"${"x".repeat(bytes / 2 - 6)}":0}`,
  "a text that never ends": `"${"x".repeat(bytes - 1)}`,
  "escapes only": `"${"\\u0078".repeat(bytes / 6 - 1)}"`,
  "no JSON at all": "x".repeat(bytes),
});

const OPERATION = `{"Operations":[{"op":"add",`;
const groupOf = (list: string): string => `{"displayName":"Everybody","members":[${list}]}`;
const additionOf = (list: string): string => `${OPERATION}"path":"members","value":[${list}]}]}`;

/** As many units as fit into a body of this many bytes, as the content of a list. */
function filledWith(bytes: number, unit: (at: number) => string): string {
  const units: string[] = [];
  for (let left = bytes - 200; left > 0; left -= (units.at(-1)?.length ?? left) + 1)
    units.push(unit(units.length));
  return units.slice(0, -1).join(",");
}

const unknownMembersIn = (bytes: number): string =>
  filledWith(bytes, (at) => `{"value":"01980000-0000-7000-8000-${String(at).padStart(12, "0")}"}`);

/** The longest list of a route whose reader has read all other lists. */
const unknownMembers = (bytes: number, method: string): Record<string, string> => ({
  "unknown members": (method === "PATCH" ? additionOf : groupOf)(unknownMembersIn(bytes)),
});

/**
 * Lists of members of a group, and two of them in a PATCH message: one function reads all of them for all routes. Each uses as much
 * memory and time as any body of the route.
 */
function memberLists(bytes: number): Record<string, string> {
  const filled = (unit: (at: number) => string) => filledWith(bytes, unit);
  const lists = {
    "unknown members": unknownMembersIn(bytes),
    "unknown members with all attributes": filled(
      (at) =>
        `{"value":"user-${at}","$ref":"https://x/Users/user-${at}","type":"User","display":"Ada ${at}"}`,
    ),
    "unknown members as texts": filled((at) => `"${at.toString(36)}"`),
    "members without ids": filled(() => "{}"),
    "nested members": filled((at) => `${"[".repeat(20 + (at % 2))}${"]".repeat(20 + (at % 2))}`),
    "a member as long as the body": `{"value":"${"x".repeat(bytes - 200)}"}`,
    "members with long names": filled((at) => `{"${"n".repeat(4_000)}${at}":0,"value":"a"}`),
  };
  const inOperation = (name: "unknown members" | "nested members") => ({
    [`${name} in an operation`]: additionOf(lists[name]),
    [`${name} in an operation without a path`]: `${OPERATION}"value":{"members":[${lists[name]}]}}]}`,
  });
  return {
    ...Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, groupOf(list)])),
    ...inOperation("unknown members"),
    ...inOperation("nested members"),
  };
}

const manyFields = (bytes: number): string => "a&".repeat(bytes / 2);

const forms = (bytes: number): Record<string, string> => ({
  "many fields": manyFields(bytes),
  "empty fields": "&".repeat(bytes),
  escapes: "%78".repeat(bytes / 3),
  "plus signs": "+".repeat(bytes),
  "a long name": "x".repeat(bytes),
  "the same long name twice": `${"x".repeat(bytes / 2 - 1)}&${"x".repeat(bytes / 2)}`,
});

/** A member filled beyond its limit, with a wrong last value. */
const memberFilled = (name: string, bytes: number): Record<string, string> => ({
  [`${name}: objects`]: `{"${name}":${listOf(valuesIn(bytes - 100, 3) - 5, "{}").slice(0, -1)},0]}`,
  [`${name}: a long text`]: `{"${name}":"${"x".repeat(bytes - name.length - 10)}"}`,
  [`${name}: below a long name`]: `{"${name}":{"${"x".repeat((bytes / 4) * 3)}":${listOf(1_000, "0")}}}`,
});

const propertiesOf = (schema: unknown): Readonly<Record<string, unknown>> =>
  typeof schema === "object" && schema !== null && "properties" in schema
    ? { ...Object(schema.properties) }
    : {};
