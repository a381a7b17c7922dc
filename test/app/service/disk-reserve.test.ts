// Tests what the log of a service says about its disk reserve.
import { expect, test } from "bun:test";
import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fillingOf } from "../../../src/app/service/disk-reserve.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { DiskReserve, RESERVE_BYTES } from "../../../src/platform/files/disk-reserve.ts";
import { createLog } from "../../../src/platform/observe/log.ts";
import { temporaryDirectory } from "../../support/world.ts";

test("SES-41 logs once what stands in the place of the reserve, with the next step, and once that it is whole", async () => {
  const directory = temporaryDirectory();
  const file = join(directory, "disk-reserve");
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  const log = createLog({ level: "info", format: "json", write, clock: systemClock });
  const fill = fillingOf(new DiskReserve(file), log);
  const fillTwice = async () => {
    await fill();
    await fill();
    return lines.splice(0).map((line) => JSON.parse(line));
  };
  const failed = (what: string) => ({
    level: "warning",
    event: "disk.reserve_failed",
    message: `${file} is ${what}, so it reserves no disk space`,
    next: `find out who created ${file}, and remove it: the service then creates its own`,
  });
  mkdirSync(file);
  expect(await fillTwice()).toMatchObject([failed("a directory")]);
  rmSync(file, { recursive: true });
  symlinkSync("missing", file);
  expect(await fillTwice()).toMatchObject([failed("a symbolic link")]);
  rmSync(file);
  expect(await fillTwice()).toMatchObject([{ event: "disk.reserve_made", bytes: RESERVE_BYTES }]);
  rmSync(file);
  symlinkSync("missing", file);
  expect(await fillTwice()).toMatchObject([failed("a symbolic link")]);
  rmSync(directory, { recursive: true });
});
