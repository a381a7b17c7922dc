// `sessions hold`, `sessions release` and `sessions apply`: control how long sessions are kept.

import { countText } from "../../../src/platform/count-text.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { isConfirmed } from "../../input/prompt.ts";

export const hold = (call: Call): Promise<void> => setHold(call, true);
export const release = (call: Call): Promise<void> => setHold(call, false);

async function setHold({ domain, actor, output, args }: Call, isHeld: boolean): Promise<void> {
  const [id = ""] = args;
  const changed = await domain.sessions.retention.hold(actor, id, isHeld);
  const done = isHeld ? "held: neither retention nor deletion removes it" : "released";
  const state = isHeld ? "already held" : "not held";
  output.result({ changed, id, held: isHeld }, changed ? done : `unchanged: this session is ${state}`);
}

/** Requirement SES-40: only this command applies a changed setting to stored versions. */
export async function apply(call: Call): Promise<void> {
  const { domain, actor, output, context, command, config } = call;
  const { retention } = domain.sessions;
  const { changed: due, due: over } = retention.changes(actor.organizationId);
  if (due === 0)
    return output.result(
      { changed: false, versions: 0 },
      "unchanged: every deadline matches the current settings",
    );
  const details = [
    `sessions.retention_days is ${config.get("sessions.retention_days")}, sessions.superseded_days is ${config.get("sessions.superseded_days")}.`,
    `${countText(over, "version")} will be past the deadline. The job session-retention removes those that are not held.`,
  ];
  const action = `change the deadline of ${countText(due, "version")}`;
  if (!(await isConfirmed(context, command, { action, details }))) return;
  const signal = context.stopSignal();
  const versions = await retention.apply(actor, signal);
  signal.throwIfAborted();
  output.result(
    { changed: versions > 0, versions },
    `changed the deadline of ${countText(versions, "version")}`,
  );
}
