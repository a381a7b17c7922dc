// An example dashboard for Grafana over our own metrics: a table of panels, rendered as the JSON that Grafana imports.
// `quartermaster help dashboard` prints it, and the release includes it.

interface Panel {
  title: string;
  kind: "stat" | "timeseries";
  /** a Grafana unit */
  unit: string;
  /** PromQL by legend */
  lines: Readonly<Record<string, string>>;
}

const OF = '{instance=~"$instance"}';
const rate = (metric: string, by: string, matching = ""): string =>
  `sum by (${by}) (rate(quartermaster_${metric}{instance=~"$instance"${matching}}[$__rate_interval]))`;

const PANELS: readonly Panel[] = [
  {
    title: "Checks that hold",
    kind: "stat",
    unit: "short",
    lines: { "{{check}}": `quartermaster_ready${OF}` },
  },
  {
    title: "Policy revision",
    kind: "stat",
    unit: "short",
    lines: { revision: `quartermaster_policy_revision${OF}` },
  },
  {
    title: "Since the last backup",
    kind: "stat",
    unit: "s",
    lines: { age: `time() - quartermaster_backup_last_success_timestamp_seconds${OF}` },
  },
  {
    title: "Free on the disk",
    kind: "stat",
    unit: "percentunit",
    lines: { free: `quartermaster_disk_available_bytes${OF} / quartermaster_disk_size_bytes${OF}` },
  },
  {
    title: "Requests by status",
    kind: "timeseries",
    unit: "reqps",
    lines: { "{{status}}": rate("http_requests_total", "status") },
  },
  {
    title: "Time to the head of the response, 99th percentile",
    kind: "timeseries",
    unit: "s",
    lines: {
      "{{route}}": `histogram_quantile(0.99, ${rate("http_request_duration_seconds_bucket", "le, route")})`,
    },
  },
  {
    title: "Workstations by health",
    kind: "timeseries",
    unit: "short",
    lines: { "{{health}}": `quartermaster_clients${OF}` },
  },
  {
    title: "Policy fetches by result",
    kind: "timeseries",
    unit: "reqps",
    lines: { "{{result}}": rate("policy_fetches_total", "result") },
  },
  {
    title: "Device logins and tokens",
    kind: "timeseries",
    unit: "reqps",
    lines: {
      "{{outcome}}": rate("device_logins_total", "outcome"),
      "tokens by {{grant}}": rate("tokens_issued_total", "grant"),
      "new tokens {{result}}": rate("token_verifications_total", "result"),
    },
  },
  {
    title: "Provisioning by status",
    kind: "timeseries",
    unit: "reqps",
    lines: { "{{resource}} {{status}}": rate("scim_requests_total", "resource, status") },
  },
  {
    title: "Gateway keys",
    kind: "timeseries",
    unit: "short",
    lines: {
      "{{state}}": `quartermaster_gateway_keys${OF}`,
      "with a problem": `quartermaster_gateway_keys_with_problem${OF}`,
      "to be revoked": `quartermaster_gateway_revocations_pending${OF}`,
    },
  },
  {
    title: "Calls of the provisioner",
    kind: "timeseries",
    unit: "reqps",
    lines: { "{{operation}} {{outcome}}": rate("provisioner_calls_total", "operation, outcome") },
  },
  {
    title: "Failed jobs",
    kind: "timeseries",
    unit: "short",
    lines: {
      "{{exported_job}} {{outcome}}": `increase(quartermaster_job_runs_total{instance=~"$instance",outcome!="succeeded"}[1h]) > 0`,
    },
  },
  {
    title: "Changes by action",
    kind: "timeseries",
    unit: "short",
    lines: { "{{action}}": `increase(quartermaster_audit_entries_total${OF}[1h]) > 0` },
  },
  {
    title: "Database",
    kind: "timeseries",
    unit: "bytes",
    lines: {
      database: `quartermaster_db_size_bytes${OF}`,
      "write-ahead log": `quartermaster_db_wal_size_bytes${OF}`,
    },
  },
];

/** In Grafana's grid, which is 24 cells wide. */
const SIZES = { stat: { w: 6, h: 4 }, timeseries: { w: 12, h: 8 } } as const;
const ROW_CELLS = 24;
/** of Grafana 10; newer versions accept it */
const SCHEMA_VERSION = 38;
const DATASOURCE = { type: "prometheus", uid: "$datasource" };

/** @returns a dashboard that Grafana imports, without a trailing newline */
export function dashboard(): string {
  const stats = PANELS.filter(({ kind }) => kind === "stat").length;
  const document = {
    title: "Quartermaster",
    uid: "quartermaster",
    tags: ["quartermaster"],
    schemaVersion: SCHEMA_VERSION,
    editable: true,
    refresh: "1m",
    time: { from: "now-24h", to: "now" },
    templating: { list: VARIABLES },
    panels: PANELS.map((panel, index) => panelDocument(panel, { index, stats })),
  };
  return JSON.stringify(document, null, 2);
}

const VARIABLES = [
  { name: "datasource", type: "datasource", query: "prometheus", label: "Source" },
  {
    name: "instance",
    type: "query",
    label: "Instance",
    datasource: DATASOURCE,
    query: "label_values(quartermaster_build_info, instance)",
    refresh: 2,
    multi: true,
    includeAll: true,
  },
];

/** The single figures share one row above the charts. */
function panelDocument(
  { title, kind, unit, lines }: Panel,
  { index, stats }: { index: number; stats: number },
) {
  const size = SIZES[kind];
  const place = kind === "stat" ? index : index - stats;
  const perRow = ROW_CELLS / size.w;
  const above = kind === "stat" ? 0 : SIZES.stat.h;
  const y = above + Math.floor(place / perRow) * size.h;
  return {
    id: index + 1,
    title,
    type: kind,
    datasource: DATASOURCE,
    gridPos: { ...size, x: (place % perRow) * size.w, y },
    fieldConfig: { defaults: { unit }, overrides: [] },
    targets: Object.entries(lines).map(([legendFormat, expr], at) => ({
      refId: String.fromCharCode("A".charCodeAt(0) + at),
      datasource: DATASOURCE,
      expr,
      legendFormat,
    })),
  };
}
