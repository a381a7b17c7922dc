// `bun run test:firefox`: the console of the demo in Debian's Firefox: every page of the navigation with axe-core, the editor, a
// dialog, and a package from its upload to the workstations. Needs Firefox 140 or newer on PATH as `firefox-esr` or `firefox`, or at
// $FIREFOX, which is why `bun run test` leaves it out.
import axe from "axe-core";
import { startDemo } from "../support/browser/demo.ts";
import { tarFile, tarGzOf } from "../support/content/tar.ts";
import { prove } from "../support/proof.ts";
import { type Firefox, openFirefox } from "./firefox.ts";

const WORKSTATIONS = 3;
const program = process.env.FIREFOX ?? Bun.which("firefox-esr") ?? Bun.which("firefox");
const AA = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

async function main(): Promise<void> {
  if (!program) throw new Error("firefox is not on PATH; install firefox-esr, or name it with FIREFOX");
  await using demo = await startDemo(WORKSTATIONS);
  await using firefox = await openFirefox(program);
  await firefox.open(`${demo.url}/console`);
  await signIn(firefox, demo.administrator, demo.password);
  await lookAtPages(firefox);
  await lookAtDialog(firefox, demo.url);
  await addPackage(firefox, demo.url);
  process.stdout.write("the console works in this Firefox\n");
}

async function signIn(firefox: Firefox, email: string, password: string): Promise<void> {
  for (const [id, value] of Object.entries({ email, password }))
    await firefox.evaluate(`document.getElementById("${id}").value = ${JSON.stringify(value)}`);
  await firefox.press("main form [type=submit]");
  await firefox.until(`location.pathname === "/console"`);
}

/** Opens every page of the navigation, and the pages that only a list or a button leads to. */
async function lookAtPages(firefox: Firefox): Promise<void> {
  const linked = await firefox.evaluate(`[...document.querySelectorAll("nav a")].map(({ href }) => href)`);
  if (!Array.isArray(linked) || linked.length < 20) throw new Error(`too few pages: ${linked}`);
  const { origin } = new URL(String(linked[0]));
  const others = ["policy/edit", "harnesses/codex", "packages/new", "catalog/import", "mcp/new"];
  for (const url of [...linked.map(String), ...others.map((path) => `${origin}/console/${path}`)]) {
    await firefox.open(url);
    await expectNothing(firefox, url);
  }
  await firefox.open(`${origin}/console/policy/edit`);
  await firefox.until(
    `[...document.querySelectorAll("*")].some(({ shadowRoot }) => shadowRoot?.querySelector(".cm-line"))`,
  );
}

/** @throws Error for an error of the browser or of axe-core */
async function expectNothing(firefox: Firefox, url: string): Promise<void> {
  await firefox.evaluate(`(() => {${axe.source}})()`);
  const found = await firefox.evaluate(
    `axe.run(document, ${JSON.stringify({ runOnly: AA })}).then(({ violations }) => violations.map(({ id }) => id))`,
  );
  const complaints = [...(Array.isArray(found) ? found : [found]), ...(await firefox.takeComplaints())];
  if (complaints.length > 0) throw new Error(`${url}: ${complaints.join("; ")}`);
  process.stdout.write(`${new URL(url).pathname}\n`);
}

async function lookAtDialog(firefox: Firefox, origin: string): Promise<void> {
  await firefox.open(`${origin}/console/clients`);
  await firefox.press("table.rows tbody a");
  await firefox.press("a[data-dialog]");
  await firefox.until(`document.querySelector("dialog[open] form") !== null`);
  await firefox.press("dialog [data-close]");
  await firefox.until(`document.querySelector("dialog") === null`);
  await expectNothing(firefox, `${origin}/console/clients/one`);
}

/** From the upload to the workstations. */
async function addPackage(firefox: Firefox, origin: string): Promise<void> {
  const archive = tarGzOf(tarFile("skills/fox/SKILL.md", "# Fox\n"));
  await firefox.open(`${origin}/console/packages/new`);
  await firefox.evaluate(`(() => {
    const bytes = Uint8Array.from(atob("${Buffer.from(archive).toString("base64")}"), (c) => c.charCodeAt(0));
    const files = new DataTransfer();
    files.items.add(new File([bytes], "fox-1.0.0.tar.gz", { type: "application/gzip" }));
    document.getElementById("file").files = files.files;
  })()`);
  await firefox.press("form[data-upload] [type=submit]");
  await firefox.until(`location.pathname.endsWith("/inspection")`);
  for (const step of ["identity", "layout", "audience", "check"]) {
    await firefox.press(step === "identity" ? "main a.primary" : "main form button.primary");
    await firefox.until(`location.pathname.endsWith("/${step}")`);
  }
  await firefox.press("main form button.primary");
  await firefox.until(`location.pathname.endsWith("/review")`);
  await firefox.press("main form button.primary");
  await firefox.until(`document.getElementById("arrival")?.textContent.includes("100%")`);
  await expectNothing(firefox, `${origin}/console/policy/rollout`);
}

await prove(main);
