// Forwards an admitted request and passes the response on. Requests are sent once, except that a request whose key the
// upstream rejected is sent again with the user's new key. Every call ends exactly once, whichever side ends it.
import type { UsableKey } from "../../../domain/gateway/service.ts";
import { ResponseEnds } from "../../../domain/inference/bodies/response-ends.ts";
import type { Outcome } from "../../../domain/inference/log/record.ts";
import type { ProxySettings } from "../../../domain/inference/settings.ts";
import { type Upstream, UpstreamError } from "../../../platform/outbound/upstream.ts";
import type { Call } from "../call.ts";
import { type RefusalReason, refusal, statusOf } from "../refusals.ts";
import { type ErrorResponseOptions, isReadFirst, readErrorResponse } from "./error-response.ts";
import type { OpenCall } from "./open-call.ts";
import type { OpenCalls } from "./open-calls.ts";
import { firstPieceOf, type Piece, pump, type ResponseReader } from "./pump.ts";
import { type BodyOptions, type TakenBody, takeBody } from "./request-body.ts";
import { addCredential, createRequestHeaders } from "./request-headers.ts";
import { isPlain, isPlainEventStream, responseHeaders, tellKey } from "./response-headers.ts";
import { costIn } from "./row.ts";
import { unframedEndOf } from "./unframed-end.ts";

export interface ForwarderOptions extends ErrorResponseOptions, BodyOptions {
  settings: ProxySettings;
  upstream: Pick<Upstream, "send">;
  calls: Pick<OpenCalls, "open" | "releaseBody">;
  /** models that the organization has assigned; undefined if it has assigned none, which allows all */
  allowedModels(): ReadonlySet<string> | undefined;
  /** counts a response of this service, not of the upstream */
  refused(reason: RefusalReason): void;
  /** called for an error that no step expected */
  report(error: unknown, requestId: string): void;
}

/** A request for the upstream. */
interface Sent {
  headers: Record<string, string>;
  body: TakenBody;
  key: UsableKey;
}

/** What is known of a request when its response is passed on. */
interface Answered {
  /** the key that was sent */
  key: UsableKey;
  /** replaces the reader of a response that was read before */
  reader?: ResponseReader;
}

/** Statuses without a body, even if the upstream sends one. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);
/** Never sent. */
const CLIENT_GONE_STATUS = 499;

export class Forwarder {
  readonly #headersFor: ReturnType<typeof createRequestHeaders>;

  constructor(private readonly options: ForwarderOptions) {
    this.#headersFor = createRequestHeaders(options.settings);
  }

  /** Never rejects; releases the permits of the call when its response has ended. */
  readonly forward = async (call: Call): Promise<Response> => {
    const open = this.options.calls.open(call);
    try {
      const taken = takeBody(open, this.options);
      const body = taken instanceof Promise ? await taken : taken; // saves most requests a promise turn
      const refused = this.#checkModel(open, body);
      if (refused) return this.#refuse(open, refused);
      const headers = this.#headersFor(call.request.headers, call.admitted);
      if (body.length !== undefined) headers["content-length"] = body.length;
      const sent = { headers, body, key: call.admitted };
      const response = await this.#send(open, sent);
      open.headArrived(response.status);
      const answer = isReadFirst(response)
        ? this.#answerError(open, response, { sent, isSecond: false })
        : this.#answer(open, response, sent);
      return answer instanceof Promise ? await answer : answer;
    } catch (error) {
      return this.#failed(open, error);
    }
  };

