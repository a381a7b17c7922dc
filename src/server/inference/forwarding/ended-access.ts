// Ends calls whose caller has lost access: the session was revoked, the login ended, the user is suspended or removed,
// or the token or login has expired. It looks for ended access only after a change, including a change by another process.
// A new key ends nothing.
import type { EndedBy, SessionWatch } from "../../../domain/gateway/service.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { RefusalReason } from "../refusals.ts";
import type { OpenCall } from "./open-call.ts";

const REASONS = {
  session: "inference.session_revoked",
  login: "inference.login_ended",
  user: "inference.user_inactive",
} as const satisfies Record<EndedBy, RefusalReason>;

export class EndedAccess {
  #revision = -1;

  constructor(private readonly dependencies: { watch: SessionWatch; clock: Clock }) {}

  cut(calls: Iterable<OpenCall>): void {
    const nowMs = this.dependencies.clock.nowMs();
    for (const open of calls)
      if (nowMs >= open.call.admitted.endsAtMs)
        open.stop({ outcome: "cut", reason: "inference.login_ended" });
    const revision = this.dependencies.watch.revision();
    if (revision === this.#revision) return;
    const sessions = new Map([...calls].map(({ call }) => [call.admitted.gatewaySessionId, call.admitted]));
    const ended = this.dependencies.watch.endedAmong([...sessions.values()]);
    this.#revision = revision; // only after the check has finished
    for (const open of calls) {
      const by = ended.get(open.call.admitted.gatewaySessionId);
      if (by) open.stop({ outcome: "cut", reason: REASONS[by] });
    }
  }
}
