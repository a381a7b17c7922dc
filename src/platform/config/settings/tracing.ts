// Settings of traces: `tracing.*`.
import { publicUrl } from "../addresses.ts";
import { amount, boolean, path } from "../types.ts";
import { always, optional, type Settings, sealed } from "./setting.ts";

/** a share of all requests */
const SAMPLE_RATIO = { max: 1 };

export const TRACING_SETTINGS = {
  "tracing.url": optional(
    publicUrl,
    "collector to which traces are sent by OTLP/HTTP; without a path, /v1/traces is added. Without it there are no traces",
  ),
  "tracing.sample_ratio": always(amount(SAMPLE_RATIO), "0.01", "share of the requests that become traces"),
  "tracing.trust_callers": always(
    boolean,
    "no",
    "whether the header traceparent of any caller continues its trace and decides whether the request is traced",
  ),
  "tracing.propagate": always(
    boolean,
    "no",
    "whether inference requests that are traced tell the gateway their trace in the header traceparent",
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
    "PEM file with the certificate chain by which the collector knows this service",
  ),
  "tracing.client_key": optional(path, "PEM file with the private key of that certificate"),
} satisfies Settings;
