// Writes rows of the request log as Parquet, with the names and the order of the API's members. The file consists of row
// groups, so that memory does not grow with the day.
import { ByteWriter, ParquetWriter } from "hyparquet-writer";
import { type RowView, toRequestLogItem } from "./wire.ts";

/** Number of rows in one row group, which takes a few megabytes. */
export const GROUP_ROWS = 20_000;

type Item = ReturnType<typeof toRequestLogItem>;
type Kind = "text" | "time" | "count" | "flag" | "amount";
type Cell = string | Date | bigint | boolean | number | null;

/** Every member of the API and its type. */
const KINDS: Readonly<Record<keyof Item, Kind>> = {
  id: "text",
  user_id: "text",
  user_email: "text",
  profile_id: "text",
  profile_name: "text",
  occurred_at: "time",
  method: "text",
  path: "text",
  model: "text",
  http_status: "count",
  result: "text",
  upstream_latency_ms: "count",
  harness: "text",
  repository: "text",
  branch: "text",
  commit_sha: "text",
  dirty: "flag",
  run_id: "text",
  claimed: "flag",
  request_id: "text",
  duration_ms: "count",
  first_byte_ms: "count",
  request_bytes: "count",
  response_bytes: "count",
  stream: "flag",
  outcome: "text",
  refusal: "text",
  input_tokens: "count",
  output_tokens: "count",
  cache_read_tokens: "count",
  cache_write_tokens: "count",
  usage_source: "text",
  upstream_cost: "amount",
};

const COLUMNS = Object.entries(KINDS);

type Schema = ConstructorParameters<typeof ParquetWriter>[0]["schema"];

const SCHEMA: Schema = [
  { name: "root", num_children: COLUMNS.length },
  ...COLUMNS.map(([name, kind]) => ({ name, repetition_type: "OPTIONAL" as const, ...typeOf(kind) })),
];

function typeOf(kind: Kind): Pick<Schema[number], "type" | "converted_type"> {
  switch (kind) {
    case "text":
      return { type: "BYTE_ARRAY", converted_type: "UTF8" };
    case "time":
      return { type: "INT64", converted_type: "TIMESTAMP_MILLIS" };
    case "count":
      return { type: "INT64" };
    case "flag":
      return { type: "BOOLEAN" };
    case "amount":
      return { type: "DOUBLE" };
  }
}

/** @returns the bytes of a Parquet file with the rows */
export async function* parquetOf(pages: AsyncIterable<readonly RowView[]>): AsyncGenerator<Uint8Array> {
  const bytes = new ByteWriter();
  const writer = new ParquetWriter({ writer: bytes, schema: SCHEMA });
  let group: Item[] = [];
  for await (const page of pages) {
    group.push(...page.map(toRequestLogItem));
    if (group.length < GROUP_ROWS) continue;
    yield* written(writer, bytes, group);
    group = [];
  }
  if (group.length > 0) yield* written(writer, bytes, group);
  await writer.finish();
  yield taken(bytes);
}

async function* written(
  writer: ParquetWriter,
  bytes: ByteWriter,
  group: readonly Item[],
): AsyncGenerator<Uint8Array> {
  const cells = group.map(cellsOf);
  const columnData = COLUMNS.map(([name], at) => ({ name, data: cells.map((row) => row[at] ?? null) }));
  await writer.write({ columnData, rowGroupSize: GROUP_ROWS * 2 });
  yield taken(bytes);
}

/** The writer continues at its offset in the file, with an empty buffer. */
function taken(bytes: ByteWriter): Uint8Array {
  const part = bytes.getBytes().slice();
  bytes.index = 0;
  return part;
}

const cellsOf = (item: Item): Cell[] => {
  const values: Readonly<Record<string, string | number | boolean | null>> = item;
  return COLUMNS.map(([name, kind]) => cellOf(values[name] ?? null, kind));
};

function cellOf(value: string | number | boolean | null, kind: Kind): Cell {
  if (value === null) return null;
  if (kind === "time") return new Date(String(value));
  return kind === "count" ? BigInt(Number(value)) : value;
}
