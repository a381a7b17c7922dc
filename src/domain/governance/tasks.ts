// Processor-heavy work on policies, by name. The service runs it in another thread if a document is large, so that requests are
// still answered; a command runs it directly. Each task is a pure function of plain values.

import { type ArtifactReference, artifactReferences } from "./delivery/artifacts.ts";
import { fileConflicts, shownConflicts, takeFileValues } from "./deployment/file-values.ts";
import { readDraft } from "./document/draft.ts";
import { mergeDraft } from "./drafts/draft-merge.ts";
import { reviewDraft } from "./drafts/review.ts";
import { settingsText, typedSettings } from "./drafts/texts/typed-settings.ts";
import { finalizeDocument, withoutRevisionFields } from "./publishing/finalize.ts";
import { validateMcpLists } from "./publishing/mcp-lists.ts";
import { validateModels } from "./publishing/model-assignment.ts";
import { readSettings } from "./publishing/publications.ts";
import { accepted, type BaseRevisionText, parse, refused, type Validated } from "./publishing/validated.ts";
import {
  compare,
  difference,
  joinSection,
  type TimeIsOver,
  validateExtensions,
  validateFormerRevision,
  validateHarness,
  validatePolicy,
  validateSection,
} from "./publishing/validation.ts";
import {
  adminConfigBytes,
  harnessConfigBytes,
  harnessConfigsBytes,
  managedText,
  wholeText,
} from "./reading/admin-view.ts";
import { exportedBytes } from "./reading/export.ts";
import { policyLines } from "./reading/policy-lines.ts";
import { shownText } from "./shown/shown-text.ts";
import { shownPlaces } from "./shown/shown-values.ts";
import { textDifference } from "./shown/text-difference.ts";

/** @param input a document as JSON @returns its published form, and the archives that it names */
function validateDocument({
  input,
  base,
  frame,
}: BaseRevisionText & { input: string }): Validated & { references: ArtifactReference[] } {
  const { document, problems } = readDraft(JSON.parse(input));
  if (problems.length > 0) return { ...refused(problems), references: [] };
  const current = parse(base);
  const stamped = finalizeDocument(withoutRevisionFields(document), { ...frame, base: current, problems });
  const references = artifactReferences(stamped);
  return { ...(problems.length > 0 ? refused(problems) : accepted(stamped, current)), references };
}

export interface GovernanceTasks {
  policy: typeof validatePolicy;
  settings: typeof readSettings;
  extensions: typeof validateExtensions;
  harness: typeof validateHarness;
  mcp: typeof validateMcpLists;
  models: typeof validateModels;
  wholeDocument: typeof validateDocument;
  former: typeof validateFormerRevision;
  section: typeof validateSection;
  join: typeof joinSection;
  fileConflicts: typeof fileConflicts;
  shownConflicts: typeof shownConflicts;
  takeFileValues: typeof takeFileValues;
  compare: typeof compare;
  difference: typeof difference;
  textDifference: typeof textDifference;
  typedSettings: typeof typedSettings;
  settingsText: typeof settingsText;
  mergeDraft: typeof mergeDraft;
  reviewDraft: typeof reviewDraft;
  managedText: typeof managedText;
  wholeText: typeof wholeText;
  shownText: typeof shownText;
  shownPlaces: typeof shownPlaces;
  policyLines: typeof policyLines;
  adminConfig: typeof adminConfigBytes;
  harnessConfig: typeof harnessConfigBytes;
  harnessConfigs: typeof harnessConfigsBytes;
  exported: typeof exportedBytes;
}

/** The functions. Functions that read YAML check the time limit. */
export type TaskTable<
  Tasks extends { [Name in keyof Tasks]: (request: never, read: TimeIsOver) => unknown },
> = {
  [Name in keyof Tasks]: (request: Parameters<Tasks[Name]>[0], read: TimeIsOver) => ReturnType<Tasks[Name]>;
};

export const GOVERNANCE_TASKS: TaskTable<GovernanceTasks> = {
  policy: validatePolicy,
  settings: readSettings,
  extensions: validateExtensions,
  harness: validateHarness,
  mcp: validateMcpLists,
  models: validateModels,
  wholeDocument: validateDocument,
  former: validateFormerRevision,
  section: validateSection,
  join: joinSection,
  fileConflicts,
  shownConflicts,
  takeFileValues,
  compare,
  difference,
  textDifference,
  typedSettings,
  settingsText,
  mergeDraft,
  reviewDraft,
  managedText,
  wholeText,
  shownText,
  shownPlaces,
  policyLines,
  adminConfig: adminConfigBytes,
  harnessConfig: harnessConfigBytes,
  harnessConfigs: harnessConfigsBytes,
  exported: exportedBytes,
};

/** Runs one task, directly or in a thread. */
export type RunTask = <Name extends keyof GovernanceTasks>(
  name: Name,
  request: Parameters<GovernanceTasks[Name]>[0],
) => Promise<ReturnType<GovernanceTasks[Name]>>;

/** For commands, which serve no other callers. */
export const runAtOnce: RunTask = async (name, request) => GOVERNANCE_TASKS[name](request, () => false);
