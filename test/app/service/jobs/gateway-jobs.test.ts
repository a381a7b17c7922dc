// What a service without gateway mode reports about keys that still work at the gateway.
import { expect, test } from "bun:test";
import { startGatewayWork } from "../../../../src/app/service/jobs/gateway-jobs.ts";
import { gatewayRevocations } from "../../../../src/domain/gateway/tables.ts";
import { createLog } from "../../../../src/platform/observe/log.ts";
import { createTestServer } from "../../../support/server.ts";

test("a start without gateway mode warns about pending revocations, and only about them", async () => {
  await using server = await createTestServer();
  const { clock, db, organizationId } = server.world;
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  const log = createLog({ level: "debug", format: "json", write, clock });
  await startGatewayWork(server.domain, log);
  expect(lines).toEqual([]);
  const revocation = { id: "r", organizationId, userId: "u", email: "ana@example.org", reason: "user" };
  const times = { attempts: 0, nextAttemptAtMs: 0, createdAtMs: 0 };
  await db.write(
    (tx) =>
      void tx
        .insert(gatewayRevocations)
        .values({ ...revocation, ...times })
        .run(),
  );
  await startGatewayWork(server.domain, log);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: "warning", event: "gateway.revocations_pending", pending: 1 },
  ]);
});
