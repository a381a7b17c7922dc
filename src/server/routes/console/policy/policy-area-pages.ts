// The pages about the policy: in force, history, explanation, harnesses, packages, MCP servers, and drafts.
import type { Console } from "../../../console/console.ts";
import type { RouteContext } from "../../../router.ts";
import { extensionPages } from "../packages/extension-pages.ts";
import { conflictPages } from "./conflict-pages.ts";
import { draftFilePages } from "./draft-file-pages.ts";
import { draftActionPages, draftPages } from "./draft-pages.ts";
import { editPages } from "./edit-pages.ts";
import { explainPages } from "./explain-pages.ts";
import { harnessPages } from "./harness-pages.ts";
import { historyPages } from "./history-pages.ts";
import { mcpPages } from "./mcp-pages.ts";
import { policyPages, rolloutPages } from "./policy-pages.ts";
import { reachPages } from "./reach-pages.ts";

/** Adds all pages about the policy. */
export function policyAreaPages(context: RouteContext, console: Console): void {
  policyPages(context, console);
  conflictPages(context, console);
  historyPages(context, console);
  rolloutPages(context, console);
  explainPages(context, console);
  harnessPages(context, console);
  extensionPages(context, console);
  mcpPages(context, console);
  reachPages(context, console);
  editPages(context, console);
  draftPages(context, console);
  draftActionPages(context, console);
  draftFilePages(context, console);
}
