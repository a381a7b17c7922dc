// Settings of captured sessions. The name of each duration ends in its unit.
import type { StoreKind } from "./model.ts";

export interface SessionSettings {
  /** our origin */
  baseUrl(): string;
  /** where new uploads go */
  store: StoreKind;
  retentionDays: number;
  supersededDays: number;
  urlTtlSeconds: number;
  uploadsAtOnce: number;
  /** maximum bytes of all artifacts; undefined without a limit */
  totalBytesMax: number | undefined;
  /** whether administrators may read the transcripts of others; each opening writes an audit entry */
  administratorsMayRead: boolean;
}
