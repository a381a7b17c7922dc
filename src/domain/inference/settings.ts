// Settings of the inference proxy. Undefined as a whole unless this service forwards inference requests itself.
import type { Listen } from "../../platform/config/addresses.ts";
import type { IDENTITY_FACTS } from "../../platform/config/settings/inference.ts";

export type IdentityFact = (typeof IDENTITY_FACTS)[number];

export interface ProxySettings {
  /** its own listener; undefined: below PROXY_PREFIX of the main listener */
  listen: Listen | undefined;
  /** URL of the gateway without a trailing slash; it may have a path */
  upstreamUrl: string;
  /** requests in progress at the same time */
  maxInFlight: number;
  maxBodyBytes: number;
  /** a body of a declared length up to this is read whole before it is sent */
  bufferBytes: number;
  /** all bodies that are held at the same time */
  bufferTotalBytes: number;
  /** of one user; 0 for no limit */
  parallelPerUser: number;
  /** requests per second, for one token and for one gateway session */
  tokenRate: number;
  tokenBurst: number;
  /** refused tokens per second from one address */
  failuresPerAddress: number;
  connectTimeoutMs: number;
  headersTimeoutMs: number;
  /** between two pieces of a response */
  idleTimeoutMs: number;
  streamMaxMs: number;
  /** time for running requests to finish after a stop */
  drainMs: number;
  /** whether streams end when their login or user does */
  cutStreams: boolean;
  /** header in which the upstream gets the user's key; `authorization` means a bearer token */
  credentialHeader: "authorization" | "x-api-key";
  /** from a trusted fact to the lower-case name of the header that carries it to the upstream */
  identityHeaders: ReadonlyMap<IdentityFact, string>;
  /** further paths that are forwarded, `METHOD /path` each */
  extraPaths: readonly string[];
  modelPolicy: "off" | "log" | "refuse";
}
