// An executable of the same sources without the console, for comparisons of size, start and memory.
import { cpSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { build } from "../../../src/app/release/build.ts";

const ROOT = join(import.meta.dir, "../../..");
const SOURCES = ["src", "cli", "migrations", "package.json", "tsconfig.json"];
const ROUTES = "src/server/routes/console/console-routes.ts";

/**
 * @param folder empty
 * @returns the path of the executable, which has the browser files of the console nevertheless
 */
export async function buildWithoutConsole(folder: string): Promise<string> {
  for (const path of SOURCES) cpSync(join(ROOT, path), join(folder, path), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, ROUTES), "export const consoleRoutes = (_context: unknown): void => {};\n");
  const copy: { build: typeof build } = await import(join(folder, "src/app/release/build.ts"));
  copy.build({ directory: join(folder, "dist") });
  return join(folder, "dist/quartermaster");
}
