// The faults that the identity provider of the tests can have: a broken response, or wrong members in it.
import type { ServerResponse } from "node:http";

/**
 * `down`: 503; `html`: a page with status 200; `huge`: 10 MB of JSON; `stall`: half a response and then nothing; `silent`: no
 * response; `reset`: the connection ends within the response; `redirect`: to another origin; `garbage`: JSON that is cut off;
 * `list`: JSON that is not an object; `empty`: 204; `unauthorized`: 401 without JSON; `missing`: 404 with the correct body
 */
export type ResponseFault =
  | "down"
  | "html"
  | "huge"
  | "stall"
  | "silent"
  | "reset"
  | "redirect"
  | "garbage"
  | "list"
  | "empty"
  | "unauthorized"
  | "missing";

/** Members that replace those of a correct response; an undefined one removes its member. */
export type Overrides = Readonly<Record<string, unknown>>;

export interface Faults {
  discovery?: ResponseFault;
  keys?: ResponseFault;
  token?: ResponseFault;
  userinfo?: ResponseFault;
  /** members of the discovery document */
  metadata?: Overrides;
  /** members of the document with the keys */
  keySet?: Overrides;
  /** parameters of the callback */
  callback?: Overrides;
  /** members of the token endpoint's answer */
  tokenResponse?: Overrides;
  /** an error of the token endpoint, such as `invalid_client` */
  tokenError?: string;
  /** the description of tokenError repeats every secret of the request */
  repeatsSecrets?: boolean;
  /** claims of the ID token, which override all others */
  idToken?: Overrides;
  /** members of the ID token's header */
  header?: Overrides;
  /**
   * `foreign`: an unpublished key under the id of a published one; `none`: unsigned; `hs256`: the client secret as key;
   * `public_key_as_secret`: HS256 with the published key as secret
   */
  signature?: "foreign" | "none" | "hs256" | "public_key_as_secret";
  userinfoClaims?: Overrides;
  /** responses have no header `Date` */
  hidesTime?: boolean;
}

const HUGE_BYTES = 10_000_000;

/** Sends the faulty response. */
export function spoil(response: ServerResponse, fault: Exclude<ResponseFault, "missing">): void {
  const head = (status: number, type = "application/json", headers: Record<string, string> = {}) =>
    response.writeHead(status, { "content-type": type, ...headers });
  switch (fault) {
    case "down":
      return void head(503).end('{"error":"temporarily_unavailable"}');
    case "html":
      return void head(200, "text/html").end("<!doctype html><title>Sign in to the network</title>");
    case "huge":
      return void head(200).end(`{"padding":"${"x".repeat(HUGE_BYTES)}"}`);
    case "stall":
      return void head(200).write('{"half":');
    case "silent":
      return;
    case "reset":
      head(200, "application/json", { "content-length": "1000" }).write('{"half":');
      return void setTimeout(() => response.socket?.destroy(), 1);
    case "redirect":
      return void head(302, "text/plain", { location: "http://localhost:9/elsewhere" }).end();
    case "garbage":
      return void head(200).end('{"half":');
    case "unauthorized":
      return void head(401, "text/plain").end("who are you?");
    case "list":
      return void head(200).end("[]");
    case "empty":
      return void response.writeHead(204).end();
  }
}

/** @returns the members with the overrides; an undefined one is removed */
export const overridden = (members: Readonly<Record<string, unknown>>, overrides: Overrides = {}) =>
  Object.fromEntries(Object.entries({ ...members, ...overrides }).filter(([, value]) => value !== undefined));
