// Sentences of the fleet's pages: states of workstations, and what to do about each reason of a verdict.
import { STALE_AFTER_DAYS } from "../../../domain/clients/limits.ts";
import type { Health } from "../../../domain/clients/model.ts";
import type { Tone } from "../parts/values.tsx";

export const HEALTH_WORDS: Readonly<Record<Health, { tone: Tone; label: string }>> = {
  current: { tone: "good", label: "Up to date" },
  outdated: { tone: "neutral", label: "Not up to date" },
  attention: { tone: "attention", label: "Needs attention" },
};

export const STALE_WORD = `Not seen for ${STALE_AFTER_DAYS} days`;
export const RECENT_WORD = `Seen within ${STALE_AFTER_DAYS} days`;
