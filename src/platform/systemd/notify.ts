// The service manager (systemd): its address, its watchdog interval and its messages. src/app/service/supervision.ts decides
// when to send them; notify-socket.ts is the socket.
import { openNotifySocket } from "./notify-socket.ts";

/** Settings of the manager from the environment. */
export interface ManagerAddress {
  /** $NOTIFY_SOCKET */
  readonly socket: string;
  /** interval after which the manager kills a silent service; undefined without a watchdog */
  readonly watchdogMs: number | undefined;
}

/** Assignments of sd_notify(3), such as READY, STATUS, WATCHDOG. */
export type Assignments = Readonly<Record<string, string>>;

export interface ServiceManager {
  readonly watchdogMs: number | undefined;
  /** @returns whether the manager accepted it */
  notify(state: Assignments): boolean;
  /** Sends RELOADING with its start time, so that `systemctl reload` waits for the next READY. */
  notifyReloading(): boolean;
  close(): void;
}

/**
 * Removes the address from the environment, so that no child can send messages for us.
 * @param env the environment of children derives from it
 * @returns undefined if there is no service manager
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
