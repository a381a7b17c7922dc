// Captured sessions: the list, one of them in each state, sharing, and transcripts.
import { eq } from "drizzle-orm";
import type { Page } from "playwright-core";
import { sessionArtifacts } from "../../../../src/domain/sessions/tables.ts";
import { runSynchronously } from "../../../../src/platform/steps.ts";
import { sessionPath } from "../../../../src/server/console/sessions/words.ts";
import { press, type Site } from "../../../support/browser/browser.ts";
import { bundleOf, linesOf, TRANSCRIPTS } from "../../../support/content/session-bundles.ts";
import { capture } from "../../../support/content/sessions.ts";
import type { Area } from "../scenes.ts";

const SESSIONS = "/console/sessions";
const HOSTILE = `<script>alert(1)</script>\u202E${"\u0301".repeat(100)}${"very-long-".repeat(40)}`;
/** From right to left. */
const FOREIGN = "\u05EA\u05D9\u05E7\u05D5\u05DF \u05D4\u05E9\u05E2\u05D5\u05DF";

const TITLES = {
  own: "Fix the clock of the scheduler",
  hostile: "Text of every kind",
  foreign: FOREIGN,
  damaged: "No archive at all",
  lost: "Lost on the disk",
  held: "Held for a while",
  shared: "Shared by a colleague",
} as const;
type Name = keyof typeof TITLES;
const NAMES: readonly Name[] = ["own", "hostile", "foreign", "damaged", "lost", "held", "shared"];

const message = (role: string, text: string) => ({
  timestamp: "2026-05-04T08:30:00.000Z",
  type: "response_item",
  payload: { type: "message", role, content: [{ type: "input_text", text }] },
});
const output = (text: string) => ({
  type: "response_item",
  payload: { type: "function_call_output", output: text },
});

const LINES = Array.from({ length: 60 }, (_, at) => `line ${at} of a test run`).join("\n");
const LONG = linesOf(
  message("user", HOSTILE),
  message("assistant", `${FOREIGN}\n\n${"x".repeat(25_000)}`),
  output(LINES),
  output("y".repeat(1_900)),
  ...Array.from({ length: 220 }, (_, at) => message(at % 2 ? "assistant" : "user", `message ${at}`)),
);

const BYTES: Readonly<Record<Name, string | Uint8Array>> = {
  own: bundleOf(
    "codex",
    `${TRANSCRIPTS.codex}${linesOf(message("user", `my token is ghp_${"a".repeat(36)}`))}`,
  ),
  hostile: bundleOf("codex", LONG),
  foreign: bundleOf("codex", TRANSCRIPTS.codex ?? "", "another companion"),
  damaged: "no archive",
  lost: "lost",
  held: "held",
  shared: bundleOf("codex", TRANSCRIPTS.codex ?? "", "of a colleague"),
};

/** @returns the id of the seeded session */
function idOf({ server: { domain, world } }: Pick<Site, "server">, name: Name): string {
  const viewer = { userId: "", organizationId: world.organizationId, isAdministrator: true };
  const page = runSynchronously(domain.sessions.lists.list(viewer, { page: 1, q: TITLES[name] }));
  return page.items[0]?.id ?? "";
}

const openSession =
  (name: Name, below = "") =>
  (page: Page, site: Site) =>
    page.goto(`${sessionPath(idOf(site, name))}${below}`);

/** Presses a button of the page below a session. */
const sentFrom =
  (name: Name, below: string, work: (page: Page) => Promise<unknown>) => async (page: Page, site: Site) => {
    await openSession(name, below)(page, site);
    await work(page);
  };

