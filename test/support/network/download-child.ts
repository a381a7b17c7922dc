// A process that downloads `argv[2]` as from a public host, regardless of its environment, and prints the content or
// the reason of the failure. Every name leads to 127.0.0.1, which counts as public; the trusted certificates do not
// change.
import { DomainError } from "../../../src/platform/errors.ts";
import { ANY_PUBLIC_HOST, createOutbound } from "../../../src/platform/outbound/outbound.ts";

const outbound = createOutbound({
  allowed: [{ name: "anywhere", origin: ANY_PUBLIC_HOST, why: "test" }],
  publicHosts: {
    isPublic: (address) => address === "127.0.0.1",
    resolve: async () => [{ address: "127.0.0.1", family: 4 }],
  },
});

const bounds = { bytesMax: 1_000, timeoutMs: 10_000 };
try {
  for await (const part of outbound.download("anywhere", process.argv[2] ?? "", bounds)) {
    process.stdout.write(part);
  }
} catch (error) {
  process.stdout.write(error instanceof DomainError ? error.reason : String(error));
}
