// Values that a policy must not have, because a reader would get another value, and policies that already have them.
import { expect, test } from "bun:test";
import { readDraft } from "../../../../src/domain/governance/document/draft.ts";
import { safeDefault } from "../../../../src/domain/governance/document/safe-default.ts";
import { readDocumentText } from "../../../../src/domain/governance/document/text.ts";
import { documentYaml } from "../../../../src/domain/governance/document/yaml.ts";
import { createTestServer } from "../../../support/server.ts";

const CONFIG = "/harnesses/codex/managed_config";
const withConfig = (managed_config: unknown) => ({
  ...safeDefault(),
  harnesses: { codex: { managed_config } },
});

test.each(["\ud800", "a\udc00b", "\0", "a\0"])(
  "the text %j is refused with its place, as a value and as a key",
  (text) => {
    const written = JSON.stringify(
      withConfig({ good: "\ud83d\ude00\u0001", deep: [{ bad: text }], [text]: 12 }),
      null,
      2,
    );
    const source = readDocumentText(written);
    const { problems } = readDraft(source.input);
    const lineOf = (piece: string) => written.split("\n").findIndex((line) => line.includes(piece)) + 1;
    expect(source.locate(problems)).toEqual([
      {
        pointer: `${CONFIG}/deep/0/bad`,
        detail: "must be Unicode text without NUL",
        line: lineOf('"bad"'),
        column: expect.any(Number),
      },
      {
        pointer: `${CONFIG}/${text}`,
        detail: "the key must be Unicode text without NUL",
        line: lineOf(": 12"),
        column: expect.any(Number),
      },
    ]);
    const server = { name: "docs", command: "docs", env: { [text]: "x" } };
    const inServer = readDraft({ ...safeDefault(), harnesses: { codex: { mcp: [server] } } });
    expect(inServer.problems).toMatchObject([{ pointer: `/harnesses/codex/mcp/0/env/${text}` }]);
  },
);

test("a document that has such values already is still read", () => {
  const document = withConfig({ number: 12345678901234567000, large: 1e22, text: "\0", half: "\ud800" });
  const { input, problems } = readDocumentText(documentYaml({ ...safeDefault(), ...document } as never));
  expect([problems, input]).toMatchObject([[], document]);
});

test("administrators cannot send numbers that would be rounded", async () => {
  await using world = await createTestServer();
  const { accessToken: token } = await world.signedIn("admin");
  const send = async (number: string) => {
    const response = await world.request("PUT", "/admin/harnesses/codex/managed-config", {
      token,
      body: `{"base_revision":"x","managed_config":{"seed":${number}}}`,
    });
    return [response.status, await response.json()];
  };
  const [status, body] = await send("9007199254740993");
  expect([status, body.reason, body.errors]).toEqual([
    ...[400, "request.malformed"],
    [{ pointer: "/managed_config/seed", detail: expect.stringContaining("would be rounded") }],
  ]);
  expect((await send("9007199254740992"))[1].reason).not.toBe("request.malformed");
});
