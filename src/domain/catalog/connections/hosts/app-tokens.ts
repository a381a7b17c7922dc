// Installation tokens of a GitHub App: each is limited to one repository and to reading its contents. They are kept in memory only.
import { createPrivateKey } from "node:crypto";
import { Type } from "@sinclair/typebox";
import { importPKCS8, SignJWT } from "jose";
import { LRUCache } from "lru-cache";
import { type Clock, MINUTE_MS, SECOND_MS } from "../../../../platform/clock.ts";
import { sha256Hex } from "../../../../platform/ids.ts";
import { discardBody } from "../../../../platform/outbound/discard-body.ts";
import type { Outbound, OutboundRequest } from "../../../../platform/outbound/outbound.ts";
import { Secret } from "../../../../platform/secret.ts";
import { type Connection, type Credential, destinationsOfConnection } from "../connection.ts";
import { sourceFault } from "../errors.ts";
import { encodedParts, requireShape, timeIn } from "./host.ts";
import {
  bodyText,
  isMissing,
  networkFault,
  parsedResponse,
  refuseRedirect,
  requireStatus,
} from "./responses.ts";

/** How long before its end a token is renewed. */
const RENEWED_BEFORE_MS = MINUTE_MS;
/** Allows for clocks that differ. */
const ISSUED_BEFORE_SECONDS = 60;
const VALID_SECONDS = 540;
const TIME_LIMIT_MS = 30 * SECOND_MS;
const TOKENS_MAX = 1_000;

const Installation = Type.Object({ id: Type.Integer() });
const Created = Type.Object({ token: Type.String({ minLength: 1 }), expires_at: Type.String() });

type AppCredential = Extract<Credential, { kind: "app" }>;

interface Kept {
  token: Secret;
  expiresAtMs: number;
}

export interface AppTokensDependencies {
  outbound: Pick<Outbound, "fetch">;
  clock: Clock;
}

export class AppTokens {
  readonly #kept = new LRUCache<string, Kept>({ max: TOKENS_MAX });
  readonly #running = new Map<string, Promise<Secret>>();

  constructor(private readonly dependencies: AppTokensDependencies) {}

  /**
   * @returns a token for the repository; callers at the same time share one request
   * @throws DomainError `source.*`
   */
  async tokenFor(
    connection: Connection,
    credential: AppCredential,
    { repository, signal }: { repository: string; signal: AbortSignal },
  ): Promise<Secret> {
    const key = keyOf(connection, credential, repository);
    const kept = this.#kept.get(key);
    if (kept && this.dependencies.clock.nowMs() < kept.expiresAtMs - RENEWED_BEFORE_MS) return kept.token;
    const running =
      this.#running.get(key) ??
      this.#mint(connection, credential, { repository, signal }).finally(() => this.#running.delete(key));
    this.#running.set(key, running);
    return await running;
  }

  /** Forgets a token that the host refused. */
  drop(connection: Connection, credential: AppCredential, repository: string): void {
    this.#kept.delete(keyOf(connection, credential, repository));
  }

  /** @returns seconds until the last token of a connection ends; undefined without one */
  expiresInSeconds(connectionId: string): number | undefined {
    const ends = [...this.#kept]
      .filter(([key]) => key.startsWith(`${connectionId} `))
      .map(([, { expiresAtMs }]) => expiresAtMs);
    return ends.length === 0 ? undefined : (Math.max(...ends) - this.dependencies.clock.nowMs()) / SECOND_MS;
  }

  async #mint(
    connection: Connection,
    credential: AppCredential,
    { repository, signal }: { repository: string; signal: AbortSignal },
  ): Promise<Secret> {
    const authorization = `Bearer ${await this.#signed(credential)}`;
    const ask = (path: string, request: Partial<OutboundRequest> = {}) =>
      this.#ask(connection, path, { ...request, signal, headers: { authorization } });
    const installation = requireShape(
      Installation,
      await ask(`/repos/${encodedParts(repository)}/installation`),
    );
    if (!installation) throw sourceFault("repository_not_found");
    const [, name] = repository.split("/");
    const limits = { repositories: [name], permissions: { contents: "read" } };
    const created = requireShape(
      Created,
      await ask(`/app/installations/${installation.id}/access_tokens`, {
        method: "POST",
        body: JSON.stringify(limits),
      }),
    );
    if (!created) throw sourceFault("repository_not_found");
    const token = new Secret(created.token);
    const expiresAtMs = timeIn(created.expires_at) ?? 0;
    this.#kept.set(keyOf(connection, credential, repository), { token, expiresAtMs });
    return token;
  }

  /** @source docs.github.com, "Generating a JSON Web Token (JWT) for a GitHub App" */
  async #signed({ appId, key }: AppCredential): Promise<string> {
    const nowSeconds = Math.floor(this.dependencies.clock.nowMs() / SECOND_MS);
    const signing = await signingKey(key);
    return await new SignJWT()
      .setProtectedHeader({ alg: "RS256", typ: "JWT" })
      .setIssuer(appId)
      .setIssuedAt(nowSeconds - ISSUED_BEFORE_SECONDS)
      .setExpirationTime(nowSeconds + VALID_SECONDS)
      .sign(signing);
  }

  async #ask(
    connection: Connection,
    path: string,
    { headers, ...request }: Partial<OutboundRequest> & { signal: AbortSignal },
  ): Promise<unknown> {
    const [{ name = "" } = {}] = destinationsOfConnection(connection);
    try {
      const response = await this.dependencies.outbound.fetch(name, path, {
        ...request,
        headers: { accept: "application/vnd.github+json", "user-agent": "quartermaster", ...headers },
        timeoutMs: TIME_LIMIT_MS,
        tls: { ca: connection.ca },
        redirect: "answered",
      });
      await refuseRedirect(response, connection.apiBase);
      if (isMissing(response.status)) {
        await discardBody(response);
        return undefined;
      }
      await requireStatus(response, request.method === "POST" ? 201 : 200);
      return parsedResponse(await bodyText(response));
    } catch (error) {
      throw networkFault(error, request.signal);
    }
  }
}

/** If a reload changes the host or app of a connection, tokens of the former one are no longer used. */
const keyOf = (
  { id, apiBase }: Pick<Connection, "id" | "apiBase">,
  { appId, key }: AppCredential,
  repository: string,
): string => `${id} ${apiBase} ${appId} ${sha256Hex(key.reveal())} ${repository.toLowerCase()}`;

/** GitHub issues keys in PKCS #1, which the signing library cannot read. */
async function signingKey(pem: Secret) {
  try {
    const key = createPrivateKey(pem.reveal()).export({ type: "pkcs8", format: "pem" });
    return await importPKCS8(key.toString(), "RS256");
  } catch {
    throw sourceFault("key_unusable"); // the error of the library may repeat the key
  }
}

/** @returns whether the text is an RSA key in PEM */
export function isAppKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === "rsa";
  } catch {
    return false;
  }
}
