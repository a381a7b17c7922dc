// The service manager (systemd) as this process meets it: where it listens, what it wants to hear and how often. When what is
// said is for src/app/service/supervision.ts; the socket is notify-socket.ts's.
import { openNotifySocket } from "./notify-socket.ts";

/** What the manager told us in the environment. */
export interface ManagerAddress {
  /** $NOTIFY_SOCKET */
  readonly socket: string;
  /** silence after which it ends us; undefined without a watchdog */
  readonly watchdogMs: number | undefined;
}

/** Assignments of sd_notify(3), such as READY, STATUS, WATCHDOG. */
export type Assignments = Readonly<Record<string, string>>;

export interface ServiceManager {
  readonly watchdogMs: number | undefined;
  /** @returns whether the manager took it; there is nothing to be done where it did not */
  notify(state: Assignments): boolean;
  /** Says RELOADING with the time it began, so that `systemctl reload` waits for the next READY. */
  notifyReloading(): boolean;
  close(): void;
}

/**
 * Takes the address out of the environment, so that no child can speak for us.
 * @param env what children are given comes from it
 * @returns undefined where nobody listens
 * @source sd_notify(3), sd_watchdog_enabled(3)
 */
export function takeManagerAddress(
  env: Record<string, string | undefined>,
  pid: number,
): ManagerAddress | undefined {
  const { NOTIFY_SOCKET: socket, WATCHDOG_USEC: interval, WATCHDOG_PID: watched } = env;
  for (const name of ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"]) delete env[name];
  if (!socket) return undefined;
  const isOurs = watched === undefined || watched === String(pid);
  const watchdogMs = isOurs && /^[1-9]\d{0,14}$/.test(interval ?? "") ? Number(interval) / 1_000 : undefined;
  return { socket, watchdogMs };
}

/** @throws DomainError `notify.address_unknown`, `notify.unavailable` */
export function openServiceManager({ socket: address, watchdogMs }: ManagerAddress): ServiceManager {
  const socket = openNotifySocket(address);
  const notify = (state: Assignments) =>
    socket.send(
      Object.entries(state)
        .map(([name, value]) => `${name}=${value.replace(/\s+/g, " ")}`)
        .join("\n"),
    );
  return {
    watchdogMs,
    notify,
    notifyReloading: () => notify({ RELOADING: "1", MONOTONIC_USEC: String(socket.monotonicUs()) }),
    close: socket.close,
  };
}
