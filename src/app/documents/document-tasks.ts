// The document tasks that a thread runs for the service.
import { CATALOG_TASKS, type CatalogTasks } from "../../domain/catalog/tasks.ts";
import type { TimeIsOver } from "../../domain/governance/publishing/validation.ts";
import { GOVERNANCE_TASKS, type GovernanceTasks, type TaskTable } from "../../domain/governance/tasks.ts";
import { CONFIG_TASKS, type ConfigTasks } from "../../platform/config/content.ts";

interface DocumentTasks extends GovernanceTasks, CatalogTasks, ConfigTasks {}

export type TaskName = keyof DocumentTasks;
export type TaskRequest<Name extends TaskName> = Parameters<DocumentTasks[Name]>[0];
export type TaskResult<Name extends TaskName> = ReturnType<DocumentTasks[Name]>;

const TASKS: TaskTable<DocumentTasks> = { ...GOVERNANCE_TASKS, ...CATALOG_TASKS, ...CONFIG_TASKS };

/**
 * Runs one task in the current thread.
 * @throws what the task throws
 */
export const runDocumentTask = <Name extends TaskName>(
  name: Name,
  request: TaskRequest<Name>,
  isOver: TimeIsOver = () => false,
): TaskResult<Name> => TASKS[name](request, isOver);
