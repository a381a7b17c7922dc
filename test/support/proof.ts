// Functions for commands that test with other programs, such as test/keycloak/run.ts.

/** Prints a passed check. @throws if it fails */
export function expectEqual(what: string, found: unknown, expected: unknown): void {
  if (!Bun.deepEquals(found, expected))
    throw new Error(`${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`);
  process.stdout.write(`${what}\n`);
}

/** Runs it; a failure is one line, and exit code 1. */
export async function prove(main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    process.stderr.write(`error: ${error instanceof Error ? error.message : error}\n`);
    process.exitCode = 1;
  }
}

/**
 * @param name of the program; its variable has the same name in capital letters
 * @param remedy how to install it
 * @returns the path of the program on PATH, or at its variable
 * @throws Error that names the remedy
 */
export function requireProgram(name: string, remedy: string): string {
  const variable = name.toUpperCase();
  const wanted = process.env[variable] ?? name;
  const found = Bun.which(wanted);
  if (found) return found;
  throw new Error(`${wanted} was not found; ${remedy}, or name it with ${variable}`);
}

/** Daemons are in folders that are not on every PATH. */
const PATH = `${process.env.PATH}:/usr/local/sbin:/usr/sbin:/sbin`;

/**
 * @param packages of Debian by program
 * @returns a function that finds the path of one of them
 * @throws Error that names the missing programs and the command that installs them
 */
export function requirePrograms(packages: Readonly<Record<string, string>>): (name: string) => string {
  const missing = Object.keys(packages).filter((name) => !Bun.which(name, { PATH }));
  if (missing.length > 0) {
    const wanted = [...new Set(missing.map((name) => packages[name]))];
    throw new Error(
      `not installed: ${missing.join(", ")}; on Debian and Ubuntu run: apt-get install ${wanted.join(" ")}`,
    );
  }
  return (name) => Bun.which(name, { PATH }) ?? name;
}
