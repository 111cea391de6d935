/** The parameters of paths, by their names in the routes. */
import * as z from 'zod/mini'
import {
  activityIdIssue,
  batchIdIssue,
  catalogIssue,
  handlerNameIssue,
  questionKeyIssue,
  runIdIssue,
  scheduleIdIssue,
  updateIdIssue,
  workflowIdIssue,
} from '../../shared/wire/names.ts'
import * as fields from './endpoints/fields/names.ts'

/** Checked by those who read it. */
const unchecked = { label: '', issue: () => null, schema: z.string() }

const SLASH = 'A `/` is sent as `%2F`'

/** `key`: its name in the OpenAPI document. `label`: in errors. `issue`: what is wrong with a value, or null. */
export const PATH_PARAMETERS = {
  id: {
    ...{ key: 'workflowId', label: 'Workflow id', issue: workflowIdIssue, schema: fields.workflowId },
    description: `Id of the workflow. ${SLASH}`,
  },
  rid: {
    ...{ key: 'runId', label: 'Run id', issue: runIdIssue, schema: fields.runId },
    description: 'Id of the run',
  },
  name: {
    ...{ key: 'handlerName', label: 'Handler name', issue: handlerNameIssue, schema: fields.handlerName },
    description: 'Name of the handler',
  },
  updateId: {
    ...{ key: 'updateId', label: 'Update id', issue: updateIdIssue, schema: fields.updateId },
    description: 'Id of the update',
  },
  activityId: {
    ...{ key: 'activityId', label: 'Activity id', issue: activityIdIssue, schema: fields.activityId },
    description: `Id of the activity. ${SLASH}`,
  },
  questionKey: {
    ...{ key: 'questionKey', label: 'Key', issue: questionKeyIssue, schema: fields.questionKey },
    description: 'Key of the question',
  },
  catalog: {
    ...{ key: 'catalogName', label: 'Catalog', issue: catalogIssue, schema: fields.catalogName },
    description: 'Name of the catalog',
  },
  taskQueue: {
    ...{ key: 'taskQueueName', label: 'Task queue', issue: catalogIssue, schema: fields.catalogName },
    description: 'Name of the task queue',
  },
  scheduleId: {
    ...{ key: 'scheduleId', label: 'Schedule id', issue: scheduleIdIssue, schema: fields.scheduleId },
    description: `Id of the schedule. ${SLASH}`,
  },
  batchId: {
    ...{ key: 'batchId', label: 'Batch id', issue: batchIdIssue, schema: fields.batchId },
    description: 'Id of the batch',
  },
  hook: { ...unchecked, key: 'hookName', description: 'Name of a hook of the policy' },
  token: { ...unchecked, key: 'linkToken', description: 'The last part of the URL of the link' },
  file: { ...unchecked, key: 'fileName', description: 'Name of a file of the reference page' },
}

export type PathParameter = keyof typeof PATH_PARAMETERS

/** Whether the path has parameters that are checked here, not by those who read them. */
export function hasCheckedParameters(path: string): boolean {
  return [...path.matchAll(/:(\w+)/g)].some(([, name]) => PATH_PARAMETERS[name as PathParameter].label !== '')
}
