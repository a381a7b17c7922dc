// Reads an announcement: a schema checks the shape, this file checks every value, and all problems are reported together.
import { type Static, Type } from "@sinclair/typebox";
import type { Problem } from "../../../platform/errors.ts";
import { quoted } from "../../../platform/text/problem-list.ts";
import { type Harness, isHarnessKey, unknownHarness } from "../../harnesses/harnesses.ts";
import { refuseRequest } from "../errors.ts";
import {
  CONTENT_TYPE_LENGTH_MAX,
  PATH_LENGTH_MAX,
  SESSION_ID_LENGTH_MAX,
  SUMMARY_LENGTH_MAX,
  TITLE_LENGTH_MAX,
  UPLOAD_BYTES_MAX,
} from "../limits.ts";
import {
  ARTIFACT_FORMATS,
  type ArtifactFormat,
  BUNDLE_FORMAT,
  LEGACY_PROFILE,
  RAW_FORMAT,
  type SessionMetadata,
} from "../model.ts";

/** Documented here and checked below: a value out of range gives 400, a wrong type 422. */
const whole = (schema: { minimum: number; maximum?: number; default?: number; description?: string }) =>
  Type.Unsafe<number>({ ...Type.Number(), description: schema.description ?? "A whole number." });
const text = (maxLength: number) => Type.String({ description: `Up to ${maxLength} characters.` });
const nullable = (maxLength: number) =>
  Type.Optional(
    Type.Union([text(maxLength), Type.Null()], { description: `Up to ${maxLength} characters.` }),
  );

/** The body of an announcement. Unknown members are ignored, so that newer clients can add some. */
export const SessionUploadPresignRequest = Type.Object(
  {
    harness: Type.String({ description: "Canonical key of a harness, no alias." }),
    compatibility_profile: Type.Optional(
      Type.String({ description: "Profile of that harness, or a former name of one; default `legacy`." }),
    ),
    session_id: Type.String({ description: `1 to ${SESSION_ID_LENGTH_MAX} characters.` }),
    sha256: Type.String({ description: "64 hexadecimal digits in any case." }),
    size_bytes: whole({ minimum: 0, description: `A whole number, 0 to ${UPLOAD_BYTES_MAX}.` }),
    content_type: Type.String({
      description: `A media type with parameters, up to ${CONTENT_TYPE_LENGTH_MAX} characters.`,
    }),
    cwd: nullable(PATH_LENGTH_MAX),
    artifact_format: Type.Optional(
      Type.String({ description: `${ARTIFACT_FORMATS.join(" or ")}; default ${RAW_FORMAT}.` }),
    ),
    resumable: Type.Optional(
      Type.Boolean({ description: "Needs the bundle format and a profile that can resume sessions." }),
    ),
    title: nullable(TITLE_LENGTH_MAX),
    summary: nullable(SUMMARY_LENGTH_MAX),
    captured_at_unix_ms: Type.Optional(whole({ minimum: 0, description: "0 or out of range: unknown." })),
    repository_root: nullable(PATH_LENGTH_MAX),
    repository_remote: nullable(PATH_LENGTH_MAX),
  },
  { additionalProperties: true },
);
export type SessionUploadPresignRequest = Static<typeof SessionUploadPresignRequest>;

/** A request without problems. */
export interface Announcement {
  harness: string;
  /** canonical, or `legacy` */
  profile: string;
  nativeSessionId: string;
  /** lower case */
  sha256: string;
  sizeBytes: number;
  contentType: string;
  metadata: SessionMetadata;
}

/**
 * @param harnesses the current ones
 * @throws DomainError `sessions.invalid` with all problems
 */
export function readAnnouncement(
  request: SessionUploadPresignRequest,
  harnesses: readonly Harness[],
): Announcement {
  const problems: Problem[] = [];
  const { harness } = request;
  if (!isHarnessKey(harness))
    problems.push({ pointer: "/harness", detail: `${quoted(harness)} ${unknownHarness(harness)}` });
  checkContent(request, problems);
  checkTexts(request, problems);
  const artifactFormat = readFormat(request, problems);
  const profile = readProfile(request, harnesses, problems);
  const { resumable = false } = request;
  if (resumable && artifactFormat !== BUNDLE_FORMAT)
    problems.push({ pointer: "/resumable", detail: `resumable needs artifact_format ${BUNDLE_FORMAT}` });
  if (resumable && profile?.canResume === false)
    problems.push({ pointer: "/resumable", detail: "resumable needs a profile that can resume sessions" });
  refuseRequest(problems);
  return {
    harness,
    profile: profile?.profile ?? LEGACY_PROFILE,
    nativeSessionId: request.session_id,
    sha256: request.sha256.toLowerCase(),
    sizeBytes: request.size_bytes,
    contentType: request.content_type,
    metadata: {
      artifactFormat,
      resumable,
      cwd: request.cwd ?? null,
      title: request.title ?? null,
      summary: request.summary ?? null,
      repositoryRoot: request.repository_root ?? null,
      repositoryRemote: request.repository_remote ?? null,
      capturedAtMs: knownTime(request.captured_at_unix_ms),
    },
  };
}

