// `keys reconcile`: reconciles every key in this process, even if a service is running, and lists failures.

import { keyDocument } from "../../../src/domain/gateway/administration/key-document.ts";
import { countText } from "../../../src/platform/count-text.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { SomeFailed } from "../../exit.ts";
import { readPages } from "../../output/list-pages.ts";
import { printable } from "../../output/printable.ts";
import { type Progress, startProgress } from "../../output/progress.ts";

export async function reconcile(call: Call): Promise<void> {
  const { domain, actor, context, output } = call;
  const { administration, directory, figures } = domain.gateway;
  const signal = context.stopSignal();
  let progress: Progress | undefined;
  const { keys, revocations } = await administration
    .reconcile({
      actor,
      signal,
      onBegin(due) {
        progress = startProgress(context, { label: "reconciling keys", unit: "keys", total: due.keys });
      },
      onKey: () => progress?.advance(1),
    })
    .finally(() => progress?.end());
  signal.throwIfAborted();
  const { items, total } = readPages({ text: () => undefined, output }, (query) =>
    directory.list(actor.organizationId, { ...query, withProblem: true }),
  );
  const { revocationsPending } = figures();
  const document = { keys, revocations, revocations_pending: revocationsPending };
  const lines = [
    `reconciled ${countText(keys, "key")}, carried out ${revocations} of ${revocations + revocationsPending} revocations`,
    ...items.map(({ email, problem }) => `  ${printable(`${email}: ${problem}`)}`),
  ];
  output.result({ ...document, failing: items.map(keyDocument) }, lines.join("\n"));
  if (total > 0) throw new SomeFailed(`${countText(total, "key has a problem", "keys have a problem")}`);
}
