// `audit forwarding` and `audit resend`: shows which entries the receiver has, and sends entries again.
import type { ForwardingState } from "../../../src/domain/audit/forwarding/forwarding.ts";
import { countText } from "../../../src/platform/count-text.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { ageText } from "../../output/age.ts";
import { dateOf, detailsText, timeOf } from "../../output/details.ts";
import { entryIdIn } from "./entry-id.ts";

export async function forwarding({ domain, config, context, output }: Call): Promise<void> {
  const { auditForwarding } = domain;
  const receiver = config.get("audit.forward.url") ?? null;
  const state = auditForwarding.state();
  const text = detailsText([
    ["receiver", receiver],
    [
      "state",
      receiver === null
        ? "off in the settings of this command"
        : forwardingText(state, context.clock.nowMs()),
    ],
    ["last entry sent", state.lastId],
    ["sent at", dateOf(state.deliveredAtMs)],
    ["failing since", dateOf(state.failingSinceMs)],
    ["error", state.error],
  ]);
  output.result({ receiver, ...forwardingDocument(state) }, text);
}

/** @throws DomainError `usage.not_a_number`, `audit.not_sent` */
export async function resend({ domain, actor, output, text }: Call): Promise<void> {
  const after = entryIdIn(text("after"));
  const formerId = await domain.auditForwarding.resend(actor, after);
  const changed = formerId !== after;
  output.result(
    { changed, after, sent_up_to: formerId },
    changed
      ? `entries ${after + 1} to ${formerId} will be sent again`
      : `unchanged: nothing was sent after ${after}`,
  );
  if (!domain.auditForwarding.isOn) output.warning("audit.forward.url is not set, so nothing is sent");
}

/** @returns one line for `status` */
export function forwardingText({ lastId, waiting, waitingSinceMs }: ForwardingState, nowMs: number): string {
  if (waitingSinceMs === null) return `every entry was sent, the last is ${lastId}`;
  const since = ageText(waitingSinceMs, nowMs);
  return `${countText(waiting, "entry waits", "entries wait")}, the oldest for ${since}`;
}

export const forwardingDocument = (state: ForwardingState) => ({
  last_id: state.lastId,
  delivered_at: timeOf(state.deliveredAtMs),
  waiting: state.waiting,
  waiting_since: timeOf(state.waitingSinceMs),
  failing_since: timeOf(state.failingSinceMs),
  error: state.error,
});
