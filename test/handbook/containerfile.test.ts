// The Containerfile of the handbook. `bun run test:packages` lints it, and runs the service with its settings.
import { expect, test } from "bun:test";
import { containerfile } from "../../src/handbook/containerfile.ts";
import { unknownWordsIn } from "../support/cli/documentation.ts";

const instructions = containerfile()
  .replaceAll(/\\\n\s*/g, "")
  .split("\n")
  .map((line) => /^([A-Z]+) (.*)$/.exec(line)?.slice(1) ?? [line]);
const valuesOf = (name: string) => instructions.filter(([found]) => found === name).map(([, value]) => value);
const commandIn = (text = ""): string[] => JSON.parse(/\[.*\]$/.exec(text)?.[0] ?? "[]");

test("the Containerfile runs the service as a user with a number, and keeps its data in the volume", () => {
  expect(valuesOf("USER")).toEqual(["990:990"]);
  expect(valuesOf("VOLUME")).toEqual(["/var/lib/quartermaster"]);
  expect(valuesOf("ENV")[0]).toContain("QUARTERMASTER_DATA_DIR=/var/lib/quartermaster");
});

test("the commands are those of the executable, without a shell", () => {
  const [entry, start, health] = ["ENTRYPOINT", "CMD", "HEALTHCHECK"].map((name) =>
    commandIn(valuesOf(name)[0]),
  );
  expect(entry).toEqual(["quartermaster"]);
  expect(health?.[0]).toBe("quartermaster");
  expect(unknownWordsIn(`${health?.join(" ")}\n${[entry, start].flat().join(" ")}`)).toEqual([]);
});
