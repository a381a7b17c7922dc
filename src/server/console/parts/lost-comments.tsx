// Warns before an action that it removes the comments in the text.
/** @jsxImportSource preact */
import { COMMENTS_LOST, type Draft, mayHaveComments } from "../../../domain/governance/service.ts";

/** The effect of each action on the text. */
const EFFECTS = {
  merge: COMMENTS_LOST,
  publish: "the published policy has none: they end with the draft",
  takeFile: "taking a value of the file rewrites the text without its comments",
  saveHarness: "saving this form rewrites the text of the policy without its comments",
  savePolicy: "saving this text rewrites the settings of each harness without the comments",
} as const;

/** @param typed the texts that the action rewrites */
export const LostComments = ({ typed, act }: { typed: Draft["typed"]; act: keyof typeof EFFECTS }) =>
  mayHaveComments(typed) ? (
    <p class="warning">The text of the draft has comments, and {EFFECTS[act]}.</p>
  ) : null;
