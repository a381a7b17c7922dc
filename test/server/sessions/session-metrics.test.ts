// Metrics of captured sessions.
import { expect, test } from "bun:test";
import { Registry } from "prom-client";
import { addSessionFigures } from "../../../src/app/service/jobs/session-jobs.ts";
import {
  announcementOf,
  capture,
  createSessionServer,
  type PresignedOnWire,
  presign,
  upload,
} from "../../support/content/sessions.ts";

test("SES-48 uploads are counted by outcome, with the bytes of complete ones, starting at zero", async () => {
  await using face = await createSessionServer();
  const { accessToken: token } = await face.signedIn("member");
  const metrics = new Registry();
  addSessionFigures(metrics, face.domain.sessions);
  const figures = async () =>
    (await metrics.metrics()).split("\n").filter((line) => line.startsWith("quartermaster_session_upload"));
  const expected = (complete: number, mismatch: number, bytes: number): string[] => [
    `quartermaster_session_uploads_total{outcome="complete"} ${complete}`,
    `quartermaster_session_uploads_total{outcome="digest_mismatch"} ${mismatch}`,
    'quartermaster_session_uploads_total{outcome="content_differs"} 0',
    `quartermaster_session_upload_bytes_total ${bytes}`,
  ];
  expect(await figures()).toEqual(expected(0, 0, 0));
  await capture(face, { token }, "text");
  const other = announcementOf("other", { session_id: "other" });
  const presigned: PresignedOnWire = await (await presign(face, { token }, other)).json();
  expect((await upload(face, presigned, "OTHER")).status).toBe(422);
  expect(await figures()).toEqual(expected(1, 1, 4));
  await capture(face, { token }, "more text", { session_id: "third" });
  expect(await figures()).toEqual(expected(2, 1, 13));
});
