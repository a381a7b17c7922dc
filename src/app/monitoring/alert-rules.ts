// Example alert rules for Prometheus over our own metrics. `quartermaster help alert-rules` prints them, and the
// release includes them. A test compares them with the metrics.
import { stringify } from "yaml";

interface Rule {
  alert: string;
  /** PromQL; the alert fires for each series it returns */
  expr: string;
  /** how long the condition must hold */
  for: string;
  severity: "critical" | "warning";
  summary: string;
  /** what to do */
  action: string;
}

/** One backup a day, and two hours to make it. */
const BACKUP_SECONDS_MAX = 26 * 3600;

/** Three turns of the retention job. */
const REMOVAL_WAIT_SECONDS = 3 * 3600;

/** Ninety attempts. */
const FORWARD_WAIT_SECONDS = 900;

/** The replica lags by a second and is checked every minute. */
const REPLICA_LAG_SECONDS = 120;
/** The replica is restored once a day, which may take two hours. */
const REPLICA_CHECK_SECONDS_MAX = 26 * 3600;

const RULES: readonly Rule[] = [
  {
    alert: "QuartermasterDown",
    expr: 'up{job="quartermaster"} == 0',
    for: "2m",
    severity: "critical",
    summary: "Quartermaster at {{ $labels.instance }} does not report metrics",
    action: "systemctl status quartermaster; quartermaster doctor",
  },
  {
    alert: "QuartermasterNotReady",
    expr: "quartermaster_ready == 0",
    for: "2m",
    severity: "critical",
    summary: "Quartermaster at {{ $labels.instance }} is not ready: the check {{ $labels.check }} fails",
    action: "quartermaster doctor",
  },
  {
    alert: "QuartermasterFails",
    expr: 'sum by (instance, route) (increase(quartermaster_http_requests_total{status="500"}[10m])) > 0',
    for: "0m",
    severity: "warning",
    summary: "{{ $labels.route }} of Quartermaster at {{ $labels.instance }} answered 500",
    action: "find http.failed with the request id in the log",
  },
  {
    alert: "QuartermasterJobOverdue",
    expr: "time() - (quartermaster_job_last_success_timestamp_seconds > 0) > 3 * quartermaster_job_period_seconds + 900",
    for: "5m",
    severity: "warning",
    summary:
      "The job {{ $labels.exported_job }} of Quartermaster at {{ $labels.instance }} has not succeeded for three of its periods",
    action: "quartermaster jobs list",
  },
  {
    alert: "QuartermasterJobFails",
    expr: 'sum by (instance, exported_job) (increase(quartermaster_job_runs_total{outcome=~"failed|timed_out"}[1h])) > 0',
    for: "0m",
    severity: "warning",
    summary:
      "The job {{ $labels.exported_job }} of Quartermaster at {{ $labels.instance }} failed within the hour",
    action: "quartermaster jobs list; the log has job.failed with the reason",
  },
  {
    alert: "QuartermasterBackupOld",
    expr: `time() - quartermaster_backup_last_success_timestamp_seconds > ${BACKUP_SECONDS_MAX}`,
    for: "2h",
    severity: "critical",
    summary:
      "The last backup of Quartermaster at {{ $labels.instance }} is older than 26 hours, or none was made",
    action: "quartermaster doctor; quartermaster backup create",
  },
  {
    alert: "QuartermasterProvisioningFails",
    expr:
      'sum by (instance) (increase(quartermaster_provisioner_calls_total{outcome!="succeeded"}[15m])) > ' +
      "0.5 * sum by (instance) (increase(quartermaster_provisioner_calls_total[15m]))",
    for: "15m",
    severity: "warning",
    summary: "More than half of the calls that create gateway keys fail at {{ $labels.instance }}",
    action: "quartermaster status; the log has gateway.call_failed with the diagnosis",
  },
  {
    alert: "QuartermasterRevocationsWait",
    expr: "quartermaster_gateway_revocations_pending > 0",
    for: "1h",
    severity: "warning",
    summary:
      "{{ $value }} gateway keys of users without access still work at the gateway of {{ $labels.instance }}",
    action: "quartermaster keys reconcile, with the configuration of the service",
  },
  {
    alert: "QuartermasterRequestLogDrops",
    expr: "sum by (instance, cause) (increase(quartermaster_inference_log_dropped_total[15m])) > 0",
    for: "0m",
    severity: "warning",
    summary: "{{ $labels.instance }} dropped rows of the request log within 15 minutes: {{ $labels.cause }}",
    action: "quartermaster doctor; quartermaster gateway logs list shows the gaps",
  },
  {
    alert: "QuartermasterSessionsLost",
    expr: 'sum by (instance) (increase(quartermaster_audit_entries_total{action="captured_session.lose"}[1h])) > 0',
    for: "0m",
    severity: "warning",
    summary:
      "Bytes of captured sessions at {{ $labels.instance }} were found missing or damaged within the hour",
    action: "quartermaster doctor; quartermaster sessions verify; check the disk or the object store",
  },
  {
    alert: "QuartermasterSessionsNotDeleted",
    expr: `time() - (quartermaster_session_removal_waiting_since_timestamp_seconds > 0) > ${REMOVAL_WAIT_SECONDS}`,
    for: "5m",
    severity: "warning",
    summary:
      "Expired objects of captured sessions have waited for more than 3 hours to be deleted at {{ $labels.instance }}",
    action: "quartermaster doctor; the log has object_store.request_failed if the object store refuses",
  },
  {
    alert: "QuartermasterAuditNotForwarded",
    expr: `time() - (quartermaster_audit_forward_waiting_since_timestamp_seconds > 0) > ${FORWARD_WAIT_SECONDS}`,
    for: "5m",
    severity: "warning",
    summary:
      "Entries of the audit log have waited for more than 15 minutes for the receiver of {{ $labels.instance }}",
    action: "quartermaster audit forwarding; quartermaster doctor",
  },
  {
    alert: "QuartermasterSpansDropped",
    expr: "sum by (instance, cause) (increase(quartermaster_trace_spans_dropped_total[15m])) > 0",
    for: "15m",
    severity: "warning",
    summary:
      "{{ $labels.instance }} has dropped spans of traces for more than 15 minutes: {{ $labels.cause }}",
    action: "quartermaster doctor; check the collector, or lower tracing.sample_ratio",
  },
  {
    alert: "QuartermasterReplicaBehind",
    expr: `quartermaster_replica_lag_seconds > ${REPLICA_LAG_SECONDS}`,
    for: "1m",
    severity: "critical",
    summary: "The replica of {{ $labels.instance }} lacks writes of the last {{ $value }} seconds",
    action: "quartermaster doctor; systemctl status quartermaster-litestream",
  },
  {
    alert: "QuartermasterReplicaUnreachable",
    expr: "quartermaster_replica_reached == 0",
    for: "5m",
    severity: "critical",
    summary: "{{ $labels.instance }} cannot reach the store of its replica",
    action: "quartermaster doctor; the log has standby.store_unreachable with the reason",
  },
  {
    alert: "QuartermasterReplicaNotRestored",
    expr: `time() - quartermaster_job_last_success_timestamp_seconds{exported_job="replica-check"} > ${REPLICA_CHECK_SECONDS_MAX}`,
    for: "2h",
    severity: "critical",
    summary: "The replica of {{ $labels.instance }} was not restored for a test within 26 hours",
    action: "quartermaster jobs list; quartermaster doctor",
  },
  {
    alert: "QuartermasterLeaseLost",
    expr: "quartermaster_standby_lease_held == 0",
    for: "0m",
    severity: "critical",
    summary: "{{ $labels.instance }} does not hold the lease and accepts no change",
    action: "quartermaster doctor; the log has standby.lease_not_renewed with the reason",
  },
  {
    alert: "QuartermasterDiskFilling",
    expr: "quartermaster_disk_available_bytes / quartermaster_disk_size_bytes < 0.1",
    for: "10m",
    severity: "critical",
    summary: "Less than 10 % of the disk of Quartermaster at {{ $labels.instance }} is free",
    action: "free some space; quartermaster backup list shows the sizes of backups",
  },
];

const HEAD = `# Example alert rules for Quartermaster. They expect a scrape job of that name:
#
#   scrape_configs:
#     - job_name: quartermaster
#       authorization: {credentials_file: /etc/prometheus/quartermaster-token}   # metrics.token
#       static_configs: [{targets: ["control.example.org:443"]}]
#       scheme: https
#
# The label \`job\` of our own figures arrives as \`exported_job\`, unless honor_labels is on.
`;

/** @returns a Prometheus rule file, without a trailing newline */
export function alertRules(): string {
  const rules = RULES.map(({ severity, summary, action, ...rule }) => ({
    ...rule,
    labels: { severity },
    annotations: { summary, action },
  }));
  return `${HEAD}${stringify({ groups: [{ name: "quartermaster", rules }] }, { lineWidth: 0 })}`.trimEnd();
}
