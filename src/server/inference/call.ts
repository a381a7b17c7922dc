// One admitted request that the handler passes to forwarding.
import type { Admitted } from "../../domain/inference/admission/admission.ts";
import type { Entry } from "./paths.ts";

export interface Call {
  readonly request: Request;
  readonly server: Bun.Server<undefined>;
  readonly entry: Entry;
  readonly admitted: Admitted;
  readonly requestId: string;
  /** UTC milliseconds */
  readonly arrivedAtMs: number;
}

/** Sends a request to the upstream. Never rejects, and releases `admitted` at the end of the response. */
export type Forward = (call: Call) => Promise<Response>;
