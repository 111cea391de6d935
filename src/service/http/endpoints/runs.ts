/** Lists and counts runs. */
import * as z from 'zod/mini'
import { checkedString } from '../../../shared/wire/checked-string.ts'
import { STATUSES } from '../../../shared/wire/execution.ts'
import { catalogIssue, filterValueIssue, workflowNameIssue } from '../../../shared/wire/names.ts'
import type { ListedRun } from '../../model/run-filter.ts'
import { endpointOf } from '../endpoint.ts'
import { ref as schemaOf } from '../openapi/schema.ts'
import { ENGINE_ERRORS } from './errors.ts'
import { timeField } from './fields/field-values.ts'
import { jsonForms, optional } from './fields/json-forms.ts'
import { CATALOG_FILTER_FORM, FILTER_FORM, WORKFLOW_FILTER_FORM } from './fields/names.ts'
import { DEFAULT_PAGE_SIZE, pageParameters, queryFlag } from './fields/query-values.ts'

/** A string that is a valid value of a filter and passes `check`. */
function filterValue(check: (value: string) => string | null = () => null, form: object = FILTER_FORM) {
  return checkedString((value) => filterValueIssue(value) ?? check(value)).register(jsonForms, { ...form })
}

const time = timeField('2026-01-31T12:00:00Z or 2026-01-31T12:00:00%2B01:00')

export const filterParameters = {
  workflowName: optional(filterValue(workflowNameIssue, WORKFLOW_FILTER_FORM), 'Exact name of the workflow'),
  catalog: optional(filterValue(catalogIssue, CATALOG_FILTER_FORM), 'Exact name of the task queue'),
  status: optional(z.enum(STATUSES, { error: `must be one of ${STATUSES.join(', ')}` }), 'Status of the run'),
  startedAfter: optional(time, 'Started at this time or later'),
  startedBefore: optional(time, 'Started before this time'),
  closedAfter: optional(time, 'Closed at this time or later'),
  closedBefore: optional(time, 'Closed before this time'),
  problem: optional(queryFlag, 'Whether the workflow task of the open run fails again and again'),
  searchAttributes: optional(
    z.record(z.string(), filterValue()),
    'Values of search attributes by name: `searchAttributes[Customer]=gold`',
  ),
  query: optional(filterValue(), "A condition in Temporal's list filter language"),
}

const NOT_MODIFIED = { description: 'The client has this response already', headers: ['ETag'] } as const

const list = endpointOf('list', {
  method: 'get',
  path: '/workflow/runs',
  id: 'listRuns',
  tag: 'Find',
  summary: 'List runs',
  docs: 'api/runs.md#list-runs',
  query: z.strictObject({ ...filterParameters, ...pageParameters }),
  headers: ['If-None-Match'],
  responses: {
    200: {
      description: 'A page of runs: open ones first, then the one that closed last',
      schema: schemaOf('RunPage'),
      headers: ['ETag'],
      links: ['listedRuns', 'nextRuns'],
    },
    304: NOT_MODIFIED,
  },
  isTagged: true,
  errors: [...ENGINE_ERRORS, 'InvalidPageTokenError'],
  takes: 'work',
  key: 'ignored',
  input: ({ query: { pageSize = DEFAULT_PAGE_SIZE, pageToken = null, ...filter } }) => ({
    filter,
    pageSize,
    pageToken,
  }),
  output: ({ runs, nextPageToken }) => ({ runs: runs.map(toListed), nextPageToken }),
})

const count = endpointOf('count', {
  method: 'get',
  path: '/workflow/runs/count',
  id: 'countRuns',
  tag: 'Find',
  summary: 'Count runs, in total or by status',
  docs: 'api/runs.md#count-runs',
  query: z.strictObject({
    ...filterParameters,
    groupBy: optional(z.literal('status', { error: 'must be status' }), 'Count by status, too'),
  }),
  headers: ['If-None-Match'],
  responses: {
    200: { description: 'The number of runs', schema: schemaOf('RunCount'), headers: ['ETag'] },
    304: NOT_MODIFIED,
  },
  isTagged: true,
  errors: ENGINE_ERRORS,
  takes: 'work',
  key: 'ignored',
  input: ({ query: { groupBy, ...filter } }) => ({ filter, byStatus: groupBy === 'status' }),
})

/** `workflowType`, Temporal's name, has the same value as `workflowName`. */
function toListed({ workflowId, runId, workflowName, ...run }: ListedRun) {
  return { workflowId, runId, workflowName, workflowType: workflowName, ...run }
}

export const listEndpoints = [list, count]
