// Sends the requests of one inspection to the host of its connection. The credential goes to the exact origin of the API and
// nowhere else. Only archives may redirect, to origins that are listed for the connection; all other URLs are built here.
import { discardBody } from "../../../../platform/outbound/discard-body.ts";
import type { Outbound } from "../../../../platform/outbound/outbound.ts";
import { type Connection, type Credential, destinationsOfConnection } from "../connection.ts";
import { sourceFault } from "../errors.ts";
import { basicOf, type CloneAccess, Clones } from "../git/clones.ts";
import type { AppTokens } from "./app-tokens.ts";
import type { Ask } from "./host.ts";
import {
  bodyText,
  isMissing,
  isRedirect,
  networkFault,
  parsedResponse,
  refuseRedirect,
  requireStatus,
} from "./responses.ts";

/** Time limit for all requests of one inspection together. */
export const INSPECTION_MS_MAX = 60_000;
export const REDIRECTS_MAX = 5;

export interface RequestsDependencies extends CloneAccess {
  outbound: Pick<Outbound, "fetch" | "connectionSettings">;
  tokens: AppTokens;
}

interface Target {
  destination: string;
  url: string;
  /** whether the credential may be sent to this origin */
  isOwn: boolean;
}

type Headers = Readonly<Record<string, string>>;

/** Without `accept-encoding`, a host may choose any content coding (RFC 9110 section 12.5.3). */
const FIXED_HEADERS: Headers = { "user-agent": "quartermaster", "accept-encoding": "identity" };

/** Content type of a git server's answer to a request for its refs (gitprotocol-http(5), "Smart Clients"). */
const REFS_SERVICE = "/info/refs?service=git-upload-pack";
const REFS_RESPONSE = "application/x-git-upload-pack-advertisement";

export class HostRequests implements Ask {
  /** functions that need the git program */
  readonly clones: Clones;
  readonly #destinations;
  #offered: Promise<boolean> | undefined;

  constructor(
    private readonly dependencies: RequestsDependencies,
    private readonly connection: Connection,
    private readonly bounds: { repository: string; signal: AbortSignal },
  ) {
    this.#destinations = destinationsOfConnection(connection);
    this.clones = new Clones(dependencies, connection, bounds);
  }

  /** Sends a request without the credential. @returns the `Date` of the response @throws DomainError `source.*` */
  async probe(): Promise<{ date: string | undefined }> {
    const response = await this.#send({ ...this.#target("/"), isOwn: false }, {});
    const { status, headers } = response;
    await discardBody(response);
    if (status >= 500) throw sourceFault("host_down");
    return { date: headers.get("date") ?? undefined };
  }

  async json(path: string, headers: Headers = {}): Promise<unknown> {
    const text = await this.text(path, { accept: "application/json", ...headers });
    return text === undefined ? undefined : parsedResponse(text);
  }

  async text(path: string, headers: Headers = {}): Promise<string | undefined> {
    const response = await this.#authorized(this.#target(path), headers);
    if (isMissing(response.status)) {
      await discardBody(response);
      return undefined;
    }
    await refuseRedirect(response, this.connection.apiBase);
    await requireStatus(response);
    return await this.#bounded(() => bodyText(response));
  }

  /** Sends one request, which finds problems with the host or the credential before git runs. */
  async offers(repository: string): Promise<boolean> {
    this.#offered ??= this.#readOffer(repository);
    return await this.#offered;
  }

  async refs(repository: string, names: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return (await this.offers(repository)) ? await this.clones.refs(repository, names) : new Map();
  }

  async #readOffer(repository: string): Promise<boolean> {
    const url = `${this.clones.urlOf(repository)}${REFS_SERVICE}`;
    const response = await this.#authorized({ ...this.#target(""), url }, { "git-protocol": "version=2" });
    await discardBody(response);
    if (isMissing(response.status)) return false;
    await refuseRedirect(response, this.connection.apiBase);
    await requireStatus(response);
    if (response.headers.get("content-type") !== REFS_RESPONSE) throw sourceFault("bad_answer");
    return true;
  }

  /** @returns the response with an archive, after redirects; undefined if there is none */
  async archive(path: string): Promise<Response | undefined> {
    let target = this.#target(path);
    for (let redirects = 0; ; redirects += 1) {
      const response = await this.#authorized(target, {});
      if (isMissing(response.status)) {
        await discardBody(response);
        return undefined;
      }
      if (!isRedirect(response.status)) {
        await requireStatus(response);
        return response;
      }
      await discardBody(response);
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
      throw networkFault(error, this.bounds.signal);
    }
  }

  /** Renews an app token once if the host refuses it. */
  async #authorized(target: Target, headers: Headers): Promise<Response> {
    const response = await this.#send(target, headers);
    const credential = this.connection.credential();
    if (response.status !== 401 || !target.isOwn || credential.kind !== "app") return response;
    await discardBody(response);
    this.dependencies.tokens.drop(this.connection, credential, this.bounds.repository);
    return await this.#send(target, headers);
  }

  async #send({ destination, url, isOwn }: Target, headers: Headers): Promise<Response> {
    const authorization = isOwn ? await this.#credential() : {};
    return await this.#bounded(async () => {
      return await this.dependencies.outbound.fetch(destination, url, {
        headers: { ...FIXED_HEADERS, ...headers, ...authorization },
        timeoutMs: INSPECTION_MS_MAX,
        signal: this.bounds.signal,
        tls: { ca: this.connection.ca },
        decompress: false,
        redirect: "answered",
      });
    });
  }

  async #credential(): Promise<Record<string, string>> {
    const given = this.connection.credential();
    if (given.kind !== "app") return headersOf(this.connection, given);
    const token = await this.dependencies.tokens.tokenFor(this.connection, given, this.bounds);
    return { authorization: `Bearer ${token.reveal()}` };
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

  async #bounded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw networkFault(error, this.bounds.signal);
    }
  }
}

function headersOf(
  { provider }: Pick<Connection, "provider">,
  credential: Exclude<Credential, { kind: "app" }>,
): Record<string, string> {
  if (credential.kind === "none") return {};
  if (credential.kind === "login") return { authorization: basicOf(credential) };
  const token = credential.token.reveal();
  if (provider === "gitlab") return { "private-token": token };
  return { authorization: `${provider === "gitea" ? "token" : "Bearer"} ${token}` };
}
