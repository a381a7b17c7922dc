// What stamping adds to a document, and that it is removed when its cause is gone.

import { describe, expect, test } from "bun:test";
import { checkDocument } from "../../../../src/domain/governance/document/check.ts";
import { readDraft } from "../../../../src/domain/governance/document/draft.ts";
import { stamp, unstamped } from "../../../../src/domain/governance/document/stamp.ts";
import type { GovernanceConfig } from "../../../../src/domain/governance/model.ts";
import { HARNESSES } from "../../../../src/domain/harnesses/harnesses.ts";
import { documentWith, type Json, packageWith, VERSION_CAPABILITIES } from "./document-builders.ts";

const OFF = { gateway: false, serverVersion: "0.9.1", harnesses: HARNESSES };
const ON = { ...OFF, gateway: true };
const draft = (members: Json = {}): GovernanceConfig => readDraft(documentWith(members)).document;
const ranged = { harnesses: { codex: { version_requirement: ">=0.120.0" } } };
const opened = {
  harnesses: { codex: { version_requirement: ">=0.120.0", allow_unverified_versions: true } },
};
const varied = {
  packages: [packageWith({ kimi: { variants: [{ introduced: "0.0.0" }] } })],
};

describe("a stamped document", () => {
  const rows: [string, Json, typeof ON, Json][] = [
    ["that needs nothing gets nothing more", {}, OFF, { contract_version: 1 }],
    [
      "with a range names what ranges need",
      ranged,
      OFF,
      { contract_version: 3, required_capabilities: VERSION_CAPABILITIES, minimum_client_version: "0.9.1" },
    ],
    [
      "with variants does, too",
      varied,
      OFF,
      { contract_version: 3, required_capabilities: VERSION_CAPABILITIES, minimum_client_version: "0.9.1" },
    ],
    [
      "with only bounds of availability does not",
      { packages: [packageWith({ kimi: { introduced: "0.1.0" } })] },
      OFF,
      { contract_version: 1 },
    ],
    [
      "that allows unverified versions names that, too",
      opened,
      OFF,
      {
        contract_version: 3,
        required_capabilities: [...VERSION_CAPABILITIES, "unverified_harness_versions"],
        minimum_client_version: "0.9.1",
      },
    ],
    [
      "in gateway mode has the block and its capability",
      {},
      ON,
      {
        contract_version: 3,
        required_capabilities: ["gateway_inference_jwt"],
        gateway: { type: "litellm", auth_style: "bearer" },
      },
    ],
    [
      "outside of gateway mode has no block, whatever was stored",
      { gateway: { type: "litellm" } },
      OFF,
      { contract_version: 1 },
    ],
    [
      "with a pin names that",
      { required_client_version: "1.0.0" },
      OFF,
      {
        contract_version: 1,
        required_client_version: "1.0.0",
        required_capabilities: ["tenant_client_version_pin"],
      },
    ],
    [
      "keeps the minimum version it has",
      { ...ranged, minimum_client_version: "0.2.0" },
      OFF,
      { contract_version: 3, required_capabilities: VERSION_CAPABILITIES, minimum_client_version: "0.2.0" },
    ],
    ["keeps a requested contract version", { contract_version: 2 }, OFF, { contract_version: 2 }],
    [
      "keeps requested capabilities, once",
      { required_capabilities: ["gateway_inference_jwt", "versioned_state"], ...ranged },
      OFF,
      {
        contract_version: 3,
        required_capabilities: [
          "gateway_inference_jwt",
          "versioned_state",
          "adapter_intervals",
          "compiled_harness_registry",
          "transactional_reconcile",
        ],
        minimum_client_version: "0.9.1",
      },
    ],
  ];
  test.each(rows)("%s", (_name, members, options, expected) => {
    const document = draft(members);
    const { revision, required, allowed_harnesses, harnesses, packages } = document;
    const stamped: unknown = stamp(document, options);
    expect(stamped).toEqual({ revision, required, allowed_harnesses, harnesses, packages, ...expected });
  });

  test.each([{}, ranged, opened, varied])("passes the checks that its parts call for: %j", (members) => {
    expect(checkDocument(stamp(draft(members), ON), ON)).toEqual([]);
  });

  test("does not change if it is stamped again", () => {
    const once = stamp(draft({ ...opened, ...varied }), ON);
    expect(stamp(once, ON)).toEqual(once);
  });

  test("gets a version even from a development build", () => {
    const { minimum_client_version } = stamp(draft(ranged), { ...OFF, serverVersion: "development" });
    expect(minimum_client_version).toBe("0.0.0");
  });

  test("has its members in a fixed order for any input", () => {
    const names = (document: GovernanceConfig): string => Object.keys(document).join();
    const stamped = stamp(draft(ranged), ON);
    expect(names(stamp(unstamped(stamped), ON))).toBe(names(stamped));
    expect(names(stamped)).toStartWith(
      "revision,contract_version,required_capabilities,minimum_client_version,",
    );
  });
});

describe("removing a stamp", () => {
  test.each([{}, { ...ranged, minimum_client_version: "0.2.0" }, { required_client_version: "1.0.0" }])(
    "leaves what was written: %j",
    (members) => {
      expect(unstamped(stamp(draft(members), ON))).toEqual(draft(members));
    },
  );

  test("removes each demand with its cause", () => {
    const { harnesses: _ranges, ...rest } = unstamped(stamp(draft(opened), ON));
    const after = stamp({ ...rest, harnesses: {} }, OFF);
    expect(after.contract_version).toBe(1);
    expect(after.required_capabilities).toBeUndefined();
    expect(after.gateway).toBeUndefined();
  });

  test("keeps demands that an administrator added", () => {
    const required = draft({ contract_version: 2, required_capabilities: ["unverified_harness_versions"] });
    expect(unstamped(stamp(required, OFF))).toEqual(required);
    expect(unstamped(stamp(draft({ ...required, ...ranged }), OFF)).required_capabilities).toEqual([
      "unverified_harness_versions",
    ]);
  });
});

describe("an unstamped document must declare its demands itself", () => {
  const rows: [string, Json, typeof ON, string[]][] = [
    ["ranges", ranged, OFF, ["/required_capabilities", "/minimum_client_version"]],
    [
      "unverified versions",
      { ...opened, minimum_client_version: "0.1.0", required_capabilities: [...VERSION_CAPABILITIES] },
      OFF,
      ["/required_capabilities"],
    ],
    ["a gateway", { gateway: { type: "litellm" } }, ON, ["/required_capabilities"]],
    ["a pin", { required_client_version: "1.0.0" }, OFF, ["/required_capabilities"]],
    [
      "a gateway outside of gateway mode",
      { gateway: { type: "litellm" }, required_capabilities: ["gateway_inference_jwt"] },
      OFF,
      ["/gateway"],
    ],
  ];
  test.each(rows)("%s", (_name, members, options, pointers) => {
    expect(checkDocument(draft(members), options).map(({ pointer }) => pointer)).toEqual(pointers);
  });
});
