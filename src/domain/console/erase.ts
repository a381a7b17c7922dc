// Erases a user's console preferences and saved views, including views shared with all administrators.
import type { ErasePersonalData } from "../shared/personal-data.ts";
import * as store from "./store.ts";

/** See ErasePersonalData. */
export const erasePreferences: ErasePersonalData = (tx, { person: { userId } }) => {
  if (userId === undefined) return {};
  const { views, lists } = store.removeAll(tx, userId);
  return { console_views: views, console_lists: lists };
};
