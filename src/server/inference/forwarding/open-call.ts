// One request between its admission and its last byte: its phase, the time of its last progress, and its end. Any early end aborts
// the upstream first. forward.ts advances it, timers.ts checks its limits, row.ts describes it.
import type { ResponseEnds } from "../../../domain/inference/bodies/response-ends.ts";
import type { Outcome } from "../../../domain/inference/log/record.ts";
import type { Call } from "../call.ts";
import type { RefusalReason } from "../refusals.ts";
import type { UnframedEnd } from "./unframed-end.ts";

/** `body`: reading the request; `head`: waiting for the upstream; `answer`: passing its response on. */
export type Phase = "body" | "head" | "answer" | "over";

/** Why a call ends before its response. A call that the client left has no reason. */
export type Stop =
  | { readonly outcome: "client_closed"; readonly reason?: never }
  | { readonly outcome: Exclude<Outcome, "complete" | "client_closed">; readonly reason: RefusalReason };

/** How a call ended, and its phase until then. */
export interface End {
  readonly outcome: Outcome;
  readonly phase: Phase;
}

export interface OpenCallOptions {
  nowMs: () => number;
  /** called once */
  onOver: (open: OpenCall, end: End) => void;
}

/** Thrown inside a call that was stopped; `stopped` says why. */
export class CallStopped extends Error {}

export class OpenCall {
  phase: Phase = "body";
  stopped: Stop | undefined;
  /** index in the list of open calls */
  place = 0;
  readonly controller = new AbortController();

  // Milliseconds of a monotonic clock.
  readonly startedMs: number;
  sentMs: number | undefined;
  headMs: number | undefined;
  firstByteMs: number | undefined;
  lastPieceMs: number;
  /** when waiting for the next part of the request body began */
  bodyAwaitedMs: number | undefined;
  /** when the last part of a streamed request body arrived */
  bodyMovedMs: number | undefined;

  requestBytes = 0;
  responseBytes = 0;
  /** pieces of the response */
  pieces = 0;
  /** status of the upstream's head */
  status: number | null = null;
  /** status of our own response in place of the upstream's; null if there is none */
  ownStatus: number | null = null;
  isEventStream: boolean | null = null;
  /** of a response that neither declares its length nor comes in chunks */
  unframedEnd: UnframedEnd | undefined;
  /** the model in the body */
  bodyModel: string | undefined;
  refusal: string | null = null;
  ends: ResponseEnds | undefined;
  upstreamCost: number | null = null;
  /** bytes of the buffered body */
  heldBytes = 0;
  hasEarlyRow = false;
  isReachChecked = false;
  /** sends an event stream's head while the first event is awaited */
  showHead: (() => void) | undefined;
  #onStop: ((stop: Stop) => void) | undefined;

  constructor(
    readonly call: Call,
    private readonly options: OpenCallOptions,
  ) {
    this.startedMs = options.nowMs();
    this.lastPieceMs = this.startedMs;
  }

  /** Ends the call early; the first cause wins. */
  stop(stop: Stop): void {
    if (this.phase === "over" || this.stopped) return;
    this.stopped = stop;
    this.controller.abort();
    this.#onStop?.(stop);
  }

  /** @param react called when the call is stopped; it replaces the former one */
  whenStopped(react: (stop: Stop) => void): void {
    this.#onStop = react;
    if (this.stopped) react(this.stopped);
  }

  /** Called by the signal of the client. */
  handleEvent(): void {
    this.stop({ outcome: "client_closed" });
  }

  /** @returns the result of the work, immediately if there is one @throws CallStopped as soon as the call is stopped */
  orStopped<T>(work: Promise<T>): T | Promise<T> {
    if (!this.stopped && Bun.peek.status(work) === "fulfilled") return Bun.peek(work);
    // A race of promises takes several times as long.
    return new Promise((resolve, reject) => {
      this.whenStopped(() => reject(new CallStopped()));
      work.then(resolve, reject);
    });
  }

  sent(): void {
    this.sentMs = this.options.nowMs();
    this.phase = "head";
  }

  headArrived(status: number): void {
    this.headMs = this.options.nowMs();
    this.lastPieceMs = this.headMs;
    this.status = status;
    this.phase = "answer";
  }

  /** Records that the response goes on. */
  arrived(): void {
    this.lastPieceMs = this.options.nowMs();
  }

  /** Records a piece of the response that is passed on. */
  passed(piece: Uint8Array): void {
    this.arrived();
    this.firstByteMs ??= this.lastPieceMs;
    this.responseBytes += piece.length;
    this.pieces += 1;
    this.ends?.push(piece);
    this.unframedEnd?.push(piece);
  }

  /** @returns whether the upstream has ended its response before it was complete */
  isCutShort(): boolean {
    return this.unframedEnd?.isComplete === false;
  }

  /** Ends the call; only the first end counts. */
  finish(outcome: Outcome): void {
    if (this.phase === "over") return;
    const { phase } = this;
    this.phase = "over";
    this.#onStop = undefined;
    this.options.onOver(this, { outcome, phase });
  }
}
