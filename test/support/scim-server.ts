// The server from the perspective of an identity provider: one token, paths below the base, and the responses.
import { expect } from "bun:test";
import type { ScimProfile } from "../../src/domain/scim/model.ts";
import { CORE_GROUP, CORE_USER, PATCH_OP, SCIM_BASE_PATH, SCIM_ERROR } from "../../src/domain/scim/wire.ts";
import {
  createTestServer,
  SCIM_TOKEN,
  type Sent,
  type TestServer,
  type TestServerOptions,
} from "./server.ts";

/** A response, with its body read. */
export interface ScimResult {
  status: number;
  headers: Headers;
  /** empty for an empty body */
  text: string;
  /** the body as JSON, an empty object for an empty one */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into documents of many shapes
  body: any;
}

export interface ScimServer extends AsyncDisposable {
  server: TestServer;
  /** @param path below /scim/v2; a body that is not text, bytes or a stream is sent as SCIM JSON */
  ask(method: string, path: string, sent?: Sent): Promise<ScimResult>;
  /** Creates a user and returns the id. */
  user(userName: string, attributes?: object): Promise<string>;
  /** Creates a group of these users and returns the id. */
  group(displayName: string, ...members: string[]): Promise<string>;
  /** @returns ids of a group's members */
  membersOf(groupId: string): Promise<string[]>;
}

export interface ScimServerOptions extends TestServerOptions {
  /** default: the configured token, of the profile `standard` */
  profile?: ScimProfile;
}

/** @returns a separate server for one test: `await using` */
export async function createScimServer({ profile, ...options }: ScimServerOptions = {}): Promise<ScimServer> {
  const server = await createTestServer(options);
  const token = profile ? await tokenOf(server, profile) : SCIM_TOKEN;
  const ask: ScimServer["ask"] = async (method, path, sent = {}) => {
    const headers = { ...(sent.body !== undefined && SCIM_JSON), ...sent.headers };
    return await answered(
      await server.request(method, `${SCIM_BASE_PATH}${path}`, { token, ...sent, headers }),
    );
  };
  const create = async (path: string, body: object): Promise<string> => {
    const { status, body: made, text } = await ask("POST", path, { body });
    expect([status, status === 201 ? "" : text]).toEqual([201, ""]);
    return made.id;
  };
  return {
    server,
    ask,
    user: (userName, attributes) => create("/Users", { schemas: [CORE_USER], userName, ...attributes }),
    group: (displayName, ...members) => {
      const values = members.map((value) => ({ value }));
      return create("/Groups", { schemas: [CORE_GROUP], displayName, members: values });
    },
    async membersOf(groupId) {
      const { body } = await ask("GET", `/Groups/${groupId}`);
      return body.members.map(({ value }: { value: string }) => value);
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

const SCIM_JSON = { "content-type": "application/scim+json" };

async function tokenOf({ domain, world }: TestServer, profile: ScimProfile): Promise<string> {
  const { token } = await domain.scim.tokens.create(world.system, { label: profile, profile });
  return token.reveal();
}

/** @returns the response, with its body read */
export async function answered(response: Response): Promise<ScimResult> {
  const { status, headers } = response;
  const text = await response.text();
  return { status, headers, text, body: text === "" ? {} : JSON.parse(text) };
}

/** @returns a PATCH body */
export const patchOf = (...Operations: object[]) => ({ schemas: [PATCH_OP], Operations });

/** Checks the common properties of all refusals. @returns status and scimType in one text */
export function expectRefusal({ status, headers, body }: ScimResult): string {
  expect(headers.get("content-type")).toBe("application/scim+json");
  expect(headers.get("cache-control")).toBe("no-store");
  expect(body.schemas).toEqual([SCIM_ERROR]);
  expect(body.status).toBe(String(status));
  expect(body.detail).toMatch(/./);
  const known = ["schemas", "status", "scimType", "detail"];
  expect(Object.keys(body).filter((name) => !known.includes(name))).toEqual([]);
  return [status, body.scimType].filter((part) => part !== undefined).join(" ");
}
