// The refusals of the inference proxy, with the sentence that an agent shows.
import { REFUSAL_REASONS, refusal, statusOf } from "../../../src/server/inference/refusals.ts";
import { code, table } from "./prose.ts";

const messageOf = async (reason: (typeof REFUSAL_REASONS)[number]): Promise<string> =>
  (await refusal(reason, "chat", "").json()).error.message;

const MESSAGES = await Promise.all(REFUSAL_REASONS.map(messageOf));

/** By status. */
export const inferenceRefusalsMarkdown = (): string =>
  table(
    ["Status", "Reason", "Message to the agent"],
    REFUSAL_REASONS.map((reason, at) => [`${statusOf(reason)}`, code(reason), MESSAGES[at] ?? ""]).toSorted(
      ([status = "", reason = ""], [other = "", second = ""]) =>
        status.localeCompare(other) || reason.localeCompare(second),
    ),
  );
