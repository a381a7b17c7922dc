// A real Chromium for tests. npm ships the binary, so the lock file determines its version. Unpacks it once per installation of the
// dependencies and starts it so that it can reach this machine only.
import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Browser, chromium } from "playwright-core";

const ROOT = join(import.meta.dir, "../../..");
/** Next to the package and not in the shared temporary directory, where somebody else could put a program of that name. */
const CACHE = join(ROOT, "node_modules/.cache");

/** Another name of this machine, which is another site than 127.0.0.1. */
export const FOREIGN_HOST = "elsewhere.example";

const FLAGS = [
  "--no-sandbox", // its sandbox refuses to run as root
  "--disable-gpu",
  "--disable-quic",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-domain-reliability",
  "--no-pings",
  `--host-resolver-rules=MAP ${FOREIGN_HOST} 127.0.0.1, MAP localhost 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1`,
];

/** Longer than it takes until the next test file starts. */
const IDLE_MS = 2_000;

let shared: { browser: Promise<Browser>; users: number; closing: Timer | undefined } | undefined;

/**
 * @returns the one headless browser of this process, for contexts that the caller closes; it is stopped when it has been idle for a
 *   while
 */
export async function borrowChromium(): Promise<{ browser: Browser } & AsyncDisposable> {
  shared ??= { browser: launchChromium(), users: 0, closing: undefined };
  const own = shared;
  clearTimeout(own.closing);
  own.users += 1;
  const browser = await own.browser;
  return { browser, [Symbol.asyncDispose]: async () => giveBack(own) };
}

function giveBack(own: NonNullable<typeof shared>): void {
  own.users -= 1;
  if (own.users > 0) return;
  own.closing = setTimeout(async () => {
    shared = undefined;
    await (await own.browser).close();
  }, IDLE_MS);
}

/** @returns a headless browser; the caller closes it */
export async function launchChromium(): Promise<Browser> {
  const machine = `${process.platform}-${process.arch}`;
  if (machine !== "linux-x64") throw new Error(`npm has this Chromium for linux-x64, not for ${machine}`);
  const folder = await unpacked();
  return await chromium.launch({
    executablePath: join(folder, "chromium"),
    args: FLAGS,
    headless: true,
    // Its own libraries and fonts, even if the machine has some, so that every machine renders the same.
    env: {
      HOME: folder,
      LD_LIBRARY_PATH: join(folder, "al2023/lib"),
      FONTCONFIG_FILE: join(folder, "fonts.conf"),
    },
  });
}

/** @returns the folder of this version; another run that unpacks at the same time does no harm */
async function unpacked(): Promise<string> {
  const manifest = new URL("../package.json", import.meta.resolve("@sparticuz/chromium"));
  const { version } = JSON.parse(await readFile(manifest, "utf8"));
  const folder = join(CACHE, `chromium-${version}`);
  if (existsSync(folder)) return folder;
  await mkdir(CACHE, { recursive: true });
  const staging = mkdtempSync(`${folder}-`);
  await unpackInto(staging);
  writeFileSync(join(staging, "fonts.conf"), FONTS);
  try {
    renameSync(staging, folder);
  } catch (error) {
    rmSync(staging, { recursive: true });
    if (!existsSync(folder)) throw error; // otherwise the other run was first
  }
  return folder;
}

/** The package unpacks into the temporary directory of its process, so it runs in a process with a separate one. */
async function unpackInto(directory: string): Promise<void> {
  const script = `
    import chromium, { inflate } from "@sparticuz/chromium";
    import { fileURLToPath } from "node:url";
    const libraries = new URL("../bin/al2023.tar.br", import.meta.resolve("@sparticuz/chromium"));
    await Promise.all([chromium.executablePath(), inflate(fileURLToPath(libraries))]);
  `;
  const child = Bun.spawn([process.execPath, "-e", script], {
    cwd: ROOT,
    env: { TMPDIR: directory },
    stdout: "ignore",
    stderr: "pipe",
  });
  const complaint = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(`Chromium could not be unpacked: ${complaint}`);
}

/** Replaces the package's own file, which names folders of another machine; relative, so that a checkout may be moved. */
const FONTS = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir prefix="relative">fonts/fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
`;
