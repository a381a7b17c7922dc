// Starts the running program again in its own process: the same id, arguments, streams and parent, with other variables. Some
// settings are read by the runtime only when it starts, so they can be set in no other way.

/**
 * Does not return where it succeeds. Nothing may be open that must be closed, because this run ends here.
 * @param variables in addition to the environment of this process
 * @throws Error if the system refuses; the process continues
 */
export function restartWith(variables: Readonly<Record<string, string>>): void {
  const [, script = "", ...args] = process.argv;
  const program = Bun.isStandaloneExecutable ? [] : [...process.execArgv, script];
  process.execve?.(process.execPath, [process.argv0, ...program, ...args], { ...process.env, ...variables });
}