const DIGEST = /^[0-9a-fA-F]{64}$/;
const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
/** RFC 9110 section 8.3.1 */
const MEDIA_TYPE = new RegExp(
  `^${TOKEN}/${TOKEN}(?: ?; ?${TOKEN}=(?:${TOKEN}|"(?:[ !#-\\[\\]-~]|\\\\[ -~])*"))*$`,
);

function checkContent(
  {
    sha256,
    size_bytes: size,
    content_type: type,
    captured_at_unix_ms: captured = 0,
  }: SessionUploadPresignRequest,
  problems: Problem[],
): void {
  if (!DIGEST.test(sha256))
    problems.push({ pointer: "/sha256", detail: "sha256 must be 64 hexadecimal digits" });
  if (!Number.isInteger(size) || size < 0 || size > UPLOAD_BYTES_MAX)
    problems.push({
      pointer: "/size_bytes",
      detail: `size_bytes must be a whole number from 0 to ${UPLOAD_BYTES_MAX}`,
    });
  if (type.length > CONTENT_TYPE_LENGTH_MAX || !MEDIA_TYPE.test(type))
    problems.push({
      pointer: "/content_type",
      detail: `content_type must be one media type, with or without parameters, of at most ${CONTENT_TYPE_LENGTH_MAX} characters`,
    });
  if (!Number.isInteger(captured) || captured < 0)
    problems.push({
      pointer: "/captured_at_unix_ms",
      detail: "captured_at_unix_ms must be a whole number from 0",
    });
}

const LENGTHS = {
  cwd: PATH_LENGTH_MAX,
  title: TITLE_LENGTH_MAX,
  summary: SUMMARY_LENGTH_MAX,
  repository_root: PATH_LENGTH_MAX,
  repository_remote: PATH_LENGTH_MAX,
} as const;

function checkTexts(request: SessionUploadPresignRequest, problems: Problem[]): void {
  if (request.session_id === "")
    problems.push({ pointer: "/session_id", detail: "session_id must not be empty" });
  checkText("session_id", request.session_id, SESSION_ID_LENGTH_MAX, problems);
  for (const name of ["cwd", "title", "summary", "repository_root", "repository_remote"] as const)
    checkText(name, request[name] ?? "", LENGTHS[name], problems);
}

/** Counts characters, not bytes. SQLite cannot store NUL or half of a surrogate pair faithfully. */
function checkText(name: string, value: string, lengthMax: number, problems: Problem[]): void {
  const pointer = `/${name}`;
  if (value.length > lengthMax && [...value].length > lengthMax)
    problems.push({ pointer, detail: `${name} may have at most ${lengthMax} characters` });
  if (!value.isWellFormed() || value.includes("\0"))
    problems.push({ pointer, detail: `${name} must be Unicode text without the character NUL` });
}

function readFormat(
  { artifact_format: format }: SessionUploadPresignRequest,
  problems: Problem[],
): ArtifactFormat {
  const known = ARTIFACT_FORMATS.find((name) => name === (format ?? RAW_FORMAT));
  if (known !== undefined) return known;
  problems.push({
    pointer: "/artifact_format",
    detail: `artifact_format must be ${ARTIFACT_FORMATS.join(" or ")}`,
  });
  return RAW_FORMAT;
}

/** @returns undefined for a profile with a problem; the profile of an unknown harness is not checked */
function readProfile(
  { harness: key, compatibility_profile: wanted = LEGACY_PROFILE }: SessionUploadPresignRequest,
  harnesses: readonly Harness[],
  problems: Problem[],
): { profile: string; canResume: boolean } | undefined {
  if (wanted === LEGACY_PROFILE) return { profile: LEGACY_PROFILE, canResume: false };
  const harness = harnesses.find((each) => each.key === key);
  const generation = harness?.generations.find(
    ({ profile, profileAliases }) => profile === wanted || profileAliases.includes(wanted),
  );
  if (generation)
    return { profile: generation.profile, canResume: generation.capabilities.includes("session_resume") };
  if (harness)
    problems.push({
      pointer: "/compatibility_profile",
      detail: `compatibility_profile must be ${LEGACY_PROFILE} or a profile of the harness`,
    });
  return undefined;
}

/** The last time that RFC 3339 can express: the end of the year 9999. */
export const TIME_MS_MAX = Date.UTC(10_000, 0, 1) - 1;

const knownTime = (ms = 0): number | null => (ms === 0 || ms > TIME_MS_MAX ? null : ms);
