// Answers the requests of agents before the framework: no routing table, body parser or hook runs for them. It handles HTTP only:
// src/domain/inference/admission decides who may send, and forward.ts sends.
import type {
  Admission,
  AdmissionReason,
  Applicant,
  Refused,
} from "../../domain/inference/admission/admission.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Ids } from "../../platform/ids.ts";
import { BODY_TIMES, endBody } from "../http/bodies/body-end.ts";
import { hasReadableHost } from "../http/request-target.ts";
import type { AddressOf } from "../server.ts";
import type { Forward } from "./call.ts";
import { declaredBytes } from "./declared-bytes.ts";
import { createPaths, type Dialect, dialectOf, type Entry, type Listed, type Paths } from "./paths.ts";
import { type RefusalExtras, type RefusalReason, refusal, statusOf } from "./refusals.ts";

export interface InferenceHandlerOptions {
  admission: Admission;
  forward: Forward;
  /** path of the proxy on this listener; empty if the listener serves only the proxy */
  prefix: string;
  extraPaths: readonly string[];
  clock: Clock;
  ids: Ids;
  /** called for every refusal */
  observe(refused: ObservedRefusal): void;
  /** called for an error that no step expected; the caller gets a 500 with its request id */
  report(error: unknown, requestId: string): void;
}

/** A refusal, for metrics and the request log. */
export interface ObservedRefusal extends Partial<Pick<Refused, "claims" | "key">> {
  reason: RefusalReason;
  status: number;
  /** undefined for an unknown path */
  entry: Entry | undefined;
  request: Request;
  requestId: string;
  /** UTC milliseconds */
  arrivedAtMs: number;
}

type Socket = Bun.Server<undefined>;

/** One request while it is checked. */
class Arrival implements Applicant {
  entry: Entry | undefined;
  dialect: Dialect = "chat";
  readonly token: string | undefined;
  readonly declaredBytes: number | undefined;

  constructor(
    readonly request: Request,
    readonly requestId: string,
    readonly arrivedAtMs: number,
    private readonly addressOf: AddressOf,
  ) {
    this.token = credentialOf(request.headers);
    this.declaredBytes = declaredBytes(request.headers);
  }

  address(): string | null {
    return this.addressOf(this.request);
  }
}

export class InferenceHandler {
  readonly #paths: Paths;
  /** origin and prefix of the last URL that was parsed; nearly every request has the same ones */
  #base = "";
  #isStopping = false;

  constructor(private readonly options: InferenceHandlerOptions) {
    this.#paths = createPaths(options.extraPaths);
  }

  /** Refuses every request from now on; running requests continue. */
  stop(): void {
    this.#isStopping = true;
  }

  /** @returns whether the request is for the proxy. The prefix must match exactly; other spellings get a 404 elsewhere */
  answers({ url }: Request): boolean {
    const { prefix } = this.options;
    if (prefix === "") return true;
    const start = url.startsWith("/") ? 0 : url.indexOf("/", "https://".length);
    if (!url.startsWith(prefix, start)) return false;
    const next = url[start + prefix.length];
    return next === undefined || next === "/" || next === "?" || next === "#";
  }

  /** Never throws or rejects. */
  handle(request: Request, socket: Socket, addressOf: AddressOf): Response | Promise<Response> {
    const requestId = this.options.ids.uuid();
    try {
      const arrival = new Arrival(request, requestId, this.options.clock.nowMs(), addressOf);
      return this.#answer(arrival, socket);
    } catch (error) {
      this.options.report(error, requestId);
      return refusal("inference.failed", dialectOf(request.url), requestId);
    }
  }

