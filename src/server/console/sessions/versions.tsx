// The versions of a captured session as a table, newest first.
/** @jsxImportSource preact */
import type { SessionDetail } from "../../../domain/sessions/service.ts";
import { TableHead } from "../parts/table-head.tsx";
import { Id, Size, State, Text, Time } from "../parts/values.tsx";
import { STORE_WORDS, versionState } from "./words.ts";

export const Versions = ({ artifacts }: Pick<SessionDetail, "artifacts">) => (
  <section>
    <h2>Versions</h2>
    {artifacts.length === 0 ? (
      <p>All versions were removed.</p>
    ) : (
      <table class="rows">
        <caption class="visually-hidden">Versions, newest first</caption>
        <TableHead labels={["Announced", "State", "Size", "SHA-256", "Kept in", "Completed", "Kept until"]} />
        <tbody>
          {artifacts.map((artifact) => (
            <Version key={artifact.id} artifact={artifact} />
          ))}
        </tbody>
      </table>
    )}
  </section>
);

function Version({ artifact }: { artifact: SessionDetail["artifacts"][number] }) {
  const { tone, label } = versionState(artifact);
  return (
    <tr>
      <td data-label="Announced">
        <Time at={artifact.createdAtMs} />
      </td>
      <td data-label="State">
        <State tone={tone}>{label}</State>
        {artifact.failureReason !== null && (
          <span class="detail">
            {" "}
            <Text value={artifact.failureReason} />
          </span>
        )}
      </td>
      <td data-label="Size">
        <Size bytes={artifact.sizeBytes} />
      </td>
      <td data-label="SHA-256">
        <Id value={artifact.sha256} />
      </td>
      <td data-label="Kept in">{STORE_WORDS[artifact.store]}</td>
      <td data-label="Completed">
        <Time at={artifact.completedAtMs} none="not yet" />
      </td>
      <td data-label="Kept until">
        <Time at={artifact.expiresAtMs} />
      </td>
    </tr>
  );
}
