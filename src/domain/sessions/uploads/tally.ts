// Counts the outcomes of uploads in this process, for metrics.

/**
 * `digest_mismatch`: the received bytes differ from the announcement; `content_differs`: the bytes in the store do; `refused`: the
 * URL, a header or the caller is not accepted; `failed`: an internal error
 */
const NONE = {
  complete: 0,
  digest_mismatch: 0,
  content_differs: 0,
  cut: 0,
  too_slow: 0,
  busy: 0,
  disk_full: 0,
  not_uploaded: 0,
  window_over: 0,
  store_unavailable: 0,
  refused: 0,
  failed: 0,
};

export type UploadOutcome = keyof typeof NONE;

/** Outcomes by the reason of an error; `counted` outcomes are counted where they occur. */
const BY_REASON: Readonly<Record<string, UploadOutcome | "counted">> = {
  "sessions.digest_mismatch": "counted",
  "sessions.content_differs": "counted",
  "request.cut_short": "cut",
  "request.too_slow": "too_slow",
  "sessions.busy": "busy",
  "artifact.disk_full": "disk_full",
  "sessions.not_uploaded": "not_uploaded",
  "sessions.window_over": "window_over",
  "sessions.store_unavailable": "store_unavailable",
};

export class UploadTally {
  readonly outcomes: Record<UploadOutcome, number> = { ...NONE };
  /** bytes of complete uploads */
  bytes = 0;

  add(outcome: UploadOutcome, sizeBytes: number): void {
    this.outcomes[outcome] += 1;
    if (outcome === "complete") this.bytes += sizeBytes;
  }

  /** Counts the upload by the error's reason if the work throws. */
  async watch<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      const outcome = outcomeOf(error);
      if (outcome !== "counted") this.add(outcome, 0);
      throw error;
    }
  }
}

/** Every expected error of the domain and of its HTTP interface has a reason. */
const outcomeOf = (error: unknown): UploadOutcome | "counted" =>
  error instanceof Error && "reason" in error ? (BY_REASON[String(error.reason)] ?? "refused") : "failed";
