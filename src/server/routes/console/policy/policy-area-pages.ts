// The pages about the policy: in force, history, explanation, harnesses, packages, MCP servers, and drafts.
import { Elysia } from "elysia";
import type { Console } from "../../../console/console.ts";
import type { RouteContext } from "../../../router.ts";
import { extensionPages } from "../packages/extension-pages.ts";
import { draftActionPages, draftPages } from "./draft-pages.ts";
import { explainPages } from "./explain-pages.ts";
import { harnessPages } from "./harness-pages.ts";
import { historyPages } from "./history-pages.ts";
import { mcpPages } from "./mcp-pages.ts";
import { policyPages, rolloutPages } from "./policy-pages.ts";
import { reachPages } from "./reach-pages.ts";

/** @returns all pages about the policy */
export const policyAreaPages = (context: RouteContext, console: Console) =>
  new Elysia({ name: "routes/console-policy-area" })
    .use(policyPages(context, console))
    .use(historyPages(context, console))
    .use(rolloutPages(context, console))
    .use(explainPages(context, console))
    .use(harnessPages(context, console))
    .use(extensionPages(context, console))
    .use(mcpPages(context, console))
    .use(reachPages(context, console))
    .use(draftPages(context, console))
    .use(draftActionPages(context, console));
