// The part of a LiteLLM-compatible admin API that manages keys of users. It checks every status, follows the pages of every
// list, and validates the shape of responses. litellm.ts decides what to do with them.

import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { isJsonObject, type JsonObject } from "../../../../platform/json/json-object.ts";
import type { Secret } from "../../../../platform/secret.ts";
import { toDiagnosis } from "../diagnosis.ts";
import { LISTING_BYTES_MAX } from "../model-listing.ts";
import { ProvisionerError } from "../provisioner.ts";
import type { AdminMessage, AdminRequest, AdminResponse } from "./litellm-request.ts";
import {
  CreatedKey,
  KeyInfo,
  KeyList,
  type ListedKey,
  ModelList,
  parseJson,
  sentenceOf,
  UpdatedKey,
  type UpstreamUser,
  UserList,
} from "./litellm-responses.ts";

/** The maximum page size of the gateway. */
export const PAGE_SIZE = 100;
/** Maximum number of pages to read from one list; a search for an address finds all addresses that contain it. */
export const PAGES_MAX = 50;

interface Answer extends AdminResponse {
  operation: string;
}

/** The requests of one provisioner call; the signal ends all of them. Every method @throws ProvisionerError */
export class LitellmApi {
  constructor(
    private readonly gateway: { request: AdminRequest; adminKey: Secret },
    private readonly signal: AbortSignal,
  ) {}

  /** @returns every user whose address contains this one, in any case */
  async users(email: string): Promise<UpstreamUser[]> {
    return await this.#pages(async (page) => {
      const query = { user_email: email, page, page_size: PAGE_SIZE };
      const { users: items, total_pages } = this.#read(await this.#get("/user/list", query), UserList);
      return { items, pages: total_pages };
    });
  }

  async keys(userId: string): Promise<ListedKey[]> {
    return await this.#pages(async (page) => {
      const query = { user_id: userId, return_full_object: true, page, size: PAGE_SIZE };
      const { keys: items, total_pages } = this.#read(await this.#get("/key/list", query), KeyList);
      return { items, pages: total_pages };
    });
  }

  /** @throws also `credential_invalid` for a key that does not exist */
  async key(id: string): Promise<KeyInfo> {
    const response = await this.#get("/key/info", { key: id });
    if (response.status === 404) throw unknownKey();
    return this.#read(response, KeyInfo);
  }

  /**
   * A 404 means that the key is gone, whatever its text says: LiteLLM 1.74 answers "Team not found" for an unknown key.
   * @throws also `credential_invalid` for a key that does not exist
   */
  async update(id: string, changes: JsonObject): Promise<UpdatedKey> {
    const response = await this.#post("/key/update", { key: id, ...changes });
    if (response.status === 404) throw unknownKey();
    return this.#read(response, UpdatedKey);
  }

  /** @returns the new key, or undefined if another key has its alias */
  async make(wanted: JsonObject): Promise<CreatedKey | undefined> {
    const response = await this.#post("/key/generate", wanted);
    return isAliasTaken(response) ? undefined : this.#read(response, CreatedKey);
  }

  /** A key that does not exist is a success. */
  async remove(id: string): Promise<void> {
    const response = await this.#post("/key/delete", { keys: [id] });
    if (response.status !== 404) this.#read(response, Type.Object({}));
  }

  /** @returns the models in the provisioners' format; model-listing.ts checks the list */
  async models(): Promise<unknown[]> {
    const message = { method: "GET", path: "/v1/models", headers: {}, bytesMax: LISTING_BYTES_MAX } as const;
    return this.#read(await this.#send("/v1/models", message), ModelList).data.map(toWrittenModel);
  }

  async #pages<T>(
    read: (page: number) => Promise<{ items: T[]; pages: number | null | undefined }>,
  ): Promise<T[]> {
    const all: T[] = [];
    for (let page = 1; page <= PAGES_MAX; page += 1) {
      const { items, pages } = await read(page);
      all.push(...items);
      const isLast = pages == null ? items.length < PAGE_SIZE : page >= pages;
      if (isLast || items.length === 0) return all;
    }
    throw new ProvisionerError("rejected", `the gateway lists more than ${PAGES_MAX} pages of ${PAGE_SIZE}`);
  }

  #get(path: string, query: Record<string, string | number | boolean>): Promise<Answer> {
    const entries = Object.entries(query).map(([name, value]) => [name, String(value)]);
    return this.#send(path, { method: "GET", path: `${path}?${new URLSearchParams(entries)}`, headers: {} });
  }

  #post(path: string, body: JsonObject): Promise<Answer> {
    const headers = { "content-type": "application/json" };
    return this.#send(path, { method: "POST", path, headers, body: JSON.stringify(body) });
  }

  async #send(name: string, message: AdminMessage): Promise<Answer> {
    const { request, adminKey } = this.gateway;
    const authorization = `Bearer ${adminKey.reveal()}`;
    const headers = { ...message.headers, accept: "application/json", authorization };
    const operation = `${message.method} ${name}`;
    try {
      return { operation, ...(await request({ ...message, headers }, this.signal)) };
    } catch (thrown) {
      if (thrown instanceof ProvisionerError) throw thrown;
      const why = this.signal.aborted
        ? "there was no response within the time limit of one call"
        : causesOf(thrown);
      throw this.#failure("unavailable", `${operation}: ${why}`, thrown);
    }
  }

  /** @returns the body of a success */
  #read<T extends TSchema>({ operation, status, text }: Answer, schema: T): Static<T> {
    const body = parseJson(text);
    if (status < 200 || status > 299) {
      const said = sentenceOf(body);
      const problem = `${operation} answered HTTP ${status}${said === undefined ? "" : `: ${said}`}`;
      if (status === 401) throw this.#failure("invalid_config", `the admin key is refused: ${problem}`);
      if (status === 403) throw this.#failure("invalid_config", `the admin key may not do this: ${problem}`);
      throw this.#failure(isOutage(status) ? "unavailable" : "rejected", problem);
    }
    if (Value.Check(schema, body)) return body;
    const [first] = Value.Errors(schema, body);
    const wrong = body === undefined ? "that is not JSON" : `with a wrong ${first?.path || "shape"}`;
    throw this.#failure("rejected", `${operation} answered HTTP ${status} ${wrong}`);
  }

  #failure(code: "invalid_config" | "unavailable" | "rejected", text: string, cause?: unknown) {
    const known = text.replaceAll(this.gateway.adminKey.reveal(), "[secret]");
    return new ProvisionerError(code, toDiagnosis(known), { cause });
  }
}

/** The other members do not describe the model, or change over time. */
const toWrittenModel = ({ id, display_name: name, metadata }: Static<typeof ModelList>["data"][number]) => ({
  id,
  ...(typeof name === "string" && { display_name: name }),
  ...(isJsonObject(metadata) && { metadata }),
});

const unknownKey = (): ProvisionerError =>
  new ProvisionerError("credential_invalid", "the gateway does not know the key");

const isOutage = (status: number): boolean => status >= 500 || status === 408 || status === 429;

/** Aliases are unique among all keys of a gateway, including those that the list of a user does not show. */
const isAliasTaken = ({ status, text }: AdminResponse): boolean =>
  (status === 400 || status === 409) && /alias.*already exists/i.test(sentenceOf(parseJson(text)) ?? "");

/** @returns the outbound error, with its cause */
function causesOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  return thrown.cause === undefined ? thrown.message : `${thrown.message} (${causesOf(thrown.cause)})`;
}
