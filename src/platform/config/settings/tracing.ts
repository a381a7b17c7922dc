// Settings of traces: `tracing.*`.
import { publicUrl } from "../addresses.ts";
import { amount, boolean, path } from "../types.ts";
import { optional, type Settings, sealed, withDefault } from "./setting.ts";

/** share of all requests */
const SAMPLE_RATIO = { max: 1 };

export const TRACING_SETTINGS = {
  "tracing.url": optional(
    publicUrl,
    "collector that receives traces by OTLP/HTTP, by default at the path /v1/traces; without it, tracing is off",
  ),
  "tracing.sample_ratio": withDefault(amount(SAMPLE_RATIO), "0.01", "share of requests that are traced"),
  "tracing.trust_callers": withDefault(
    boolean,
    "no",
    "whether the header traceparent of a caller continues its trace and decides whether the request is traced",
  ),
  "tracing.propagate": withDefault(
    boolean,
    "no",
    "whether traced inference requests send their trace to the gateway in the header traceparent",
  ),
  "tracing.authorization": sealed(
    "tracing-authorization",
    "header Authorization for the collector, such as Bearer and a token",
  ),
  "tracing.ca_file": optional(
    path,
    "PEM file with certificates to trust for the collector, in addition to the built-in ones",
  ),
  "tracing.client_cert": optional(
    path,
    "PEM file with the certificate chain with which this service identifies itself to the collector",
  ),
  "tracing.client_key": optional(path, "PEM file with the private key of that certificate"),
} satisfies Settings;
