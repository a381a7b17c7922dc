// Settings of the console: `console.*`.
import { boolean, email, list } from "../types.ts";
import { type Settings, withDefault } from "./setting.ts";

export const CONSOLE_SETTINGS = {
  "console.enabled": withDefault(
    boolean,
    "yes",
    "whether the service has a console in the browser; sign-in, device approval and invitations stay without it",
  ),
  "console.auditors": withDefault(
    list(email),
    "",
    "addresses of users who read every page of the console and change nothing there",
  ),
} satisfies Settings;
