// The models that a gateway offers, as a provisioner lists them. A list is accepted completely or not at all, so that a broken
// response never looks like removed models.
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { DomainError } from "../../../platform/errors.ts";
import { sha256Hex } from "../../../platform/ids.ts";
import { canonicalJson } from "../../../platform/json/canonical-json.ts";
import type { JsonObject } from "../../../platform/json/json-object.ts";
import type { Steps } from "../../../platform/steps.ts";
import { modelIdProblem } from "../../shared/model-ids.ts";
import { toDiagnosis } from "./diagnosis.ts";

export const MODELS_LISTED_MAX = 5_000;
/** Maximum number of models; reading this many takes 1 ms. */
const MODELS_PER_STEP = 250;
/** Maximum bytes of the response with the list. */
export const LISTING_BYTES_MAX = 1024 * 1024;
export const DISPLAY_NAME_CHARACTERS_MAX = 512;
/** Maximum bytes of one model's metadata as JSON. */
export const MODEL_METADATA_BYTES_MAX = 16_384;
export const MODEL_METADATA_DEPTH_MAX = 32;
export const SOURCE_REVISION_CHARACTERS_MAX = 512;

export interface ListedModel {
  id: string;
  displayName: string | null;
  /** the gateway's description of the model, which the service does not interpret */
  metadata: JsonObject | null;
  /** SHA-256 of the three members above, in hexadecimal */
  fingerprint: string;
}

export interface ModelListing {
  models: readonly ListedModel[];
  /** as given, or else a digest of the ids */
  sourceRevision: string;
}

/**
 * Why there is no list. `unsupported`: the provisioner has no such operation. `discovery_auth`: the gateway refuses its
 * credentials. `discovery_response`: the response is not a usable list. `unavailable`: there was no response.
 */
export const LISTING_CODES = ["unsupported", "discovery_auth", "discovery_response", "unavailable"] as const;
export type ListingCode = (typeof LISTING_CODES)[number];

/** The text for the administrator, per code. Fixed, because the gateway's own text belongs in the log. */
const TEXTS: Readonly<Record<ListingCode, string>> = {
  unsupported: "the provisioner cannot list models",
  discovery_auth: "the gateway does not let the provisioner list its models; check its credentials",
  discovery_response: "the gateway's list of models is not usable; the log of the service has the reason",
  unavailable: "the gateway did not answer with its list of models; try again in a moment",
};

const KINDS = {
  unsupported: "conflict",
  discovery_auth: "upstream",
  discovery_response: "upstream",
  unavailable: "unavailable",
} as const;

/** A call that returned no list. `message` is for the caller, `diagnosis` for the log. */
export class ListingError extends DomainError {
  constructor(
    readonly code: ListingCode,
    /** the error text of the gateway or the executable, without secrets */
    readonly diagnosis: string,
    options: { cause?: unknown } = {},
  ) {
    super(KINDS[code], `gateway.models_${code}`, TEXTS[code], options);
    this.name = "ListingError";
  }
}

const nullable = <T extends Parameters<typeof Type.Optional>[0]>(schema: T) =>
  Type.Optional(Type.Union([schema, Type.Null()]));

/** A list in the provisioners' format. */
const Answer = Type.Object({
  models: Type.Array(
    Type.Object({
      id: Type.String(),
      display_name: nullable(Type.String()),
      metadata: nullable(Type.Record(Type.String(), Type.Unknown())),
    }),
    { maxItems: MODELS_LISTED_MAX },
  ),
  source_revision: nullable(Type.String({ maxLength: SOURCE_REVISION_CHARACTERS_MAX })),
});
type WrittenModel = Static<typeof Answer>["models"][number];

/** @throws ListingError `discovery_response` unless the whole response is a usable list */
export function* toModelListing(response: unknown): Steps<ModelListing> {
  if (!Value.Check(Answer, response)) {
    const [first] = Value.Errors(Answer, response);
    throw unusable(`the list of models is wrong at ${first?.path || "/"}`);
  }
  const models: ListedModel[] = [];
  for (const [at, model] of response.models.entries()) {
    if (at % MODELS_PER_STEP === 0) yield;
    models.push(toModel(model, at));
  }
  yield;
  const ids = models.map(({ id }) => id).toSorted();
  const twice = ids.find((id, at) => id === ids[at + 1]);
  if (twice !== undefined) throw unusable(`the model ${JSON.stringify(twice)} is listed twice`);
  const given = response.source_revision?.trim();
  return { models, sourceRevision: given ? given : sha256Hex(canonicalJson(ids)) };
}

function toModel({ id, display_name, metadata = null }: WrittenModel, at: number): ListedModel {
  const problem = modelIdProblem(id);
  if (problem !== undefined) throw unusable(`/models/${at}/id ${problem}`);
  const displayName = display_name?.trim() || null;
  if (displayName !== null && displayName.length > DISPLAY_NAME_CHARACTERS_MAX)
    throw unusable(`/models/${at}/display_name has more than ${DISPLAY_NAME_CHARACTERS_MAX} characters`);
  if (isDeeperThan(metadata, MODEL_METADATA_DEPTH_MAX))
    throw unusable(`/models/${at}/metadata is nested deeper than ${MODEL_METADATA_DEPTH_MAX} levels`);
  if (Buffer.byteLength(JSON.stringify(metadata)) > MODEL_METADATA_BYTES_MAX)
    throw unusable(`/models/${at}/metadata has more than ${MODEL_METADATA_BYTES_MAX} bytes as JSON`);
  const fingerprint = sha256Hex(canonicalJson({ id, display_name: displayName, metadata }));
  return { id, displayName, metadata, fingerprint };
}

const isDeeperThan = (value: unknown, levels: number): boolean =>
  typeof value === "object" &&
  value !== null &&
  (levels === 0 || Object.values(value).some((member) => isDeeperThan(member, levels - 1)));

const unusable = (what: string): ListingError => new ListingError("discovery_response", toDiagnosis(what));
