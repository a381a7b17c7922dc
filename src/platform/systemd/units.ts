// Starts systemd units for a command of root that becomes the owner of the data directory before it can start them: only root
// may do so. systemctl is the interface that systemd documents for programs; its D-Bus interface would need its own client.

export interface UnitStarter extends Disposable {
  /** Also enables them, so they start again with the machine. @returns the error of systemctl; undefined if all units run */
  start(): Promise<string | undefined>;
}

/**
 * Starts a child process that keeps the rights of this process, and waits. It ends without starting anything if this process
 * ends first.
 * @param path list of folders, as in the variable PATH
 * @returns undefined if systemd does not run here or lacks one of the units
 */
export function unitStarter(units: readonly string[], path: string): UnitStarter | undefined {
  const systemctl = Bun.which("systemctl", { PATH: path });
  if (systemctl === null || !areInstalled(systemctl, units)) return undefined;
  const child = Bun.spawn(
    ["/bin/sh", "-c", 'read -r _ && exec "$0" enable --now "$@"', systemctl, ...units],
    {
      stdin: "pipe",
      stdout: "ignore",
      stderr: "pipe",
    },
  );
  return {
    async start() {
      child.stdin.write("start\n");
      await child.stdin.end();
      const [said, exitCode] = await Promise.all([new Response(child.stderr).text(), child.exited]);
      return exitCode === 0 ? undefined : said.trim() || `systemctl ended with exit code ${exitCode}`;
    },
    [Symbol.dispose]: () => void child.stdin.end(), // the owner of the data directory cannot kill it
  };
}

const areInstalled = (systemctl: string, units: readonly string[]): boolean =>
  Bun.spawnSync([systemctl, "cat", ...units], { stdin: "ignore", stdout: "ignore", stderr: "ignore" })
    .exitCode === 0;
