// A small real HTTP server that responds like the documented admin API of a LiteLLM gateway, for keys of users: addresses are found
// by part, aliases are unique over all keys, pages are bounded, an update of `duration` starts a new lifetime. Faults are set per
// operation. Keys are kept in memory; tests read and change them as an administrator would.
import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type Clock, systemClock } from "../../../src/platform/clock.ts";
import { sha256Hex } from "../../../src/platform/ids.ts";

export const ADMIN_KEY = "sk-admin-0123456789abcdef";
const PAGE_SIZE_MAX = 100;

export interface GatewayUser {
  user_id: string;
  user_email: string | null;
  teams: string[];
}

export interface GatewayKey {
  /** SHA-256 of the key, its public id */
  token: string;
  key_alias: string | null;
  user_id: string | null;
  metadata: Record<string, unknown>;
  expires: string | null;
  created_at: string;
  blocked: boolean | null;
  /** and all other members from the policy */
  [member: string]: unknown;
}

export interface Fault {
  /**
   * `never`: no response; `stall`: none after its first half; `hang-up`: the connection ends before the response; `half`: it ends
   * within it; `late-hang-up`: the operation is done, and the connection ends without a response
   */
  kind: "status" | "never" | "stall" | "hang-up" | "half" | "late-hang-up" | "redirect" | "garbage" | "huge";
  status?: number;
  body?: unknown;
  /** how many times; without end by default */
  times?: number;
  onHit?: () => void;
}

/** `1.106` still returns a deleted key, marked as deleted; `1.74` no longer knows it. */
export const LITELLM_VERSIONS = ["1.74", "1.106"] as const;
export type LitellmVersion = (typeof LITELLM_VERSIONS)[number];

export interface LitellmGatewayOptions {
  /** version whose behavior it has; 1.106 by default */
  version?: LitellmVersion;
  clock?: Clock;
  port?: number;
  /** whether a list has the number of pages */
  countsPages?: boolean;
  /** format of times; RFC 3339 in UTC by default */
  writeTime?: (ms: number) => string;
}

type Members = Record<string, unknown>;
interface Reply {
  status: number;
  body: unknown;
}

const refusal = (status: number, message: string): Reply => ({
  status,
  body: { error: { message, type: "bad_request_error", param: null, code: String(status) } },
});

export class LitellmGateway {
  readonly users: GatewayUser[] = [];
  readonly keys: GatewayKey[] = [];
  /** ids, or models with the members that a gateway may send in addition to the id */
  models: (string | Members)[] = ["model-a"];
  /** operations in the order of arrival, such as `POST /key/generate` */
  calls: string[] = [];
  /** bodies of the POST requests, in the order of arrival */
  bodies: Members[] = [];
  /** keys that were deleted, which 1.106 keeps */
  readonly #deleted: GatewayKey[] = [];
  readonly #version: LitellmVersion;
  readonly #faults = new Map<string, Fault>();
  readonly #server: Server;
  readonly #clock: Clock;
  readonly #countsPages: boolean;
  readonly #writeTime: (ms: number) => string;

