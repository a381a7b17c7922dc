// Replays requests of identity providers, reconstructed from their documentation and source code, and compares the responses word
// for word. The fixtures are conversations. QUARTERMASTER_UPDATE_GOLDEN=1 rewrites their responses; review the difference like
// code.
import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import type { ScimProfile } from "../../../src/domain/scim/model.ts";
import { SECOND_MS } from "../../../src/platform/clock.ts";
import { createScimServer, type ScimResult, type ScimServer } from "../../support/scim-server.ts";

/** A name of a resource in braces is replaced by its id. */
interface Step {
  method: string;
  /** below /scim/v2 */
  path: string;
  headers?: Record<string, string>;
  body?: unknown;
  /** names the resource in the response, or those of a bulk response, in their order */
  keep?: string | string[];
  answer?: Answer;
}

interface Answer {
  status: number;
  headers: Record<string, string>;
  body?: unknown;
}

interface Conversation {
  /** completes "<provider> …" */
  behavior: string;
  profile?: ScimProfile;
  userAgent: string;
  steps: Step[];
}

const FOLDER = join(import.meta.dir, "../fixtures/scim");
const MUST_WRITE = process.env.QUARTERMASTER_UPDATE_GOLDEN === "1";
const SHOWN_HEADERS = ["content-type", "location", "etag", "cache-control", "retry-after"];

const read = (file: string): Conversation => JSON.parse(readFileSync(join(FOLDER, file), "utf8"));
const FILES = [...new Glob("**/*.json").scanSync(FOLDER)].sort();

/** Ids by name. */
type Names = Map<string, string>;

function withIds(text: string, names: Names): string {
  return [...names].reduce((filled, [name, id]) => filled.replaceAll(`{{${name}}}`, id), text);
}

function withNames(text: string, names: Names): string {
  return [...names].reduce((masked, [name, id]) => masked.replaceAll(id, `{{${name}}}`), text);
}

async function send(
  { ask }: ScimServer,
  step: Step,
  { names, userAgent }: { names: Names; userAgent: string },
) {
  const body = step.body === undefined ? undefined : withIds(JSON.stringify(step.body), names);
  // A name in a path may be percent-encoded with the rest of a filter.
  const path = withIds(step.path.replaceAll("%7B%7B", "{{").replaceAll("%7D%7D", "}}"), names);
  return await ask(step.method, path, { body, headers: { "user-agent": userAgent, ...step.headers } });
}

function keepNames({ keep }: Step, { body }: ScimResult, names: Names): void {
  const idIn = (location: string): string => location.split("/").at(-1) ?? "";
  if (typeof keep === "string") names.set(keep, body.id);
  if (typeof keep !== "object") return;
  for (const [at, name] of keep.entries()) names.set(name, idIn(body.Operations[at].location));
}

function responseOf({ status, headers, text }: ScimResult, names: Names): Answer {
  const shown = SHOWN_HEADERS.flatMap((name) => {
    const value = headers.get(name);
    return value === null ? [] : [[name, withNames(value, names)]];
  });
  const body = text === "" ? {} : { body: JSON.parse(withNames(text, names)) };
  return { status, headers: Object.fromEntries(shown), ...body };
}

/** @returns the conversation with the actual responses */
async function held({ steps, userAgent, profile, ...rest }: Conversation): Promise<Conversation> {
  await using scim = await createScimServer(profile ? { profile } : {});
  const names: Names = new Map();
  const spoken: Step[] = [];
  for (const step of steps) {
    const response = await send(scim, step, { names, userAgent });
    keepNames(step, response, names);
    spoken.push({ ...step, answer: responseOf(response, names) });
    scim.server.world.clock.advance(SECOND_MS);
  }
  return { ...rest, ...(profile && { profile }), userAgent, steps: spoken };
}

test.each(FILES.map((file) => [file.split("/")[0] ?? "", read(file).behavior, file]))(
  "USE-5 %s %s",
  async (_, __, file) => {
    const real = await held(read(file));
    if (MUST_WRITE) writeFileSync(join(FOLDER, file), `${JSON.stringify(real, undefined, 2)}\n`);
    expect(read(file)).toEqual(real);
  },
);

test("every supported provider has a fixture", () => {
  const providers = new Set(FILES.map((file) => file.split("/")[0]));
  expect([...providers]).toEqual([
    "authentik",
    "entra",
    "google",
    "jumpcloud",
    "keycloak",
    "okta",
    "onelogin",
    "others",
  ]);
});

test("answers every fixture without a server error", () => {
  const statuses = FILES.flatMap((file) => read(file).steps.map(({ answer }) => answer?.status ?? 0));
  expect(statuses.filter((status) => status < 200 || status >= 500)).toEqual([]);
});
