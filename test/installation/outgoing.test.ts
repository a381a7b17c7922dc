// What the settings let the service connect to, beside the gateway (gateway-mode.test.ts).
import { expect, test } from "bun:test";
import { destinationsOf } from "../../src/outgoing.ts";
import { loadConfig } from "../../src/platform/config.ts";
import { ANY_PUBLIC_HOST } from "../../src/platform/outbound.ts";

const destinationsWith = (flags: Record<string, string>) =>
  destinationsOf(loadConfig({ flags, env: {}, cwd: import.meta.dir }));

test("public hosts are a destination only where the setting says so", () => {
  expect(destinationsWith({})).toEqual([]);
  expect(destinationsWith({ packageSourcesPublic: "no" })).toEqual([]);
  expect(destinationsWith({ packageSourcesPublic: "yes" })).toEqual([
    {
      name: "package-sources",
      origin: ANY_PUBLIC_HOST,
      why: expect.stringContaining("any public https host"),
    },
  ]);
});
