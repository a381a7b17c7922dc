// Webhooks of git hosts: a caller that knows the secret of a connection makes the job look up its refs soon. The content of a
// webhook is not used (SRC-27).
import { createHmac } from "node:crypto";
import { SECOND_MS } from "../../../platform/clock.ts";
import { equalInConstantTime } from "../../../platform/crypto/constant-time.ts";
import { DomainError } from "../../../platform/errors.ts";
import { changeJob, findJob } from "../../../platform/scheduler/store.ts";
import type { Connection } from "../connections/connection.ts";
import type { MirrorsDependencies } from "../mirroring/mirrors.ts";
import * as store from "./watch-store.ts";

export const SOURCE_WATCH_JOB = "source-watch";

/** Path of the webhooks; the id of the connection follows. */
export const WEBHOOK_PATH = "/hooks/source";

/** Delay of the job after an announcement, because a host sends several together. */
export const ANNOUNCED_CHECK_DELAY_MS = 30 * SECOND_MS;

export interface Announcement {
  connectionId: string;
  /** HMAC-SHA256 of the body under the secret, in hexadecimal; undefined if the host sends none */
  signature: string | undefined;
  /** the secret itself, which GitLab sends instead */
  token: string | undefined;
  /** reads the body, only if the connection expects announcements */
  body(): Promise<Uint8Array>;
}

export class SourceWebhooks {
  constructor(private readonly dependencies: Pick<MirrorsDependencies, "db" | "clock" | "connections">) {}

  /**
   * Marks the refs of the connection as due.
   * @throws DomainError `source.no_webhook`, `source.webhook_refused`, `source.not_watched`; errors of `body`
   */
  async receive(organizationId: string, announcement: Announcement): Promise<void> {
    const { clock, connections, db } = this.dependencies;
    const { connectionId } = announcement;
    const connection = connections.list().find(({ id }) => id === connectionId);
    if (!connection?.webhookSecret) throw noWebhook();
    if (!isAuthentic(connection, announcement, await announcement.body())) throw webhookRefused();
    await db.write((tx) => {
      const nowMs = clock.nowMs();
      const job = findJob(tx, SOURCE_WATCH_JOB);
      if (!job) throw notWatched();
      store.putAnnouncement(tx, { organizationId, connectionId, announcedAtMs: nowMs });
      const nextRunAtMs = nowMs + ANNOUNCED_CHECK_DELAY_MS;
      if (job.nextRunAtMs > nextRunAtMs) changeJob(tx, SOURCE_WATCH_JOB, { nextRunAtMs });
    }, "jobs");
  }
}

function isAuthentic(
  { provider, webhookSecret }: Connection,
  { signature, token }: Announcement,
  body: Uint8Array,
): boolean {
  const secret = webhookSecret?.reveal() ?? "";
  if (provider === "gitlab") return equalInConstantTime(token ?? "", secret);
  const wanted = createHmac("sha256", secret).update(body).digest("hex");
  return equalInConstantTime((signature ?? "").toLowerCase(), wanted);
}

const noWebhook = () =>
  new DomainError("not_found", "source.no_webhook", "no connection with this id expects webhooks");

const webhookRefused = () =>
  new DomainError(
    "forbidden",
    "source.webhook_refused",
    "the webhook has no valid signature or token: compare its secret with webhook_secret of the connection",
  );

const notWatched = () =>
  new DomainError("unavailable", "source.not_watched", "the job that looks for newer commits does not run", {
    hint: "send the webhook again: the job starts some seconds after the service has read the connection",
  });