  /** Sends the request again, once, if the upstream rejected its key and the user has another one in time. */
  async #answerError(
    open: OpenCall,
    response: Response,
    { sent, isSecond }: { sent: Sent; isSecond: boolean },
  ): Promise<Response> {
    const { key } = sent;
    if (response.status !== 401) this.options.calls.releaseBody(open); // it is never sent again
    const found = await readErrorResponse(open, response, { ...this.options, key });
    if ("reader" in found) return await this.#answer(open, response, { key, reader: found.reader });
    if ("tellsKey" in found) return this.#refuse(open, "inference.upstream_bad_head");
    if (isSecond || !found.replacement || !sent.body.isWhole)
      return this.#refuse(open, "inference.key_recovering");
    this.options.figures.replayed();
    const again = { ...sent, key: found.replacement };
    const second = await this.#send(open, again);
    open.headArrived(second.status);
    return isReadFirst(second)
      ? await this.#answerError(open, second, { sent: again, isSecond: true })
      : await this.#answer(open, second, again);
  }

  /** Only the check on models needs the body. @returns why the request is refused */
  #checkModel(open: OpenCall, { scanner }: TakenBody): RefusalReason | undefined {
    const { modelPolicy } = this.options.settings;
    if (modelPolicy === "off" || !scanner) return undefined;
    const allowed = this.options.allowedModels();
    if (!allowed) return undefined;
    const isReadable =
      scanner.model !== undefined && !scanner.isUnreadable && !canNameAnotherModel(open.call.request);
    const reason = isReadable ? "inference.model_not_allowed" : "inference.model_unreadable";
    if (isReadable && allowed.has(scanner.model ?? "")) return undefined;
    if (modelPolicy === "refuse") return reason;
    open.refusal = "would_refuse";
    return undefined;
  }

  #send(open: OpenCall, { headers, body, key }: Sent): Promise<Response> {
    const { request, entry } = open.call;
    open.sent();
    addCredential(headers, this.options.settings, key);
    return this.options.upstream.send(entry.path + queryOf(request.url), {
      method: request.method,
      headers,
      body: body.content,
      signal: open.controller.signal,
    });
  }

  #answer(
    open: OpenCall,
    response: Response,
    { key, reader: given }: Answered,
  ): Response | Promise<Response> {
    const { status, headers } = response;
    this.options.calls.releaseBody(open);
    const problem = headProblem(response);
    if (problem) return this.#refuse(open, problem);
    const { requestId } = open.call;
    const isEventStream = isPlainEventStream(headers);
    const init = { status, headers: responseHeaders(headers, { requestId, isEventStream }) };
    if (tellKey(init.headers, key)) return this.#refuse(open, "inference.upstream_bad_head");
    open.isEventStream = isEventStream;
    open.unframedEnd = unframedEndOf(headers, open.call.entry.dialect);
    open.upstreamCost = costIn(headers);
    if (isPlain(headers)) open.ends = new ResponseEnds();
    const reader = given ?? response.body?.getReader();
    if (!reader || BODILESS.has(status)) {
      open.finish("complete");
      return new Response(null, init);
    }
    // The runtime sends no head before the first byte. Waiting for that byte costs nothing, and an earlier failure can
    // still set the status.
    const wholeBytes = Number(headers.get("content-length") ?? Number.NaN);
    const reading = reader.read();
    const passOn = (first: Piece | undefined): Response => {
      const isWhole = first?.done || first?.value?.length === wholeBytes;
      if (!isWhole) return new Response(pump(open, reader, { first, reading }), init);
      if (open.isCutShort()) return this.#refuse(open, "inference.upstream_reset", "upstream_closed");
      if (first.value) open.passed(first.value);
      open.finish("complete");
      return new Response(first.value ?? null, init);
    };
    const first = firstPieceOf(open, reading);
    return first instanceof Promise ? first.then(passOn) : passOn(first);
  }

  #failed(open: OpenCall, error: unknown): Response {
    const { stopped } = open;
    if (stopped) return stopped.reason ? this.#refuse(open, stopped.reason, stopped.outcome) : gone(open);
    if (error instanceof UpstreamError)
      return this.#refuse(open, `inference.upstream_${error.fault}`, "upstream_closed");
    if (open.phase === "answer") return this.#refuse(open, "inference.upstream_reset", "upstream_closed");
    if (open.call.request.signal.aborted) return gone(open); // its body ended before the reason arrived
    this.options.report(error, open.call.requestId);
    return this.#refuse(open, "inference.failed");
  }

  /** Answers in place of the upstream, whose request is aborted. */
  #refuse(open: OpenCall, reason: RefusalReason, outcome: Outcome = "refused"): Response {
    open.controller.abort();
    open.refusal = reason;
    open.ownStatus = statusOf(reason);
    this.options.refused(reason);
    open.finish(outcome);
    return refusal(reason, open.call.entry.dialect, open.call.requestId);
  }
}

function gone(open: OpenCall): Response {
  open.finish("client_closed");
  return new Response(null, { status: CLIENT_GONE_STATUS });
}

/** @returns why a head cannot be passed on */
function headProblem({ status, headers }: Response): RefusalReason | undefined {
  if (status < 200 || status > 599) return "inference.upstream_bad_head";
  return status >= 300 && status < 400 && headers.has("location") ? "inference.upstream_redirect" : undefined;
}

/**
 * LiteLLM prefers `model` of the query to `model` of the body, and reads a body as a form if its media type is a form.
 * @returns whether the upstream may find a model that is not the one in the JSON body
 */
function canNameAnotherModel({ url, headers }: Request): boolean {
  const isForm = headers.get("content-type")?.toLowerCase().includes("form") ?? false;
  return isForm || new URLSearchParams(queryOf(url)).has("model");
}

/**
 * @returns the query with its question mark, empty without one. Percent sequences are as they were sent. The runtime has encoded other
 *   characters that a URL may not contain, and replaced bytes that are not UTF-8 (RFC 9112 section 3.2 allows neither).
 */
function queryOf(url: string): string {
  const at = url.indexOf("?");
  return at < 0 ? "" : url.slice(at);
}