  #answer(arrival: Arrival, server: Socket): Response | Promise<Response> {
    const { request, requestId, arrivedAtMs } = arrival;
    const listed = this.#listedIn(arrival);
    if (listed === "health") return this.#health(requestId);
    if (!hasReadableHost(request)) return this.#refuse(arrival, "inference.bad_host");
    if (!listed) return this.#refuse(arrival, "inference.no_such_path");
    if (isWebSocket(request)) return this.#refuse(arrival, "inference.no_upgrade");
    if (!listed.methods.includes(request.method))
      return this.#refuse(arrival, "inference.wrong_method", { allow: listed.methods.join(", ") });
    if (this.#isStopping) return this.#refuse(arrival, "service.stopping");
    const admitted = this.options.admission.admit(arrival);
    if ("refused" in admitted) return this.#refuseFor(arrival, admitted);
    const { dialect } = arrival;
    const entry = dialect === listed.entry.dialect ? listed.entry : { ...listed.entry, dialect };
    return this.options.forward({ request, server, entry, admitted, requestId, arrivedAtMs });
  }

  /** Records the entry of the path, and the API that determines the form of errors. */
  #listedIn(arrival: Arrival): Listed | "health" | undefined {
    const { request } = arrival;
    let listed = this.#fixedIn(request.url);
    if (!listed) {
      const path = this.#pathOf(request);
      if (path === "/health" && PROBES.has(request.method)) return "health";
      listed = path === undefined ? undefined : this.#paths.find(path);
      arrival.dialect = dialectOf(path ?? "");
    }
    if (!listed) return undefined;
    arrival.entry = listed.entry;
    arrival.dialect = dialectFor(request, listed.entry);
    return listed;
  }

  #fixedIn(url: string): Listed | undefined {
    if (this.#base === "" || !url.startsWith(this.#base)) return undefined;
    const end = url.indexOf("?", this.#base.length);
    return this.#paths.fixed(url.slice(this.#base.length, end < 0 ? undefined : end));
  }

  /** @returns the path below the prefix; undefined for a URL that cannot be read */
  #pathOf({ url }: Request): string | undefined {
    const { prefix } = this.options;
    const parsed = URL.parse(url, "http://localhost");
    if (parsed && url.startsWith(`${parsed.origin}${prefix}/`)) this.#base = parsed.origin + prefix;
    return parsed?.pathname.slice(prefix.length);
  }

  #health(requestId: string): Response {
    if (this.#isStopping) return refusal("service.stopping", "chat", requestId);
    return new Response("ok\n", {
      headers: { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" },
    });
  }

  #refuseFor(arrival: Arrival, { refused, retryAfterSeconds, claims, key }: Refused): Promise<Response> {
    const reason: AdmissionReason = refused;
    return this.#refuse(arrival, reason, {
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
      ...(claims && { claims }),
      ...(key && { key }),
    });
  }

  async #refuse(
    { request, requestId, arrivedAtMs, entry, dialect }: Arrival,
    reason: RefusalReason,
    { claims, key, ...extras }: RefusalExtras & Pick<ObservedRefusal, "claims" | "key"> = {},
  ): Promise<Response> {
    this.options.observe({
      reason,
      status: statusOf(reason),
      entry,
      request,
      requestId,
      arrivedAtMs,
      ...(claims && { claims }),
      ...(key && { key }),
    });
    const response = refusal(reason, dialect, requestId, extras);
    if (response.headers.get("connection") === "close") return response; // the rest of the body need not be read
    return await endBody(request, { isAdmitted: false, bodyTimes: BODY_TIMES }, response);
  }
}

/** Methods that load balancers use to check health. */
const PROBES = new Set(["GET", "HEAD"]);

/** Both APIs have `GET /models`; only Anthropic's clients send a version. */
const dialectFor = ({ headers }: Request, { route, dialect }: Entry): Dialect =>
  route.startsWith("/v1/models") && headers.has("anthropic-version") ? "messages" : dialect;

/** Another protocol may be ignored (RFC 9110 section 7.8); WebSockets cannot continue without a response. */
const isWebSocket = ({ headers }: Request): boolean =>
  headers.get("upgrade")?.toLowerCase().includes("websocket") ?? false;

const BEARER = /^bearer +(?=\S)/i;

/** @returns the bearer token, or else the API key; no other place is read */
function credentialOf(headers: Headers): string | undefined {
  const authorization = headers.get("authorization");
  const [scheme] = (authorization && BEARER.exec(authorization)) || [];
  return scheme === undefined ? headers.get("x-api-key") || undefined : authorization?.slice(scheme.length);
}
