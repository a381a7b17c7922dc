// Sends the requests of one inspection to the host of its connection. The credential goes to the exact origin of the API and nowhere
// else. Only archives may redirect, to origins that are listed for the connection; every other address is made here.
import { DomainError } from "../../../../platform/errors.ts";
import type { Outbound } from "../../../../platform/outbound/outbound.ts";
import { type Connection, destinationsOfConnection } from "../connection.ts";
import { rateLimited, sourceFault } from "../faults.ts";
import type { AppTokens } from "./app-tokens.ts";
import type { Ask } from "./host.ts";

/** For all requests of one inspection together. */
export const INSPECTION_MS_MAX = 60_000;
export const REDIRECTS_MAX = 5;
/** Of an answer that is not an archive. */
export const ANSWER_BYTES_MAX = 1024 ** 2;

export interface RequestsDependencies {
  outbound: Pick<Outbound, "fetch">;
  tokens: AppTokens;
}

interface Target {
  destination: string;
  url: string;
  /** whether it is the origin that the credential is for */
  isOwn: boolean;
}

type Headers = Readonly<Record<string, string>>;

export class HostRequests implements Ask {
  readonly #destinations;

  constructor(
    private readonly own: RequestsDependencies,
    private readonly connection: Connection,
    private readonly bounds: { repository: string; signal: AbortSignal },
  ) {
    this.#destinations = destinationsOfConnection(connection);
  }

  /** Asks for anything, without the credential. @returns the `Date` of the answer @throws DomainError `source.*` */
  async probe(): Promise<{ date: string | undefined }> {
    const { status, headers, body } = await this.#send({ ...this.#target("/"), isOwn: false }, {});
    await body?.cancel();
    if (status >= 500) throw sourceFault("host_down");
    return { date: headers.get("date") ?? undefined };
  }

  async json(path: string, headers: Headers = {}): Promise<unknown> {
    const text = await this.text(path, { accept: "application/json", ...headers });
    if (text === undefined) return undefined;
    try {
      return JSON.parse(text);
    } catch {
      throw sourceFault("bad_answer"); // the parser's message would repeat the text
    }
  }

  async text(path: string, headers: Headers = {}): Promise<string | undefined> {
    const response = await this.#authorized(this.#target(path), headers);
    if (isMissing(response.status)) {
      await response.body?.cancel();
      return undefined;
    }
    if (isRedirect(response.status)) throw await this.#movedFault(response);
    await refuseUnfit(response);
    return await this.#bounded(() => bodyText(response));
  }

  /** @returns the answer with an archive, after its redirects; undefined if there is none */
  async archive(path: string): Promise<Response | undefined> {
    let target = this.#target(path);
    for (let redirects = 0; ; redirects += 1) {
      const response = await this.#authorized(target, { "accept-encoding": "identity" });
      if (isMissing(response.status)) {
        await response.body?.cancel();
        return undefined;
      }
      if (!isRedirect(response.status)) {
        await refuseUnfit(response);
        return response;
      }
      await response.body?.cancel();
      if (redirects >= REDIRECTS_MAX) throw sourceFault("redirect_refused");
      target = this.#redirected(response, target);
    }
  }

  /** Passes the pieces of a body on. @throws DomainError `source.host_down`, `source.too_slow` */
  async *pieces({ body }: Response): AsyncGenerator<Uint8Array> {
    if (!body) return;
    try {
      yield* body;
    } catch (error) {
      throw this.#networkFault(error);
    }
  }

