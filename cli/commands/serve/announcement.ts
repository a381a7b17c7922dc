// Prints that `serve` is ready: a line in the log, and a summary for people.
import type { ProxyService } from "../../../src/app/service/divided/proxy-service.ts";
import type { Service } from "../../../src/app/service/service.ts";
import type { InferencePlace } from "../../../src/app/service/service-sockets.ts";
import { shellWord } from "../../../src/platform/text/shell-word.ts";
import type { Context } from "../../context.ts";
import { programName } from "../../output/program-name.ts";
import { planSummary } from "../catalog/plan-text.ts";
import type { ServeOutput } from "./output.ts";

type StartedService = Service & { only: "control" | undefined };

export async function announceService(
  service: StartedService,
  { log, isText }: ServeOutput,
  context: Context,
): Promise<void> {
  const { address, baseUrl, inference, installation, only } = service;
  const { from, to, backup } = installation.schema;
  if (from !== 0 && from !== to) log.info("schema.upgraded", { from, to, copy: backup });
  log.info("service.started", {
    address,
    base_url: baseUrl,
    schema: to,
    ...(inference && { inference_url: inference.url }),
    ...(inference?.address !== undefined && { inference_address: inference.address }),
    ...(only && { only }),
  });
  if (isText) context.stdout.write(await linesFor(service, context));
}

/** Announces a process that only forwards inference. */
export async function announceProxy(
  { address, inferenceUrl, installation: { directory, schema } }: ProxyService,
  { log, isText }: ServeOutput,
  { stdout }: Context,
): Promise<void> {
  const { VERSION } = await import("../../../src/platform/version.ts");
  log.info("service.started", { address, inference_url: inferenceUrl, schema: schema.to, only: "proxy" });
  if (!isText) return;
  stdout.write(`Quartermaster ${VERSION} forwards inference on ${address}\n`);
  stdout.write(`  public    ${inferenceUrl}\n`);
  stdout.write(`  data      ${directory.path} (schema ${schema.to})\n`);
}

async function linesFor(
  { address, baseUrl, bootstrap, inference, installation, seeded, only }: StartedService,
  context: Context,
): Promise<string> {
  const { VERSION } = await import("../../../src/platform/version.ts");
  const { directory, schema } = installation;
  const lines = [
    `Quartermaster ${VERSION} listens on ${address}`,
    `  public    ${baseUrl}`,
    `  data      ${directory.path} (schema ${schema.to})`,
    `  sign in   ${bootstrap.admin.email} at ${baseUrl}/login`,
    ...(inference ? [`  inference ${placeText(inference)}`] : []),
    ...(only ? ["  inference by another process: quartermaster serve --only proxy"] : []),
    ...(seeded ? [`  catalog   ${planSummary(seeded)}`] : []),
    `  next      ${programName(context)} catalog list --data-dir ${shellWord(directory.path)}`,
  ];
  return `${lines.join("\n")}\n`;
}

const placeText = ({ url, address }: InferencePlace): string =>
  address === undefined ? url : `${url}, listening on ${address}`;
