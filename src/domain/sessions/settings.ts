// Settings of captured sessions. Durations are in the unit that their name says.
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
  /** of all artifacts; undefined without a limit */
  totalBytesMax: number | undefined;
  /** the transcripts of others, with an audit entry for each opening */
  administratorsMayRead: boolean;
}
