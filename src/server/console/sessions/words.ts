// Addresses and sentences of the pages about captured sessions.
import { isHarnessKey } from "../../../domain/harnesses/harnesses.ts";
import type {
  ArtifactFormat,
  ArtifactRow,
  ArtifactStatus,
  StoreKind,
} from "../../../domain/sessions/model.ts";
import type { SessionView } from "../../../domain/sessions/service.ts";
import { countText } from "../../../platform/count-text.ts";
import { CONSOLE } from "../frame/navigation.ts";
import { harnessText } from "../own/words.ts";
import { visibleText } from "../parts/texts.ts";
import type { Tone } from "../parts/values.tsx";

export const SESSIONS_PATH = `${CONSOLE}/sessions`;
export const SESSIONS_CSV_PATH = `${SESSIONS_PATH}.csv`;
export const SESSIONS_CHAPTER = "/help/captured-sessions";

export const BREADCRUMBS = [{ href: SESSIONS_PATH, label: "Captured sessions" }] as const;

/** @returns the path of the page about one session */
export const sessionPath = (id: string): string => `${SESSIONS_PATH}/${id}`;

/** @returns the product name of the harness; the stored name for a harness that this release does not know */
export const harnessLabel = (harness: string): string =>
  isHarnessKey(harness) ? harnessText(harness) : harness;

/** @returns the title, or a description of a session without one */
export const titleOf = ({ title, harness }: Pick<SessionView, "title" | "harness">): string =>
  title?.trim() ? visibleText(title) : `${harnessLabel(harness)} session`;

type Stored = Pick<SessionView, "artifact" | "heldAtMs" | "goneAtMs">;

/** @returns whether the bytes of a session are available, in words */
export function storageState(
  { artifact, heldAtMs, goneAtMs }: Stored,
  nowMs: number,
): { tone: Tone; label: string } {
  if (!artifact)
    return goneAtMs === null
      ? { tone: "attention", label: "Not uploaded yet" }
      : { tone: "neutral", label: "Retention over" };
  if (artifact.lostAtMs !== null) return { tone: "bad", label: "Bytes lost" };
  if (heldAtMs !== null) return { tone: "good", label: "Stored, on hold" };
  return artifact.expiresAtMs <= nowMs
    ? { tone: "neutral", label: "Retention over" }
    : { tone: "good", label: "Stored" };
}

export function sharingText({
  sharingMode,
  recipientCount,
}: Pick<SessionView, "sharingMode" | "recipientCount">): string {
  if (sharingMode === "private") return "Nobody";
  if (sharingMode === "workspace") return "Everybody";
  return peopleText(recipientCount);
}

/** @returns `1 person` or `12 people` */
export const peopleText = (count: number): string => countText(count, "person", "people");

const ARTIFACT_WORDS: Readonly<Record<ArtifactStatus, { tone: Tone; label: string }>> = {
  pending: { tone: "attention", label: "Not finished" },
  complete: { tone: "good", label: "Current" },
  superseded: { tone: "neutral", label: "Older" },
  failed: { tone: "bad", label: "Failed" },
};

export const versionState = ({
  status,
  lostAtMs,
}: Pick<ArtifactRow, "status" | "lostAtMs">): { tone: Tone; label: string } =>
  lostAtMs === null ? ARTIFACT_WORDS[status] : { tone: "bad", label: "Bytes lost" };

export const STORE_WORDS: Readonly<Record<StoreKind, string>> = {
  local: "This server",
  s3: "Object store",
};

export const FORMAT_WORDS: Readonly<Record<ArtifactFormat, string>> = {
  "legacy-raw": "Single file",
  "blue-session-bundle-v1": "Bundle",
};

/** Actions on a session: the path of each form. */
const ACTIONS = {
  transcript: "transcript",
  share: "share",
  download: "download",
  remove: "delete",
} as const;

export const actionPath = (id: string, action: keyof typeof ACTIONS): string =>
  `${sessionPath(id)}/${ACTIONS[action]}`;