export const sessionArea: Area = {
  async seed({ server }) {
    const { domain, world } = server;
    const member = domain.identity.users.find(world.organizationId, "member@example.com");
    const owner = await server.signInAgain(member);
    const colleague = await server.signedIn("member", { email: "colleague@example.com" });
    for (const name of NAMES) {
      const title = TITLES[name];
      const { accessToken: token } = name === "shared" ? colleague : owner;
      const isHostile = name === "hostile";
      const texts = {
        summary: isHostile ? HOSTILE : "What the agent was asked to do",
        cwd: HOSTILE.slice(0, 300),
      };
      await capture(server, { token }, BYTES[name], { session_id: name, title, ...texts });
    }
    const found = {
      lost: idOf({ server }, "lost"),
      held: idOf({ server }, "held"),
      shared: idOf({ server }, "shared"),
    };
    await domain.sessions.retention.hold(world.system, found.held, true);
    const isLost = eq(sessionArtifacts.sessionId, found.lost);
    const lostAtMs = world.clock.nowMs();
    await world.db.write(
      (tx) => tx.update(sessionArtifacts).set({ lostAtMs }).where(isLost).run(),
      "unobserved",
    );
    const viewer = {
      userId: colleague.user.id,
      organizationId: world.organizationId,
      isAdministrator: false,
    };
    const request = { mode: "workspace" };
    await domain.sessions.sharing.replace(colleague.actor, viewer, { id: found.shared, request });
  },
  scenes: [
    { title: "Captured sessions", as: "member", open: SESSIONS },
    {
      title: "Captured sessions",
      state: "of everybody, with every filter and rare columns",
      open: `${SESSIONS}?filters=all&columns=${encodeURIComponent("+cwd,+summary")}`,
    },
    { title: "Captured sessions", state: "none of which match", open: `${SESSIONS}?q=nowhere` },
    {
      title: "Captured sessions",
      state: "with impossible filters",
      open: `${SESSIONS}?user=x&updated_from=x`,
    },
    { title: TITLES.own, as: "member", open: openSession("own") },
    { title: TITLES.own, state: "for an administrator", open: openSession("own") },
    { title: TITLES.hostile, state: "with hostile texts", as: "member", open: openSession("hostile") },
    { title: TITLES.lost, state: "without its bytes", as: "member", open: openSession("lost") },
    { title: TITLES.held, state: "on hold", as: "member", open: openSession("held") },
    { title: TITLES.shared, state: "of a colleague", as: "member", open: openSession("shared") },
    { title: FOREIGN, state: "from right to left", as: "member", open: openSession("foreign") },
    { title: "Delete this session?", as: "member", open: openSession("own", "/delete") },
    {
      title: "Download the session",
      as: "member",
      open: sentFrom("own", "", (page) => press(page, "Download")),
    },
    { title: "Share the session", as: "member", open: openSession("own", "/share") },
    {
      title: "Share the session",
      state: "with colleagues found",
      as: "member",
      open: sentFrom("own", "/share", async (page) => {
        await page.getByLabel("Add a person").fill("colleague");
        await press(page, "Find");
      }),
    },
    {
      title: "Share the session",
      state: "with an address that is nobody's",
      as: "member",
      open: sentFrom("own", "/share", async (page) => {
        await page.getByLabel("People you choose").check();
        await page.getByLabel("People", { exact: true }).fill("nobody@example.com");
        await press(page, "Continue");
      }),
    },
    {
      title: "Share this session?",
      as: "member",
      open: sentFrom("own", "/share", async (page) => {
        await page.getByLabel("Everybody in the organization").check();
        await press(page, "Continue");
      }),
    },
    { title: "Transcript", as: "member", open: openSession("own", "/transcript") },
    {
      title: "Transcript",
      state: "with hostile and long texts, unfolded",
      as: "member",
      open: sentFrom("hostile", "/transcript", (page) =>
        page.evaluate(() => {
          for (const each of document.querySelectorAll<HTMLDetailsElement>(".entry details"))
            each.open = true;
        }),
      ),
    },
    {
      title: "Transcript",
      state: "from right to left",
      as: "member",
      open: openSession("foreign", "/transcript"),
    },
    {
      title: "Transcript",
      state: "of a colleague",
      as: "member",
      open: openSession("shared", "/transcript?recorded=yes"),
    },
    {
      title: "Transcript",
      state: "that cannot be shown",
      as: "member",
      open: openSession("damaged", "/transcript"),
    },
    { title: "Transcript", state: "without bytes", as: "member", open: openSession("lost", "/transcript") },
  ],
};
