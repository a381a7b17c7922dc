// Sentences of the system pages.

/** Descriptions of the service's jobs, by name. */
export const JOB_TEXTS: ReadonlyMap<string, string> = new Map([
  ["access-sweep", "Removes logins, codes and links that have expired"],
  ["artifact-retention", "Removes package archives that have been unused for 90 days"],
  ["audit-forward", "Sends the audit log to its receiver"],
  ["audit-retention", "Removes audit entries after the retention of the settings"],
  ["backup", "Creates a backup and removes old ones"],
  ["client-retention", "Removes workstations that were not seen during the retention of the settings"],
  ["client-verdicts", "Recomputes the health of workstations that may have changed without a report"],
  ["gateway-reconcile", "Compares gateway keys with the gateway and repairs differences"],
  ["invitation-retention", "Removes old invitations"],
  ["model-catalog", "Reads the models that the gateway offers"],
  ["policy-draft-expiry", "Removes drafts of the policy that nobody has saved for 30 days"],
  ["replica-check", "Restores the replica as a test"],
  ["replica-watch", "Compares the replica with the database"],
  ["replaced-data", "Removes data that a restore replaced"],
  ["request-log-retention", "Removes old rows of the request log"],
  ["rollout-samples", "Counts the workstations on the newest revision, for the curve of its rollout"],
  ["sealing-rewrap", "Reseals older secrets with the current sealing key"],
  ["session-retention", "Removes captured sessions whose retention has ended"],
  ["session-search", "Adds captured sessions to the search index"],
  ["session-sweep", "Removes leftover files of captured sessions"],
  ["signing-key-rotation", "Replaces an old signing key with a new one, and removes expired keys"],
  ["source-watch", "Looks for newer commits of packages at the company's git hosts"],
  ["user-search", "Adds users to the search index"],
]);
