// The upload URL of captured sessions in the policy: administrators get a warning for every URL of another service.
import { describe, expect, test } from "bun:test";
import { checkPolicy } from "../../../../src/app/doctor/domain-checks.ts";
import { checkOf } from "../../../../src/app/doctor/finding.ts";
import { publishFirst } from "../../../support/content/policy.ts";
import { BASE_URL, createTestServer } from "../../../support/server.ts";

const POINTER = "/session_upload/presign_url";

describe("SES-63 the address in the policy", () => {
  test.each([
    ["of this service", `${BASE_URL}/session-uploads/presign`, []],
    ["of another service", "https://other.example.com/session-uploads/presign", [POINTER]],
    ["of another depth", `${BASE_URL}/api/session-uploads/presign`, [POINTER]],
    ["with a slash too many", `${BASE_URL}/session-uploads/presign/`, [POINTER]],
  ])("%s", async (_, presign_url, warned) => {
    await using server = await createTestServer();
    await publishFirst(server, { session_upload: { presign_url } });
    const { accessToken: token } = await server.signedIn("admin");
    const answer = await server.request("GET", "/admin/governance-config", { token });
    const { warnings } = await answer.json();
    expect(warnings.map(({ pointer }: { pointer: string }) => pointer)).toEqual(warned);
    const { domain, world } = server;
    const finding = checkPolicy(checkOf("policy"), { domain, organizationId: world.organizationId });
    expect(finding.result).toBe(warned.length === 0 ? "ok" : "warning");
  });
});
