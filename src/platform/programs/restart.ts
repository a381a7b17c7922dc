// Replaces the running program with a new run in the same process: the same id, arguments, streams and parent, with other
// environment variables. The runtime reads some variables only at startup, so they cannot be set in any other way.

/**
 * Does not return if it succeeds. Close everything that must be closed before this call.
 * @param variables in addition to the environment of this process
 * @throws Error if the system refuses; the process continues
 */
export function restartWith(variables: Readonly<Record<string, string>>): void {
  const [, script = "", ...args] = process.argv;
  const program = Bun.isStandaloneExecutable ? [] : [...process.execArgv, script];
  process.execve?.(process.execPath, [process.argv0, ...program, ...args], { ...process.env, ...variables });
}