  private constructor(options: LitellmGatewayOptions) {
    this.#version = options.version ?? "1.106";
    this.#clock = options.clock ?? systemClock;
    this.#countsPages = options.countsPages ?? true;
    this.#writeTime = options.writeTime ?? ((ms) => new Date(ms).toISOString());
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  static async start(options: LitellmGatewayOptions = {}): Promise<LitellmGateway> {
    const gateway = new LitellmGateway(options);
    const listening = Promise.withResolvers<void>();
    gateway.#server.listen(options.port ?? 0, "127.0.0.1", listening.resolve);
    await listening.promise;
    return gateway;
  }

  get origin(): string {
    const address = this.#server.address();
    if (typeof address !== "object" || address === null) throw new Error("the gateway does not listen");
    return `http://127.0.0.1:${address.port}`;
  }

  addUser(email: string | null, members: Partial<GatewayUser> = {}): GatewayUser {
    const user = { user_id: crypto.randomUUID(), user_email: email, teams: [], ...members };
    this.users.push(user);
    return user;
  }

  /** Adds a key that another program created. */
  addKey(members: Partial<GatewayKey>): GatewayKey {
    return this.#addKey(`sk-${randomBytes(16).toString("base64url")}`, members);
  }

  /** @returns the usable key of a workstation: known to the gateway, not blocked and not expired */
  accepts(credential: string): boolean {
    const key = this.keys.find(({ token }) => token === sha256Hex(credential));
    return key !== undefined && !key.blocked && !this.#isOver(key);
  }

  aliases(): (string | null)[] {
    return this.keys.map(({ key_alias }) => key_alias).sort();
  }

  /** @param operation such as `POST /key/generate`; `*` for all */
  fail(operation: string, fault: Fault): void {
    this.#faults.set(operation, { ...fault });
  }

  heal(): void {
    this.#faults.clear();
  }

  /** Resets everything for the next test. */
  forget(): void {
    this.heal();
    for (const list of [this.users, this.keys, this.#deleted]) list.length = 0;
    [this.calls, this.bodies, this.models] = [[], [], ["model-a"]];
  }

  async stop(): Promise<void> {
    const closed = Promise.withResolvers<void>();
    this.#server.close(() => closed.resolve());
    this.#server.closeAllConnections();
    await closed.promise;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://gateway");
    const operation = `${request.method} ${url.pathname}`;
    this.calls.push(operation);
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body: Members = chunks.length === 0 ? {} : JSON.parse(Buffer.concat(chunks).toString());
    if (request.method === "POST") this.bodies.push(body);
    const fault = this.#takeFault(operation);
    fault?.onHit?.();
    if (fault && fault.kind !== "late-hang-up") return spoil(response, fault);
    const isAllowed = request.headers.authorization === `Bearer ${ADMIN_KEY}`;
    const reply = isAllowed ? this.#answer(operation, url.searchParams, body) : refuseKey(request);
    if (fault) return void response.socket?.destroy();
    response.writeHead(reply.status, { "content-type": "application/json" });
    response.end(JSON.stringify(reply.body));
  }

  #takeFault(operation: string): Fault | undefined {
    const name = this.#faults.has(operation) ? operation : "*";
    const fault = this.#faults.get(name);
    if (fault?.times === undefined) return fault;
    fault.times -= 1;
    if (fault.times === 0) this.#faults.delete(name);
    return fault;
  }

  #answer(operation: string, query: URLSearchParams, body: Members): Reply {
    switch (operation) {
      case "GET /user/list":
        return this.#listUsers(query);
      case "GET /key/list":
        return this.#listKeys(query);
      case "GET /key/info":
        return this.#showKey(query.get("key") ?? "");
      case "POST /key/generate":
        return this.#generate(body);
      case "POST /key/update":
        return this.#update(body);
      case "POST /key/delete":
        return this.#delete(body);
      case "GET /v1/models":
        return { status: 200, body: { data: this.models.map(toListed), object: "list" } };
      default:
        return { status: 404, body: { detail: "Not Found" } };
    }
  }

  #listUsers(query: URLSearchParams): Reply {
    const part = (query.get("user_email") ?? "").toLowerCase();
    const found = this.users.filter(({ user_email }) => user_email?.toLowerCase().includes(part));
    return this.#paged(found, {
      page: query.get("page"),
      size: query.get("page_size") ?? "25",
      name: "users",
    });
  }

  #listKeys(query: URLSearchParams): Reply {
    const found = this.keys.filter(({ user_id }) => user_id === query.get("user_id")).reverse();
    const isFull = query.get("return_full_object") === "true";
    const items = isFull ? found : found.map(({ token }) => token);
    return this.#paged(items, { page: query.get("page"), size: query.get("size") ?? "10", name: "keys" });
  }

  #showKey(id: string): Reply {
    const key = this.#find(id) ?? this.#findDeleted(id);
    if (!key) return refusal(404, "Key not found in database");
    const { token: _, ...info } = key;
    return { status: 200, body: { key: id, info } };
  }

  #findDeleted(id: string): GatewayKey | undefined {
    return this.#version === "1.74" ? undefined : this.#deleted.find(({ token }) => token === id);
  }

  #generate({ duration, key_type: _, ...members }: Members): Reply {
    const alias = typeof members.key_alias === "string" ? members.key_alias : null;
    if (this.#isTaken(alias)) return aliasTaken(alias);
    const key = `sk-${randomBytes(16).toString("base64url")}`;
    const made = this.#addKey(key, { ...members, expires: this.#endOf(duration) });
    return { status: 200, body: { ...made, key, key_name: `sk-...${key.slice(-4)}`, token_id: made.token } };
  }

  #update({ key: id, duration, ...members }: Members): Reply {
    const key = this.#find(String(id));
    if (!key) return this.#unknownToUpdate();
    const alias = typeof members.key_alias === "string" ? members.key_alias : null;
    if (this.#isTaken(alias, key)) return aliasTaken(alias);
    Object.assign(key, members, duration === undefined ? {} : { expires: this.#endOf(duration) });
    return { status: 200, body: { ...key, key: id } };
  }

  /** 1.74 reports a missing team instead of a missing key. */
  #unknownToUpdate(): Reply {
    const message = this.#version === "1.74" ? { error: "Team not found" } : "Key not found in database";
    return { status: 404, body: { error: { message, code: "404" } } };
  }

  #delete({ keys: ids }: Members): Reply {
    const known = (Array.isArray(ids) ? ids : []).flatMap((id) => this.#find(String(id)) ?? []);
    if (known.length === 0) return { status: 404, body: { error: { message: { error: "No keys found" } } } };
    const deleted_at = this.#writeTime(this.#clock.nowMs());
    for (const key of known) {
      this.keys.splice(this.keys.indexOf(key), 1);
      this.#deleted.push({ ...key, status: "deleted", deleted_at });
    }
    return { status: 200, body: { deleted_keys: ids } };
  }

  #paged(
    items: readonly unknown[],
    { page, size, name }: { page: string | null; size: string; name: string },
  ): Reply {
    const at = Number(page ?? "1");
    const count = Number(size);
    if (!(at >= 1 && count >= 1 && count <= PAGE_SIZE_MAX)) {
      return {
        status: 422,
        body: { detail: [{ loc: ["query", "page"], msg: "Input should be less than or equal to 100" }] },
      };
    }
    const body = {
      [name]: items.slice((at - 1) * count, at * count),
      ...(this.#countsPages && { total_count: items.length, total_pages: Math.ceil(items.length / count) }),
    };
    return { status: 200, body };
  }

  #addKey(key: string, members: Partial<GatewayKey>): GatewayKey {
    const added: GatewayKey = {
      key_alias: null,
      user_id: null,
      metadata: {},
      models: [],
      expires: null,
      created_at: this.#writeTime(this.#clock.nowMs()),
      blocked: null,
      ...members,
      token: sha256Hex(key),
    };
    this.keys.push(added);
    return added;
  }

  #find(id: string): GatewayKey | undefined {
    const wanted = id.startsWith("sk-") ? sha256Hex(id) : id;
    return this.keys.find(({ token }) => token === wanted);
  }

  #isTaken(alias: string | null, own?: GatewayKey): boolean {
    return alias !== null && this.keys.some((key) => key !== own && key.key_alias === alias);
  }

  #isOver({ expires }: GatewayKey): boolean {
    return expires !== null && Date.parse(expires) <= this.#clock.nowMs();
  }

  #endOf(duration: unknown): string | null {
    const [, count, unit = ""] = /^(\d+)([smhd])$/.exec(String(duration)) ?? [];
    if (count === undefined) return null;
    const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }[unit] ?? 0;
    return this.#writeTime(this.#clock.nowMs() + Number(count) * unitMs);
  }
}

