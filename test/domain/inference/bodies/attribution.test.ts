// The unverified information in request headers about the origin of a request.
import { describe, expect, test } from "bun:test";
import { ATTRIBUTION_MAX, attributionOf } from "../../../../src/domain/inference/bodies/attribution.ts";

const of = (headers: Record<string, string>, path = "/v1/chat/completions") =>
  attributionOf(new Headers(headers), path);

describe("attribution (INF-39)", () => {
  test("is read from the headers of the workstation, and marked as a claim", () => {
    const headers = {
      "X-Harness-Agent": "claude",
      "x-harness-model": "willow-2",
      "x-harness-repo": "https://git.example.com/team/app",
      "x-harness-git-branch": "main",
      "x-harness-commit": "0a1b2c",
      "x-harness-dirty": "true",
      "x-harness-run-id": "run 7",
    };
    expect(of(headers)).toEqual({
      harness: "claude",
      model: "willow-2",
      repository: "https://git.example.com/team/app",
      branch: "main",
      commitSha: "0a1b2c",
      dirty: true,
      runId: "run 7",
      claimed: true,
    });
  });

  test("is empty without these headers, and no claim", () => {
    expect(of({ "user-agent": "curl/8" })).toEqual({
      harness: null,
      model: null,
      repository: null,
      branch: null,
      commitSha: null,
      dirty: null,
      runId: null,
      claimed: false,
    });
  });

  test.each([
    ["claude-cli/2.1.0 (external, cli)", "/v1/messages", "claude"],
    ["codex_cli_rs/0.50.0 (Linux)", "/v1/chat/completions", "codex"],
    ["opencode/1.0", "/v1/chat/completions", "opencode"],
    ["KimiCLI/1.2", "/v1/chat/completions", "kimi"],
    ["anything", "/responses", "codex"],
    ["anything", "/v1/responses/compact", "codex"],
    ["anything", "/v1/messages", null],
    ["anything", "/v1/chat/completions", null],
  ])("names the harness by the product %s at %s", (userAgent, path, harness) => {
    expect(of({ "user-agent": userAgent }, path)).toMatchObject({ harness, claimed: false });
  });

  test("is cut to its limits, never inside a character, and loses control characters", () => {
    const max = ATTRIBUTION_MAX.harness;
    expect(of({ "x-harness-agent": "a".repeat(max + 1) }).harness).toBe("a".repeat(max));
    expect(of({ "x-harness-git-branch": "a\u0085b\u0090" }).branch).toBe("ab");
    expect(of({ "x-harness-run-id": "\u007f" })).toMatchObject({ runId: null, claimed: false });
  });

  test("never keeps the credentials of a remote", () => {
    const repository = (value: string) => of({ "x-harness-repo": value }).repository;
    expect(repository("https://user:canary@git.example.com/a@b")).toBe("https://git.example.com/a@b");
    expect(repository("https://canary@git.example.com/a")).toBe("https://git.example.com/a");
    expect(repository("git@git.example.com:team/app")).toBe("git@git.example.com:team/app");
  });

  test.each([
    ["true", true],
    ["1", true],
    ["false", false],
    ["0", false],
    ["maybe", null],
  ])("reads dirty=%s", (text, dirty) => {
    expect(of({ "x-harness-dirty": text }).dirty).toBe(dirty);
  });
});
