// Erases a user's captured sessions with their bytes, and what others shared with the user. The next run of the retention job
// deletes the objects.
import type { ErasePersonalData } from "../shared/personal-data.ts";
import { dropGrantsOf, dropSession, listOwned } from "./removal-store.ts";

/** See ErasePersonalData. Held sessions are erased too. */
export const eraseSessions: ErasePersonalData = (tx, { person: { userId }, nowMs }) => {
  if (userId === undefined) return {};
  const sessions = listOwned(tx, userId);
  for (const session of sessions) dropSession(tx, session, nowMs);
  return { captured_sessions: sessions.length, session_shares: dropGrantsOf(tx, userId) };
};
