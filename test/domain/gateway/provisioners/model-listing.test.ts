// A list of models is accepted completely or not at all, and equal models have equal fingerprints.

import { describe, expect, test } from "bun:test";
import { readListing } from "../../../../src/domain/gateway/provisioners/executable/executable-protocol.ts";
import {
  DISPLAY_NAME_CHARACTERS_MAX,
  ListingError,
  toModelListing as listingIn,
  MODEL_METADATA_BYTES_MAX,
  MODEL_METADATA_DEPTH_MAX,
  MODELS_LISTED_MAX,
  SOURCE_REVISION_CHARACTERS_MAX,
} from "../../../../src/domain/gateway/provisioners/model-listing.ts";
import { MODEL_ID_CHARACTERS_MAX } from "../../../../src/domain/shared/model-ids.ts";
import { runSynchronously } from "../../../../src/platform/steps.ts";

const toModelListing = (response: unknown) => runSynchronously(listingIn(response));

function refusalOf(call: () => unknown): ListingError | undefined {
  try {
    call();
  } catch (error) {
    if (error instanceof ListingError) return error;
    throw error;
  }
  return undefined;
}

const fingerprintOf = (model: object): string => {
  const [listed] = toModelListing({ models: [{ id: "a", ...model }] }).models;
  return listed?.fingerprint ?? "";
};

describe("a fingerprint", () => {
  test.each([
    ["other members in another order", { metadata: { b: [1, { d: 1, c: 2 }], a: 0 } }],
    ["unrequested members", { metadata: { a: 0, b: [1, { c: 2, d: 1 }] }, object: "model" }],
    ["blanks around a name that is blank", { display_name: " ", metadata: { a: 0, b: [1, { c: 2, d: 1 }] } }],
  ])("is the same with %s", (_name, model) => {
    expect(fingerprintOf(model)).toBe(fingerprintOf({ metadata: { a: 0, b: [1, { c: 2, d: 1 }] } }));
  });

  test("differs with the id, the name, each member and the order of lists", () => {
    const models = [
      {},
      { id: "b" },
      { display_name: "A" },
      { metadata: {} },
      { metadata: { a: 1 } },
      { metadata: { a: "1" } },
      { metadata: { a: [1, 2] } },
      { metadata: { a: [2, 1] } },
    ];
    expect(new Set(models.map(fingerprintOf)).size).toBe(models.length);
  });
});

describe("a source revision", () => {
  const revisionOf = (given: unknown, ...ids: string[]) =>
    toModelListing({ models: ids.map((id) => ({ id })), source_revision: given }).sourceRevision;

  test("is the one that was given", () => {
    expect(revisionOf(" 7 ", "a")).toBe("7");
  });

  test("is a digest of the ids in any order, if none was given", () => {
    expect(revisionOf(null, "a", "b")).toBe(revisionOf(undefined, "b", "a"));
    expect(revisionOf("", "a", "b")).not.toBe(revisionOf("", "a,b"));
    expect(revisionOf(null)).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe("INF-49 a list is refused as a whole", () => {
  const good = { id: "good" };
  test.each([
    ["without models", {}, "/models"],
    ["that is text", "models", "/"],
    ["with an entry that is text", { models: ["a"] }, "/models/0"],
    ["with an entry without an id", { models: [good, {}] }, "/models/1/id"],
    ["with a name that is a number", { models: [{ ...good, display_name: 1 }] }, "/models/0/display_name"],
    ["with metadata that is a list", { models: [{ ...good, metadata: [] }] }, "/models/0/metadata"],
    ["with a revision that is a number", { models: [], source_revision: 1 }, "/source_revision"],
    ["with a line break in an id", { models: [good, { id: "a\nb" }] }, "/models/1/id"],
    ["with an id twice", { models: [good, good] }, '"good" is listed twice'],
  ])("%s", (_name, response, place) => {
    const refusal = refusalOf(() => toModelListing(response));
    expect(refusal?.code).toBe("discovery_response");
    expect(refusal?.diagnosis).toContain(place);
    expect(refusal?.message).not.toContain(place);
  });

  const one = (model: object) => ({ models: [{ id: "a", ...model }] });
  const nested = (levels: number): object => (levels === 0 ? {} : { a: nested(levels - 1) });
  const textOf = (bytes: number) => ({ a: "x".repeat(bytes - '{"a":""}'.length) });
  test.each<[string, number, (count: number) => object]>([
    [
      "models",
      MODELS_LISTED_MAX,
      (n) => ({ models: Array.from({ length: n }, (_, id) => ({ id: `${id}` })) }),
    ],
    ["characters of an id", MODEL_ID_CHARACTERS_MAX, (n) => one({ id: "a".repeat(n) })],
    ["characters of a name", DISPLAY_NAME_CHARACTERS_MAX, (n) => one({ display_name: "a".repeat(n) })],
    ["bytes of metadata", MODEL_METADATA_BYTES_MAX, (n) => one({ metadata: textOf(n) })],
    ["levels of metadata", MODEL_METADATA_DEPTH_MAX, (n) => one({ metadata: nested(n - 1) })],
    [
      "characters of the source revision",
      SOURCE_REVISION_CHARACTERS_MAX,
      (n) => ({ models: [], source_revision: "a".repeat(n) }),
    ],
  ])("refuses too many %s", (_name, limit, build) => {
    expect(refusalOf(() => toModelListing(build(limit)))).toBeUndefined();
    expect(refusalOf(() => toModelListing(build(limit + 1)))?.code).toBe("discovery_response");
  });
});

describe("an executable that fails to list models", () => {
  const listingOf = (code: string) => () => {
    const response = { protocol_version: 1, status: "error", error: { code, message: "sk-secret is wrong" } };
    return readListing({ exitCode: 1, output: Buffer.from(JSON.stringify(response)), errorBytes: 0 });
  };

  test.each([
    ["unsupported", "unsupported"],
    ["discovery_unsupported", "unsupported"],
    ["discovery_auth", "discovery_auth"],
    ["discovery_response", "discovery_response"],
    ["invalid_config", "discovery_auth"],
    ["rejected", "discovery_response"],
    ["unavailable", "unavailable"],
    ["whatever", "unavailable"],
  ] as const)("reports the code %s without the secret", (code, expected) => {
    const refusal = refusalOf(listingOf(code));
    expect(refusal?.code).toBe(expected);
    expect(refusal?.diagnosis).toBe(`${code}: [secret] is wrong`);
    expect(refusal?.message).not.toContain("secret");
  });
});
