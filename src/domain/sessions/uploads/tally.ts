// Counts how uploads end in this process, for metrics.

/** `digest_mismatch`: other bytes arrived than announced; `content_differs`: the store holds others than announced */
export type UploadOutcome = "complete" | "digest_mismatch" | "content_differs";

export class UploadTally {
  readonly outcomes: Record<UploadOutcome, number> = { complete: 0, digest_mismatch: 0, content_differs: 0 };
  /** of complete uploads */
  bytes = 0;

  add(outcome: UploadOutcome, sizeBytes: number): void {
    this.outcomes[outcome] += 1;
    if (outcome === "complete") this.bytes += sizeBytes;
  }
}
