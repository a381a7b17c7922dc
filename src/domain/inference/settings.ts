// Settings of the inference proxy. The whole object is undefined unless this service forwards inference requests itself.
import type { Listen } from "../../platform/config/addresses.ts";
import type { IDENTITY_FACTS } from "../../platform/config/settings/inference.ts";

export type IdentityFact = (typeof IDENTITY_FACTS)[number];

export interface ProxySettings {
  /** its own listener; undefined: below PROXY_PREFIX of the main listener */
  listen: Listen | undefined;
  /** URL of the gateway without a trailing slash; it may have a path */
  upstreamUrl: string;
  /** maximum number of concurrent requests */
  maxInFlight: number;
  maxBodyBytes: number;
  /** bodies with a declared length up to this are read completely before they are sent */
  bufferBytes: number;
  /** total size of all bodies in memory */
  bufferTotalBytes: number;
  /** maximum for one user; 0 for no limit */
  parallelPerUser: number;
  /** requests per second, for one token and for one gateway session */
  tokenRate: number;
  tokenBurst: number;
  /** refused tokens per second from one address */
  failuresPerAddress: number;
  connectTimeoutMs: number;
  headersTimeoutMs: number;
  /** maximum time between two pieces of a response */
  idleTimeoutMs: number;
  streamMaxMs: number;
  /** time for running requests to finish after a stop */
  drainMs: number;
  /** whether streams end together with their login or user */
  cutStreams: boolean;
  /** header with the user's key for the upstream; `authorization` means a bearer token */
  credentialHeader: "authorization" | "x-api-key";
  /** from a trusted fact to the lower-case name of the header that carries it to the upstream */
  identityHeaders: ReadonlyMap<IdentityFact, string>;
  /** further paths that are forwarded, `METHOD /path` each */
  extraPaths: readonly string[];
  modelPolicy: "off" | "log" | "refuse";
}