const toListed = (model: string | Members): Members => ({
  object: "model",
  created: 1_677_610_602,
  owned_by: "openai",
  ...(typeof model === "string" ? { id: model } : model),
});

const aliasTaken = (alias: string | null): Reply =>
  refusal(400, `Key with alias '${alias}' already exists. Unique key aliases across all keys are required.`);

/** A real gateway quotes a part of the input. */
const refuseKey = ({ headers }: IncomingMessage): Reply =>
  refusal(
    401,
    `Authentication Error, Invalid proxy server token passed. Received API Key = ${headers.authorization}`,
  );

function spoil(response: ServerResponse, { kind, status = 500, body = {} }: Fault): void {
  switch (kind) {
    case "never":
      return;
    case "hang-up":
      response.socket?.destroy();
      return;
    case "half":
    case "stall":
      response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
      response.write('{"users":[', () => kind === "half" && response.socket?.end());
      return;
    case "redirect":
      response.writeHead(302, { location: "/elsewhere" });
      response.end();
      return;
    case "garbage":
      response.writeHead(200, { "content-type": "text/html" });
      response.end("<html>Sign in</html>");
      return;
    case "huge":
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ users: ["x".repeat(5 * 1024 * 1024)] }));
      return;
    default:
      response.writeHead(status, { "content-type": "application/json" });
      response.end(typeof body === "string" ? body : JSON.stringify(body));
  }
}
