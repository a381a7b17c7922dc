// Starts units of systemd for a command of root that becomes the owner of the data directory in the meantime: only root may start
// them. systemctl is the interface that systemd documents for programs; its D-Bus interface would need its own client.

export interface UnitStarter extends Disposable {
  /** Enables them, too: they start again with the machine. @returns what systemctl says went wrong; undefined when all units run */
  start(): Promise<string | undefined>;
}

/**
 * Starts a child process that keeps the rights of this process, and waits. It ends without starting anything when this process ends.
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
    [Symbol.dispose]: () => void child.stdin.end(), // it cannot be killed by the owner of the data directory
  };
}

const areInstalled = (systemctl: string, units: readonly string[]): boolean =>
  Bun.spawnSync([systemctl, "cat", ...units], { stdin: "ignore", stdout: "ignore", stderr: "ignore" })
    .exitCode === 0;
