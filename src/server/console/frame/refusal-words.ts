// Texts for people about refusals whose own message is for programs: what happened, and the label of the link below.
import { RESPONSES_PER_CALLER_MAX } from "../../../domain/idempotency/service.ts";

interface RefusalWords {
  /** a sentence in the form of messages: no capital, no period */
  text: string;
  /** label of the link to the page that the form belongs to */
  next: string;
}

const WORDS: Readonly<Record<string, RefusalWords>> = {
  "idempotency.key_invalid": {
    text: "nothing was done, because the form arrived damaged: this service did not make the hidden field that prevents a second run",
    next: "Open a new form",
  },
  "idempotency.key_reused": {
    text: "nothing was done this time, because this form was sent before with other values, and those were carried out",
    next: "Open a new form",
  },
  "idempotency.too_many_keys": {
    text: `nothing was done, because you sent ${RESPONSES_PER_CALLER_MAX} such forms in the last 24 hours, the limit for one person. Try again when the first of them is a day old`,
    next: "Back to the page of the form",
  },
  "backup.removed": {
    text: "this form made a backup earlier, but its file is no longer in the folder. No other backup was made",
    next: "See the backups and make another one",
  },
  "backup.running": {
    text: "nothing was done, because another backup is in progress",
    next: "See the backups",
  },
};

/** @returns the text for people; undefined if the message of the refusal is already for them */
export const refusalWords = (reason: string): RefusalWords | undefined => WORDS[reason];

export const refusalText = ({ reason, message }: { reason: string; message: string }): string =>
  WORDS[reason]?.text ?? message;
