// The CSV file of a list, which is recorded in the audit log with the filters of its address.
import type { Domain } from "../../../../domain/domain.ts";
import { type CsvFile, csvResponse } from "../../../console/list/csv.ts";
import type { Reader } from "../../../console/reader.ts";

interface Exported<Row> extends Pick<CsvFile<Row>, "columns" | "pages"> {
  /** for example `users` */
  list: string;
  /** of the file without its ending; `list` if omitted */
  name?: string;
}

/** @returns the file as a download */
export const exportResponse = <Row>(
  { exports }: Pick<Domain, "exports">,
  { actor, url }: Reader,
  { list, name = list, columns, pages }: Exported<Row>,
): Response =>
  csvResponse({
    name: `${name}.csv`,
    columns,
    pages,
    recordExport: (rows) => exports.record(actor, { list, filter: url.search.slice(1), rows }),
  });
