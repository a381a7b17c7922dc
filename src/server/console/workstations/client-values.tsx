// Values of a workstation as the pages about workstations show them.
/** @jsxImportSource preact */
import type { Health } from "../../../domain/clients/model.ts";
import { Id, Revision, State, Text } from "../parts/values.tsx";
import { HEALTH_WORDS } from "./words.ts";

export function HealthState({ health }: { health: Health }) {
  const { tone, label } = HEALTH_WORDS[health];
  return <State tone={tone}>{label}</State>;
}

/** @returns for example `linux-x86_64` */
export const platformText = (platform: string, architecture: string | null): string =>
  architecture === null ? platform : `${platform}-${architecture}`;

/** @returns for example `2 of 3`; undefined if an earlier release stored the report */
export const shareText = (done: number | null, all: number | null): string | undefined =>
  done === null || all === null ? undefined : `${done} of ${all}`;

export function Share({ done, all }: { done: number | null; all: number | null }) {
  if (all === 0) return <span class="muted">none</span>;
  return <>{shareText(done, all) ?? <span class="muted">not counted yet</span>}</>;
}

/** The revision that a workstation reports: its number, or its id if it is not among the newest. */
export function ReportedRevision({ sequence, id }: { sequence: number | undefined; id: string | null }) {
  if (id === null || sequence !== undefined) return <Revision sequence={sequence} />;
  return <Id value={id} />;
}

/** Longer texts are folded. */
const SHOWN_CHARACTERS = 240;

/** A text that a workstation reported, which may be very long. */
export function LongText({ value }: { value: string }) {
  if (value.length <= SHOWN_CHARACTERS) return <Text value={value} />;
  return (
    <details class="long">
      <summary>
        <Text value={`${value.slice(0, SHOWN_CHARACTERS)}…`} />
      </summary>
      <Text value={value} />
    </details>
  );
}
