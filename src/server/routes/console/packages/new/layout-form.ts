// The step for the places of each harness's components in the archive of a new package.
import type { KeptArchive } from "../../../../../domain/catalog/sources/kept-archives.ts";
import type { Addition } from "../../../../../domain/governance/additions/addition-model.ts";
import { HARNESS_KEYS } from "../../../../../domain/harnesses/harnesses.ts";
import type { Problem } from "../../../../../platform/errors.ts";
import type { Done } from "../../../../console/console.ts";
import type { ConsolePage } from "../../../../console/frame/frame.tsx";
import type { Fields } from "../../../../console/frame/kept-fields.tsx";
import {
  adapterIn,
  type LayoutEntry,
  layoutEntriesIn,
  layoutEntryOf,
} from "../../../../console/packages/new/layout-entry.ts";
import { layoutPage } from "../../../../console/packages/new/layout-page.tsx";
import { type RefusedStep, refusedStepOf } from "../../../../console/packages/new/steps.tsx";
import { STEPS } from "../../../../console/packages/new/words.ts";
import { statedIn } from "../../../../console/parts/stated-version.ts";
import type { Reader } from "../../../../console/reader.ts";
import type { RouteContext } from "../../../../router.ts";

export function createLayoutForm(domain: RouteContext["domain"]) {
  const { packageAdditions, packageSources, harnesses } = domain;

  const pageOf = async (
    { organizationId, actor }: Reader,
    entriesOf: (addition: Addition, archive: KeptArchive) => readonly LayoutEntry[],
    refused?: RefusedStep,
  ): Promise<ConsolePage> => {
    const addition = packageAdditions.get(actor);
    const archive = await packageSources.archives.show(organizationId, addition.source.sha256);
    const entries = entriesOf(addition, archive);
    return layoutPage({ addition, entries, refused, paths: archive.paths, harnesses: harnesses.harnesses() });
  };

  return {
    show: (reader: Reader): Promise<ConsolePage> =>
      pageOf(reader, ({ adapters }, archive) =>
        HARNESS_KEYS.map((key) => layoutEntryOf(key, (adapters ?? archive.adapters)[key])),
      ),

    async act(reader: Reader, fields: Fields): Promise<ConsolePage | Done> {
      const entries = layoutEntriesIn(fields);
      const { adapters, problems } = await adaptersIn(domain, entries);
      const again = (refused: RefusedStep) => pageOf(reader, () => entries, refused);
      try {
        packageAdditions.assertRead(reader.actor, statedIn(fields.version_read));
        if (problems.length > 0) {
          const { problems: more } = await packageAdditions.checkLayout(reader.actor, adapters);
          return await again({
            message: "Nothing is saved yet.",
            problems: [...problems, ...more],
            status: 400,
          });
        }
        await packageAdditions.layOut(reader.actor, statedIn(fields.version_read), adapters);
        return { to: STEPS.audience.path };
      } catch (error) {
        return await again(refusedStepOf(error));
      }
    },
  };
}

/** @returns the entered adapters, and all unreadable lines */
async function adaptersIn(
  { governance: { drafts } }: RouteContext["domain"],
  entries: readonly LayoutEntry[],
) {
  const problems: Problem[] = [];
  const adapters: Record<string, unknown> = {};
  for (const entry of entries) {
    if (!entry.isUsed) continue;
    const read = adapterIn(entry);
    const { settings, problems: unread } = await drafts.readSettings(entry.more);
    problems.push(...read.problems, ...unread.map((problem) => inMoreLayouts(problem, entry)));
    adapters[entry.harness] = { ...read.adapter, ...settings };
  }
  return { adapters, problems };
}

const inMoreLayouts = ({ pointer: _, ...problem }: Problem, { harness }: LayoutEntry): Problem => ({
  ...problem,
  pointer: `/adapters/${harness}/more`,
});
