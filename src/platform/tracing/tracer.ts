// Decides which requests are traced, and creates their spans. Only this file uses the OpenTelemetry library; everything else
// uses the types of this file. A tracer exists only while tracing is on, so that tracing costs nothing while it is off.
import { AsyncLocalStorage } from "node:async_hooks";
import {
  type Attributes,
  type Span as LibrarySpan,
  type Tracer as LibraryTracer,
  type Link,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from "@opentelemetry/api";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { AlwaysOnSampler, type SpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { type TraceContext, traceContextIn } from "./trace-context.ts";

/** Attributes of a span, which leave the machine: no secrets, no personal data, no addresses and no queries. */
export type SpanFacts = Readonly<Record<string, string | number | boolean>>;

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL } as const;
export type Kind = keyof typeof KINDS;

/** Receives spans that have ended. */
export interface TraceProcessor extends SpanProcessor {
  /** @returns whether there is room for a new trace; otherwise the trace is dropped and counted */
  accepts(): boolean;
}

export interface TracerOptions {
  /** share of the requests that become traces, 0 to 1 */
  sampleRatio: number;
  /** whether a caller's header continues its trace and decides about sampling */
  trustsCallers: boolean;
  processor: TraceProcessor;
  /** attributes of this service and process */
  resource: SpanFacts;
  version: string;
  /** a number from 0 to less than 1; the machine's if omitted */
  random?: () => number;
}

export class Tracer {
  readonly #library: LibraryTracer;
  readonly #active = new AsyncLocalStorage<Span | undefined>();
  readonly #random: () => number;

  constructor(private readonly options: TracerOptions) {
    const { processor, resource, version, random = Math.random } = options;
    const provider = new TracerProvider({
      sampler: new AlwaysOnSampler(), // what is not sampled never becomes a span
      resource: resourceFromAttributes(resource),
      spanProcessors: [processor],
    });
    this.#library = provider.getTracer("quartermaster", version);
    this.#random = random;
  }

  /**
   * Decides whether a request is traced before the request is read. An untrusted caller does not decide that or choose the trace
   * id: the new trace only links to the caller's trace.
   * @returns undefined for most requests
   */
  begin<Of extends { readonly headers: Headers }>(
    request: Of,
    nameOf: (request: Of) => string,
  ): Span | undefined {
    if (!this.options.trustsCallers) {
      if (!this.#isSampled() || !this.options.processor.accepts()) return undefined;
      const caller = traceContextIn(request.headers);
      const links = caller ? [{ context: libraryContext(caller) }] : [];
      return this.#root(nameOf(request), "server", { links });
    }
    const parent = traceContextIn(request.headers);
    if (!(parent ? parent.isSampled : this.#isSampled()) || !this.options.processor.accepts())
      return undefined;
    return this.#root(nameOf(request), "server", { parent });
  }

  /** @returns the span of the current work; undefined if it is not traced */
  active(): Span | undefined {
    return this.#active.getStore();
  }

  /** Runs work, and everything that it awaits, as part of the span. */
  within<T>(span: Span | undefined, work: () => T): T {
    return this.#active.run(span, work);
  }

  /** Adds a span for work that has just ended: to the current trace, or else to a new trace if it is sampled. */
  record(name: string, { kind, durationMs, facts, failure }: Past): void {
    const startMs = Date.now() - durationMs;
    const active = this.active();
    const span = active
      ? active.child(name, kind, startMs)
      : this.#isSampled() && this.options.processor.accepts()
        ? this.#root(name, kind, { startMs })
        : undefined;
    span?.set(facts);
    span?.end(failure);
  }

  #isSampled(): boolean {
    return this.#random() < this.options.sampleRatio;
  }

  #root(
    name: string,
    kind: Kind,
    { parent, links = [], startMs }: { parent?: TraceContext | undefined; links?: Link[]; startMs?: number },
  ): Span {
    const context = parent ? trace.setSpanContext(ROOT_CONTEXT, libraryContext(parent)) : ROOT_CONTEXT;
    const startTime = startMs === undefined ? {} : { startTime: startMs };
    return new Span(
      this.#library,
      this.#library.startSpan(name, { kind: KINDS[kind], links, ...startTime }, context),
    );
  }
}

/** Finished work. */
export interface Past {
  kind: Kind;
  durationMs: number;
  facts: SpanFacts;
  /** stable name of the failure; undefined if it succeeded */
  failure?: string | undefined;
}

export class Span {
  /** whether it continues after the response headers, until forwarding of the inference ends it */
  isHeld = false;

  constructor(
    private readonly library: LibraryTracer,
    private readonly span: LibrarySpan,
  ) {}

  get context(): TraceContext {
    const { traceId, spanId } = this.span.spanContext();
    return { traceId, spanId, isSampled: true };
  }

  /** @param startMs UTC milliseconds; now if omitted */
  child(name: string, kind: Kind, startMs?: number): Span {
    const startTime = startMs === undefined ? {} : { startTime: startMs };
    const parent = trace.setSpan(ROOT_CONTEXT, this.span);
    return new Span(this.library, this.library.startSpan(name, { kind: KINDS[kind], ...startTime }, parent));
  }

  rename(name: string): void {
    this.span.updateName(name);
  }

  set(facts: SpanFacts): void {
    const attributes: Attributes = facts;
    this.span.setAttributes(attributes);
  }

  /** @param failure stable name, never a message */
  end(failure?: string): void {
    if (failure !== undefined) {
      this.span.setAttribute("error.type", failure);
      this.span.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.span.end();
  }
}

const libraryContext = ({ traceId, spanId, isSampled }: TraceContext) => ({
  traceId,
  spanId,
  isRemote: true,
  traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
});
