// Settings of inference: `gateway.proxy.*`, `gateway.request_logs.*` and `gateway.inference_jwt.*`.
import { listenAddress } from "../addresses.ts";
import { boolean, choice, integer, list, map, pattern, text } from "../types.ts";
import { SIGNING_KEY_ROTATION_DAYS } from "./access.ts";
import { optional, type Settings, withDefault } from "./setting.ts";

/** a cached inference token cannot be revoked, so it lives at most half a day */
const INFERENCE_TOKEN_TTL_SECONDS = { min: 60, max: 43_200 };
export const PROXY_MODES = ["in-process", "external", "off"] as const;
/** each request in progress takes two connections and some 65 KB */
export const IN_FLIGHT = { min: 1, max: 20_000 };
const BODY_BYTES = { min: 1024, max: 268_435_456 };
/** 0: every body is streamed */
const BUFFER_BYTES = { min: 0, max: 16_777_216 };
const BUFFER_TOTAL_BYTES = { min: 0, max: 4_294_967_296 };
const REQUEST_RATE = { min: 1, max: 100_000 };
const CONNECT_TIMEOUT_SECONDS = { min: 1, max: 60 };
/** models may think for a long time before they respond */
const RESPONSE_SECONDS = { min: 1, max: 3600 };
const STREAM_SECONDS = { min: 1, max: 86_400 };
/** shorter than the time after which the service manager kills the service */
const DRAIN_SECONDS = { min: 0, max: 40 };
/** 0: no limit */
const DAILY_BUDGET = { min: 0, max: 1_000_000_000_000 };
const PARALLEL_REQUESTS = { min: 0, max: 20_000 };
const REQUEST_LOG_DAYS = { min: 1, max: 400 };
/** a row takes about a kilobyte in the queue */
const QUEUE_ROWS = { min: 100, max: 1_000_000 };
/** facts about a caller that the upstream may get in headers */
export const IDENTITY_FACTS = [
  "user_id",
  "organization_id",
  "gateway_session_id",
  "login_session_id",
  "profile_id",
  "profile_name",
] as const;

const forwardedPath = pattern(
  /^(?:GET|POST|PUT|PATCH|DELETE) (?=.{2,200}$)(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)+$/,
  {
    placeholder: "method path",
    form: "GET, POST, PUT, PATCH or DELETE and a path of letters, digits, and . _ ~ -, such as POST /v1/rankings",
  },
);
const headerName = pattern(/^[a-z0-9-]{1,64}$/, {
  placeholder: "header",
  form: "the name of a header in lower-case letters, digits and dashes",
});