  /** A token of an app that the host does not take anymore is renewed once. */
  async #authorized(target: Target, headers: Headers): Promise<Response> {
    const response = await this.#send(target, headers);
    if (response.status !== 401 || !target.isOwn || this.connection.credential().kind !== "app")
      return response;
    await response.body?.cancel();
    this.own.tokens.drop(this.connection, this.bounds.repository);
    return await this.#send(target, headers);
  }

  async #send({ destination, url, isOwn }: Target, headers: Headers): Promise<Response> {
    const authorization = isOwn ? await this.#credential() : {};
    return await this.#bounded(async () => {
      return await this.own.outbound.fetch(destination, url, {
        headers: { "user-agent": "quartermaster", ...headers, ...authorization },
        timeoutMs: INSPECTION_MS_MAX,
        signal: this.bounds.signal,
        tls: { ca: this.connection.ca },
        decompress: false,
        redirect: "answered",
      });
    });
  }

  async #credential(): Promise<Record<string, string>> {
    const { provider, credential } = this.connection;
    const given = credential();
    if (given.kind === "app") {
      const token = await this.own.tokens.tokenFor(this.connection, given, this.bounds);
      return { authorization: `Bearer ${token.reveal()}` };
    }
    const token = given.token.reveal();
    if (provider === "gitlab") return { "private-token": token };
    return { authorization: `${provider === "gitea" ? "token" : "Bearer"} ${token}` };
  }

  #target(path: string): Target {
    const [{ name = "" } = {}] = this.#destinations;
    return { destination: name, url: `${this.connection.apiBase}${path}`, isOwn: true };
  }

  /** @throws DomainError `source.redirect_refused` */
  #redirected(response: Response, from: Target): Target {
    const url = URL.parse(response.headers.get("location") ?? "", from.url);
    const found = url && this.#destinations.findIndex(({ origin }) => origin === url.origin);
    const destination = this.#destinations[found ?? -1];
    if (!url || !destination || url.username !== "" || url.password !== "")
      throw sourceFault("redirect_refused");
    return { destination: destination.name, url: url.href, isOwn: found === 0 };
  }

  /** An API that redirects within its own origin has the repository under another name. */
  async #movedFault(response: Response): Promise<DomainError> {
    await response.body?.cancel();
    const { origin } = new URL(this.connection.apiBase);
    const url = URL.parse(response.headers.get("location") ?? "", this.connection.apiBase);
    return sourceFault(url?.origin === origin ? "renamed" : "redirect_refused");
  }

  async #bounded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw this.#networkFault(error);
    }
  }

  #networkFault(error: unknown): unknown {
    if (this.bounds.signal.aborted) return sourceFault("too_slow");
    if (!(error instanceof DomainError)) return sourceFault("host_down", error);
    if (error.reason !== "outbound.failed") return error;
    const code = codeIn(error.cause);
    return sourceFault(CERTIFICATE_FAULT.test(code) ? "tls_untrusted" : "host_down", error.cause);
  }
}

const CERTIFICATE_FAULT = /CERT|VERIFY|SIGNATURE|TLS/;
const codeIn = (cause: unknown): string =>
  cause instanceof Error && "code" in cause ? String(cause.code) : "";

const isRedirect = (status: number): boolean => status >= 300 && status < 400;

/** 409 is an empty repository, 422 a name that is no commit (GitHub). */
const isMissing = (status: number): boolean => status === 404 || status === 409 || status === 422;

/** @throws DomainError `source.*` unless the status is 200 */
async function refuseUnfit(response: Response): Promise<void> {
  const { status, headers } = response;
  if (status === 200) return;
  await response.body?.cancel();
  if (status === 429 || (status === 403 && isLimited(headers))) throw rateLimited(waitIn(headers));
  if (status === 401 || status === 403) throw sourceFault("credential_refused");
  throw sourceFault(status >= 500 ? "host_down" : "bad_answer");
}

const isLimited = (headers: globalThis.Headers): boolean =>
  headers.has("retry-after") || headers.get("x-ratelimit-remaining") === "0";

/** @returns seconds; undefined unless the host says a number */
function waitIn(headers: globalThis.Headers): number | undefined {
  const seconds = Number(headers.get("retry-after") ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds : undefined;
}

async function bodyText({ body }: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body ?? []) {
    bytes += piece.byteLength;
    if (bytes > ANSWER_BYTES_MAX) throw sourceFault("bad_answer");
    parts.push(piece);
  }
  return Buffer.concat(parts).toString("utf8");
}
