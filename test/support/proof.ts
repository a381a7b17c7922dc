// What the commands that prove something with a program of others share: run.ts of test/keycloak and test/litellm.

/** Prints what was proved. @throws when it is not so */
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
