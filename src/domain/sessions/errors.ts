// Expected errors of captured sessions.

import { DomainError, type Problem } from "../../platform/errors.ts";
import { bytesText } from "../../platform/files/disk.ts";
import { quoted } from "../../platform/text/problem-list.ts";
import {
  BUSY_RETRY_SECONDS,
  PENDING_BYTES_PER_USER_MAX,
  PENDING_PER_USER_MAX,
  PENDING_RETRY_SECONDS,
  SPACE_RETRY_SECONDS,
  STORE_RETRY_SECONDS,
} from "./limits.ts";
import type { StoreKind } from "./model.ts";

/** @throws DomainError `sessions.invalid` with all problems, if there are any */
export function refuseRequest(problems: readonly Problem[]): void {
  if (problems.length === 0) return;
  const message = problems.map(({ detail }) => detail).join("; ");
  throw new DomainError("invalid", "sessions.invalid", message, { problems });
}

export const captureOff = () =>
  new DomainError("forbidden", "sessions.capture_off", "the policy does not request captured sessions");

export const harnessNotAllowed = (harness: string) =>
  new DomainError("forbidden", "sessions.harness_not_allowed", `the policy does not allow ${harness}`);

export const tooManyPending = () =>
  new DomainError(
    "too_many",
    "sessions.too_many_pending",
    `at most ${PENDING_PER_USER_MAX} uploads of ${bytesText(PENDING_BYTES_PER_USER_MAX)} in total may be unfinished`,
    { hint: "complete some of them, or try again later", retryAfterSeconds: PENDING_RETRY_SECONDS },
  );

export const diskLow = () =>
  new DomainError("unavailable", "sessions.disk_low", "there is not enough disk space for this upload", {
    hint: "try again later",
    retryAfterSeconds: SPACE_RETRY_SECONDS,
  });

export const quotaReached = () =>
  new DomainError("unavailable", "sessions.quota_reached", "captured sessions have reached their quota", {
    hint: "try again later",
    retryAfterSeconds: SPACE_RETRY_SECONDS,
  });

export const uploadsBusy = () =>
  new DomainError("unavailable", "sessions.busy", "too many uploads are running; try again in a moment", {
    retryAfterSeconds: BUSY_RETRY_SECONDS,
  });

export const readersBusy = () =>
  new DomainError("unavailable", "sessions.readers_busy", "too many captured sessions are being read", {
    hint: "try again in a moment",
    retryAfterSeconds: BUSY_RETRY_SECONDS,
  });

/** For an administrator who may know that the session exists. */
export const mayNotRead = () =>
  new DomainError(
    "forbidden",
    "sessions.may_not_read",
    "in this installation, administrators may not read the transcripts of others",
    { hint: "its owner can share it; an operator can set sessions.administrators_may_read" },
  );

/** @param cause for the log; it may name the store, and the caller must not see it */
export const storeUnavailable = (cause?: unknown) =>
  new DomainError(
    "unavailable",
    "sessions.store_unavailable",
    "the store of captured sessions does not respond",
    {
      hint: "try again later",
      retryAfterSeconds: STORE_RETRY_SECONDS,
      cause,
    },
  );

export const storeUnset = (kind: StoreKind) =>
  new DomainError("unavailable", "sessions.store_unset", "the store of this session is not configured", {
    hint: "an operator sets blobs.s3 for it",
    retryAfterSeconds: STORE_RETRY_SECONDS,
    cause: new Error(`rows name the store ${kind}`),
  });

export const uploadNotFound = () =>
  new DomainError("not_found", "sessions.upload_not_found", "no such upload", {
    hint: "announce the session again",
  });

/** For the holder of a download URL. */
export const bytesRemoved = () =>
  new DomainError(
    "not_found",
    "sessions.bytes_removed",
    "nothing is at this address: the session, or this version of it, was deleted",
  );

/** For the holder of a download URL that was signed before `sessions migrate`. */
export const bytesMoved = () =>
  new DomainError("not_found", "sessions.bytes_moved", "these bytes are in another store now", {
    hint: "request a new download address",
  });

/** @param id in the caller's spelling */
export const sessionNotFound = (id: string) =>
  new DomainError("not_found", "sessions.not_found", `no captured session ${quoted(id)}`, {
    hint: "see `quartermaster sessions list`",
  });

export const sessionNotVisible = () =>
  new DomainError("forbidden", "sessions.not_visible", "this session is not shared with you");

export const notOwnUpload = () =>
  new DomainError("forbidden", "sessions.not_owner", "only the owner or an administrator may do this");

export const notOwnSession = () =>
  new DomainError("forbidden", "sessions.not_own", "only the owner may share this session");

export const windowOver = () =>
  new DomainError("invalid", "sessions.window_over", "the time to complete this upload is over", {
    hint: "announce the session again",
  });

export const bytesNotUploaded = () =>
  new DomainError("invalid", "sessions.not_uploaded", "the bytes of this upload have not arrived", {
    hint: "upload them, then complete again",
  });

export const contentDiffers = () =>
  new DomainError(
    "invalid",
    "sessions.content_differs",
    "the uploaded bytes differ from the announced ones",
    { hint: "announce the session again" },
  );

export const digestMismatch = () =>
  new DomainError(
    "unverified",
    "sessions.digest_mismatch",
    "the uploaded bytes do not have the announced SHA-256",
    { hint: "announce the session again" },
  );

export const alreadyComplete = () =>
  new DomainError("conflict", "sessions.already_complete", "this upload is complete with other bytes");

/** The local disk is full; the message must not name its folder. */
export const diskFull = (cause: unknown) =>
  new DomainError("unavailable", "artifact.disk_full", "the disk is too full for this upload", {
    hint: "try again later",
    retryAfterSeconds: SPACE_RETRY_SECONDS,
    cause,
  });

export const linkRefused = () =>
  new DomainError(
    "forbidden",
    "sessions.link_refused",
    "the address is invalid or expired; request a new one",
  );

export const sessionGone = (what: "expired" | "lost") =>
  new DomainError(
    "gone",
    what === "expired" ? "sessions.expired" : "sessions.bytes_lost",
    what === "expired"
      ? "the retention of this session is over"
      : "the bytes of this session are lost; a new upload of it restores them",
  );

/** For an operator who reads the bytes. */
export const damagedBytes = () =>
  new DomainError("unverified", "sessions.damaged", "the stored bytes do not have the digest of the upload", {
    hint: "the session is recorded as lost now; its next upload restores it",
  });

export const onHold = () =>
  new DomainError(
    "conflict",
    "sessions.on_hold",
    "an administrator holds this session, so it cannot be removed",
    { hint: "an administrator ends the hold: `quartermaster sessions release`" },
  );

export const storeUnclaimed = () =>
  new DomainError(
    "conflict",
    "sessions.store_unclaimed",
    "this bucket has not been claimed, so other software may keep objects in it",
    { hint: "run quartermaster sessions sweep --dry-run, and check what it would remove" },
  );
