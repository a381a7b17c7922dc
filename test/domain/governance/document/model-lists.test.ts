// Models assigned to harnesses: what a list may contain, when workstations get the lists, and what they must then support.
import { describe, expect, test } from "bun:test";
import { AudienceGroups } from "../../../../src/domain/governance/delivery/audience-groups.ts";
import { checkDocument } from "../../../../src/domain/governance/document/check.ts";
import { readDraft } from "../../../../src/domain/governance/document/draft.ts";
import { stamp, unstamped } from "../../../../src/domain/governance/document/stamp.ts";
import type { GovernanceConfig, Revision } from "../../../../src/domain/governance/model.ts";
import { HARNESSES } from "../../../../src/domain/harnesses/harnesses.ts";
import { documentWith, type Json, pointersOf } from "./document-builders.ts";

const OFF = { gateway: false, serverVersion: "0.9.1", harnesses: HARNESSES };
const ON = { ...OFF, gateway: true };
const draft = (members: Json = {}): GovernanceConfig => readDraft(documentWith(members)).document;
const listed = (...models: string[]) => ({ gateway_models: models });
const allowing = (allowed: string[], harnesses: Json) => draft({ allowed_harnesses: allowed, harnesses });
const complete = allowing(["codex", "claude"], { codex: listed("a"), claude: listed("a", "b") });
const incomplete = allowing(["codex", "claude"], { codex: listed("a") });

describe("a list of models", () => {
  const codex = (models: unknown) => documentWith({ harnesses: { codex: { gateway_models: models } } });
  const rows: [string, unknown, string[]][] = [
    ["of several ids", ["gpt-5", "openai/*", "Claude Sonnet"], []],
    ["that is empty", [], []],
    ["with an empty id", ["a", ""], ["/1"]],
    ["with an id of blanks", ["  "], ["/0"]],
    ["with blanks around an id", [" a", "b "], ["/0", "/1"]],
    ["with an id twice", ["a", "b", "a"], ["/2"]],
    ["with ids that differ in case", ["a", "A"], []],
    ["with a number", ["a", 1], ["/1"]],
    ["with a line break", ["a\nb"], ["/0"]],
    ["that is a text", "a", [""]],
  ];
  test.each(rows)("%s", (_name, models, places) => {
    expect(pointersOf(codex(models))).toEqual(places.map((at) => `/harnesses/codex/gateway_models${at}`));
  });

  test("assigns nothing for an empty list", () => {
    expect(draft({ harnesses: { codex: listed() } }).harnesses.codex).not.toHaveProperty("gateway_models");
  });
});

describe("INF-54 the generation of a stamped document", () => {
  const rows: [string, GovernanceConfig, typeof ON, number, boolean][] = [
    ["with a list for every allowed harness", complete, ON, 4, true],
    ["with an allowed harness without a list", incomplete, ON, 3, false],
    ["without a gateway", complete, OFF, 1, false],
    ["that allows no harness", allowing([], { codex: listed("a") }), ON, 3, false],
    [
      "with a list of a harness that is not allowed",
      allowing(["claude"], { codex: listed("a"), claude: {} }),
      ON,
      3,
      false,
    ],
    [
      "that requires the generation without a cause",
      { ...incomplete, contract_version: 4, required_capabilities: ["gateway_model_catalog"] },
      ON,
      3,
      false,
    ],
    [
      "that requires it without a gateway",
      { ...complete, contract_version: 4, required_capabilities: ["gateway_model_catalog"] },
      OFF,
      1,
      false,
    ],
  ];
  test.each(rows)("%s", (_name, document, options, generation, isDemanded) => {
    const stamped = stamp(document, options);
    expect(stamped.contract_version).toBe(generation);
    expect(stamped.required_capabilities?.includes("gateway_model_catalog") ?? false).toBe(isDemanded);
    expect(checkDocument(stamped, options)).toEqual([]);
    expect(stamp(stamped, options)).toEqual(stamped);
  });

  test("falls back when a list is removed", () => {
    const { claude: _removed, ...harnesses } = unstamped(stamp(complete, ON)).harnesses;
    const after = stamp({ ...unstamped(stamp(complete, ON)), harnesses }, ON);
    expect(after.contract_version).toBe(3);
    expect(after.required_capabilities).toEqual(["gateway_inference_jwt"]);
  });
});

describe("INF-54 the model that a harness starts with", () => {
  const starting = (model: string, allowed = ["codex", "claude"]) =>
    allowing(allowed, {
      codex: { ...listed("a"), managed_config: { model } },
      claude: listed("b"),
    });
  const placesIn = (document: GovernanceConfig, options = ON) =>
    checkDocument(stamp(document, options), options).map(({ pointer }) => pointer);

  test("must be in its list as soon as workstations get the lists", () => {
    expect(placesIn(starting("a"))).toEqual([]);
    expect(placesIn(starting("b"))).toEqual(["/harnesses/codex/managed_config/model"]);
  });

  test("may be any while they do not", () => {
    expect(placesIn(starting("b"), OFF)).toEqual([]);
    expect(placesIn(starting("b", ["codex", "claude", "kimi"]))).toEqual([]);
  });

  test("may be any where the harness is not allowed", () => {
    expect(placesIn(starting("b", ["claude"]))).toEqual([]);
  });
});

describe("the delivered document", () => {
  const deliver = (document: GovernanceConfig, options: typeof ON) => {
    const stamped = { ...stamp(document, options), revision: "one" };
    const revision: Revision = {
      sequence: 1,
      id: "one",
      organizationId: "one",
      document: stamped,
      audiences: {},
      origin: "dashboard",
      authorId: null,
      authorLabel: "test",
      comment: null,
      summary: null,
      createdAtMs: 0,
    };
    const groups = new AudienceGroups(revision, { of: () => [] });
    return groups.viewOf("ana").document;
  };

  test("has the lists if every allowed harness has one", () => {
    expect(deliver(complete, ON).harnesses.claude?.gateway_models).toEqual(["a", "b"]);
  });

  test.each([
    ["while an allowed harness has none", incomplete, ON],
    ["without a gateway", complete, OFF],
  ] as const)("has no list %s", (_name, document, options) => {
    const { harnesses } = deliver(document, options);
    expect(Object.keys(harnesses)).toEqual(Object.keys(document.harnesses));
    expect(JSON.stringify(harnesses)).not.toContain("gateway_models");
  });

  test("is the stored one if there is no list", () => {
    const plain = allowing(["codex"], { codex: { managed_config: { model: "x" } } });
    expect(deliver(plain, ON).harnesses).toEqual(plain.harnesses);
  });
});
