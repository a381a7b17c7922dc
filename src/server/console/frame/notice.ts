// A message about the last action, shown on the next page. A cookie carries it across the redirect, so that it is not in the
// address and is not repeated by a reload.
import { isJsonObject } from "../../../platform/json/json-object.ts";
import { waitingNoticeCookie, waitingNoticeOf } from "../../auth/cookies.ts";

/** A redirect takes seconds. */
const NOTICE_SECONDS = 60;
/** Longer messages are cut: browsers drop cookies of more than 4 KiB. */
const NOTICE_CHARACTERS = 800;

export interface Notice {
  kind: "done" | "attention";
  text: string;
}

/** @returns the value of Set-Cookie that makes the next page show the message */
export function noticeCookie({ kind, text }: Notice, baseUrl: string): string {
  const cut = text.length > NOTICE_CHARACTERS ? `${text.slice(0, NOTICE_CHARACTERS - 1)}…` : text;
  const message = Buffer.from(JSON.stringify({ kind, text: cut })).toString("base64url");
  return waitingNoticeCookie(message, { baseUrl, maxAgeSeconds: NOTICE_SECONDS });
}

/** @returns the value of Set-Cookie that removes the message after it was shown */
export const shownNoticeCookie = (baseUrl: string): string =>
  waitingNoticeCookie("", { baseUrl, maxAgeSeconds: 0 });

/** @returns the message for this page, if there is one */
export function noticeOf(request: Request, baseUrl: string): Notice | undefined {
  const value = waitingNoticeOf(request, baseUrl);
  if (!value) return undefined;
  try {
    const notice: unknown = JSON.parse(Buffer.from(value, "base64url").toString());
    if (!isJsonObject(notice) || typeof notice.text !== "string") return undefined;
    const kind = notice.kind === "attention" ? "attention" : "done";
    return { kind, text: notice.text.slice(0, NOTICE_CHARACTERS) };
  } catch {
    return undefined; // not set by this service
  }
}
