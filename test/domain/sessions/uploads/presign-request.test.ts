// SES-2: lengths, sizes and times of an announcement at, below and above their limits. The routes are tested in
// test/server/routes/sessions/announcing.test.ts.
import { describe, expect, test } from "bun:test";
import {
  CONTENT_TYPE_LENGTH_MAX,
  PATH_LENGTH_MAX,
  SESSION_ID_LENGTH_MAX,
  SUMMARY_LENGTH_MAX,
  TITLE_LENGTH_MAX,
  UPLOAD_BYTES_MAX,
} from "../../../../src/domain/sessions/limits.ts";
import {
  readAnnouncement,
  type SessionUploadPresignRequest,
  TIME_MS_MAX,
} from "../../../../src/domain/sessions/uploads/presign-request.ts";
import { DomainError } from "../../../../src/platform/errors.ts";

const REQUEST: SessionUploadPresignRequest = {
  harness: "codex",
  session_id: "a",
  sha256: "a".repeat(64),
  size_bytes: 1,
  content_type: "text/plain",
};
const read = (more: Partial<SessionUploadPresignRequest>) => readAnnouncement({ ...REQUEST, ...more }, []);

function faultsOf(more: Partial<SessionUploadPresignRequest>): string[] {
  try {
    read(more);
    return [];
  } catch (error) {
    if (error instanceof DomainError) return error.problems.map(({ pointer }) => pointer);
    throw error;
  }
}

const longMediaType = (length: number) => "text/".padEnd(length, "x");
/** Characters are counted, not bytes or UTF-16 code units. */
const longText = (length: number) => "𝒳".repeat(length);

describe("a value above its limit is refused", () => {
  test.each<[keyof SessionUploadPresignRequest, number, (length: number) => string | number]>([
    ["session_id", SESSION_ID_LENGTH_MAX, longText],
    ["content_type", CONTENT_TYPE_LENGTH_MAX, longMediaType],
    ["cwd", PATH_LENGTH_MAX, longText],
    ["repository_root", PATH_LENGTH_MAX, longText],
    ["repository_remote", PATH_LENGTH_MAX, longText],
    ["title", TITLE_LENGTH_MAX, longText],
    ["summary", SUMMARY_LENGTH_MAX, longText],
    ["size_bytes", UPLOAD_BYTES_MAX, (bytes) => bytes],
  ])("%s", (name, limit, ofLength) => {
    const faults = [limit - 1, limit, limit + 1].map((length) => faultsOf({ [name]: ofLength(length) }));
    expect(faults).toEqual([[], [], [`/${name}`]]);
  });
});

test("a time of capture after the year 9999 is unknown", () => {
  const kept = [-1, 0, 1].map(
    (step) => read({ captured_at_unix_ms: TIME_MS_MAX + step }).metadata.capturedAtMs,
  );
  expect(kept).toEqual([TIME_MS_MAX - 1, TIME_MS_MAX, null]);
});
