// The notify socket, with a real receiver.
import { afterAll, describe, expect, test } from "bun:test";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { openServiceManager, takeManagerAddress } from "../../../src/platform/systemd/notify.ts";
import { openNotifySocket, SOCKET_PATH_BYTES_MAX } from "../../../src/platform/systemd/notify-socket.ts";
import { receiveNotifications } from "../../support/network/notify-receiver.ts";
import { temporaryDirectory } from "../../support/world.ts";

const directory = temporaryDirectory();
afterAll(() => rmSync(directory, { recursive: true }));

describe("the address of the service manager", () => {
  test("is removed from the environment with all related variables, so that no child can use it", () => {
    const env = { NOTIFY_SOCKET: "/run/x", WATCHDOG_USEC: "30000000", WATCHDOG_PID: "7", HOME: "/" };
    expect(takeManagerAddress(env, 7)).toEqual({ socket: "/run/x", watchdogMs: 30_000 });
    expect(env).toEqual({ HOME: "/" } as typeof env);
  });

  test("is absent without a manager, even if the environment still has a watchdog", () => {
    const env: Record<string, string> = { WATCHDOG_USEC: "30000000" };
    expect(takeManagerAddress(env, 7)).toBeUndefined();
    expect(env).toEqual({});
    expect(takeManagerAddress({ NOTIFY_SOCKET: "" }, 7)).toBeUndefined();
  });

  test.each([
    ["another process is watched", { WATCHDOG_USEC: "30000000", WATCHDOG_PID: "8" }],
    ["there is no interval", {}],
    ["the interval is nothing", { WATCHDOG_USEC: "0" }],
    ["the interval is not a number", { WATCHDOG_USEC: "1e6" }],
  ])("comes without a watchdog where %s", (_, env) => {
    expect(takeManagerAddress({ NOTIFY_SOCKET: "@x", ...env }, 7)).toEqual({
      socket: "@x",
      watchdogMs: undefined,
    });
  });
});

describe("a message", () => {
  const places: [string, string][] = [
    ["a path", join(directory, "notify")],
    ["an abstract name", `@quartermaster-test-${process.pid}`],
  ];
  test.each(places)("arrives as one message at %s", (_, address) => {
    using receiver = receiveNotifications(address);
    const manager = openServiceManager({ socket: address, watchdogMs: undefined });
    expect(manager.notify({ READY: "1", STATUS: "two\nlines, ünd mehr" })).toBe(true);
    expect(receiver.take()).toEqual({ READY: "1", STATUS: "two lines, ünd mehr" });
    expect(receiver.take()).toBeUndefined();
    manager.close();
  });

  test("sends the time of the monotonic clock with a reload", () => {
    using receiver = receiveNotifications(join(directory, "reload"));
    const manager = openServiceManager({ socket: receiver.address, watchdogMs: undefined });
    const upUs = () => Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]) * 1_000_000;
    manager.notifyReloading();
    const { RELOADING, MONOTONIC_USEC } = receiver.take() ?? {};
    expect(RELOADING).toBe("1");
    expect(Number(MONOTONIC_USEC)).toBeWithin(1, upUs() + 1_000_000);
    manager.notifyReloading();
    expect(Number(receiver.take()?.MONOTONIC_USEC)).toBeGreaterThan(Number(MONOTONIC_USEC));
    manager.close();
  });

  test("loses a message without a receiver without an error", () => {
    const manager = openServiceManager({ socket: join(directory, "nobody"), watchdogMs: undefined });
    expect(manager.notify({ READY: "1" })).toBe(false);
    manager.close();
  });
});

test.each([
  [SOCKET_PATH_BYTES_MAX - 1, true],
  [SOCKET_PATH_BYTES_MAX, true],
  [SOCKET_PATH_BYTES_MAX + 1, false],
])("an address of %d bytes is accepted: %p", (length, isTaken) => {
  const open = () => openNotifySocket(`/${"x".repeat(length - 1)}`).close();
  if (isTaken) expect(open).not.toThrow();
  else expect(open).toThrow("at most 108 bytes");
});

test("refuses an address that is not a path or an abstract name", () => {
  expect(() => openNotifySocket("vsock:2:1234")).toThrow("neither a path nor an abstract name");
});