export const INFERENCE_SETTINGS = {
  "gateway.proxy.mode": optional(
    choice(...PROXY_MODES),
    "who forwards inference requests: this service, a separate proxy, or nobody; by default external if gateway.proxy_token is set, otherwise in-process",
  ),
  "gateway.proxy.listen": optional(
    listenAddress,
    "separate listener for inference: host:port, [ipv6]:port or unix:/path; by default inference is a path of server.listen",
  ),
  "gateway.proxy.max_in_flight": withDefault(
    integer(IN_FLIGHT),
    "2000",
    "inference requests in progress at the same time",
  ),
  "gateway.proxy.max_body_bytes": withDefault(
    integer(BODY_BYTES),
    "33554432",
    "size limit of the body of an inference request",
  ),
  "gateway.proxy.buffer_bytes": withDefault(
    integer(BUFFER_BYTES),
    "1048576",
    "bodies up to this size are read whole before they are sent on; larger ones are streamed",
  ),
  "gateway.proxy.buffer_total_bytes": withDefault(
    integer(BUFFER_TOTAL_BYTES),
    "67108864",
    "total memory for bodies that are read into memory",
  ),
  "gateway.proxy.token_rps": withDefault(
    integer(REQUEST_RATE),
    "50",
    "sustained inference requests per second for one token, and for one workstation",
  ),
  "gateway.proxy.token_burst": withDefault(
    integer(REQUEST_RATE),
    "100",
    "inference requests that one token, and one workstation, may send in a burst after a pause",
  ),
  "gateway.proxy.failures_per_address": withDefault(
    integer(REQUEST_RATE),
    "20",
    "refused inference tokens per second from one address",
  ),
  "gateway.proxy.connect_timeout_seconds": withDefault(
    integer(CONNECT_TIMEOUT_SECONDS),
    "2",
    "time to connect to the inference gateway",
  ),
  "gateway.proxy.headers_timeout_seconds": withDefault(
    integer(RESPONSE_SECONDS),
    "600",
    "time until the inference gateway begins to answer",
  ),
  "gateway.proxy.idle_timeout_seconds": withDefault(
    integer(RESPONSE_SECONDS),
    "300",
    "maximum pause within a response of the inference gateway",
  ),
  "gateway.proxy.stream_seconds_max": withDefault(
    integer(STREAM_SECONDS),
    "3600",
    "maximum duration of an inference request",
  ),
  "gateway.proxy.drain_seconds": withDefault(
    integer(DRAIN_SECONDS),
    "20",
    "time for inference requests to finish when the service stops",
  ),
  "gateway.proxy.cut_streams": withDefault(
    boolean,
    "yes",
    "whether running answers end when the workstation or its user loses access",
  ),
  "gateway.proxy.credential_header": withDefault(
    choice("authorization", "x-api-key"),
    "authorization",
    "header in which the inference gateway gets the key of the user",
  ),
  "gateway.proxy.identity_headers": withDefault(
    map(headerName),
    "{}",
    `headers in which the inference gateway receives facts about the caller, by fact (${IDENTITY_FACTS.join(", ")})`,
  ),
  "gateway.proxy.extra_paths": withDefault(
    list(forwardedPath),
    "",
    "further paths that are forwarded, with their methods",
  ),
  "gateway.proxy.model_policy": withDefault(
    choice("off", "log", "refuse"),
    "off",
    "what happens to a request for a model that is assigned to no allowed agent",
  ),
  "gateway.proxy.budgets.requests_per_day": withDefault(
    integer(DAILY_BUDGET),
    "0",
    "inference requests of one user in a day (UTC), after which further ones are refused; 0 means no limit",
  ),
  "gateway.proxy.budgets.tokens_per_day": withDefault(
    integer(DAILY_BUDGET),
    "0",
    "input and output tokens of one user in a day (UTC), after which further requests are refused; 0 means no limit",
  ),
  "gateway.proxy.budgets.parallel_requests": withDefault(
    integer(PARALLEL_REQUESTS),
    "50",
    "inference requests of one user in progress at the same time; 0 means no limit",
  ),
  "gateway.request_logs.enabled": withDefault(
    boolean,
    "yes",
    "whether one row is kept for each inference request; usage is counted in any case",
  ),
  "gateway.request_logs.retention_days": withDefault(
    integer(REQUEST_LOG_DAYS),
    "30",
    "days after which a row of the request log is removed",
  ),
  "gateway.request_logs.queue_rows": withDefault(
    integer(QUEUE_ROWS),
    "10000",
    "rows of the request log that may wait to be written; further ones are dropped and counted",
  ),
  "gateway.inference_jwt.issuer": optional(
    text,
    "issuer of inference tokens; by default the origin of this service",
  ),
  "gateway.inference_jwt.audience": optional(
    text,
    "audience of inference tokens; by default the standard one",
  ),
  "gateway.inference_jwt.token_ttl_seconds": withDefault(
    integer(INFERENCE_TOKEN_TTL_SECONDS),
    "43200",
    "lifetime of an inference token; it never outlives its login session",
  ),
  "gateway.inference_jwt.rotation_days": withDefault(
    integer(SIGNING_KEY_ROTATION_DAYS),
    "30",
    "age at which the key that signs inference tokens is replaced",
  ),
} satisfies Settings;
