/** Lists and counts runs. */
import * as z from 'zod/mini'
import type { ListedRun } from '../../domain/model/run-filter.ts'
import { checkedString } from '../../protocol/checked-string.ts'
import { STATUSES } from '../../protocol/execution.ts'
import { catalogIssue, filterValueIssue, workflowNameIssue } from '../../protocol/names.ts'
import { endpoint } from '../endpoint.ts'
import { ref as schemaOf } from '../openapi/schemas/schema.ts'
import { jsonResponse } from '../response.ts'
import { ENGINE_ERRORS } from './errors.ts'
import { isTime, TIME_FORM } from './fields/field-values.ts'
import { jsonForms, optional } from './fields/json-forms.ts'
import { CATALOG_FILTER_FORM, FILTER_FORM, WORKFLOW_FILTER_FORM } from './fields/names.ts'
import { DEFAULT_PAGE_SIZE, pageParameters } from './fields/query-values.ts'

function timeIssue(text: string): string | null {
  if (isTime(text)) return null
  return 'must be a time like 2026-01-31T12:00:00Z or 2026-01-31T12:00:00%2B01:00'
}

/** A string that is a valid value of a filter and passes `check`. */
function filterValue(check: (value: string) => string | null = () => null, form: object = FILTER_FORM) {
  return checkedString((value) => filterValueIssue(value) ?? check(value)).register(jsonForms, { ...form })
}

const time = filterValue(timeIssue, TIME_FORM)

const filterParameters = {
  workflowName: optional(filterValue(workflowNameIssue, WORKFLOW_FILTER_FORM), 'Exact name of the workflow'),
  catalog: optional(filterValue(catalogIssue, CATALOG_FILTER_FORM), 'Exact name of the task queue'),
  status: optional(z.enum(STATUSES, { error: `must be one of ${STATUSES.join(', ')}` }), 'Status of the run'),
  startedAfter: optional(time, 'Started at this time or later'),
  startedBefore: optional(time, 'Started before this time'),
  closedAfter: optional(time, 'Closed at this time or later'),
  closedBefore: optional(time, 'Closed before this time'),
  searchAttributes: optional(
    z.record(z.string(), filterValue()),
    'Values of search attributes by name: `searchAttributes[Customer]=gold`',
  ),
  query: optional(filterValue(), "A condition in Temporal's list filter language"),
}

const list = endpoint({
  method: 'get',
  path: '/workflow/runs',
  id: 'listRuns',
  tag: 'Find',
  summary: 'List runs',
  docs: 'list-runs',
  query: z.strictObject({ ...filterParameters, ...pageParameters }),
  responses: {
    200: {
      description: 'A page of runs: open ones first, then the one that closed last',
      schema: schemaOf('RunPage'),
      links: ['listedRuns', 'nextRuns'],
    },
  },
  errors: [...ENGINE_ERRORS, 'InvalidPageTokenError'],
  takes: 'work',
  key: 'ignored',
  access: 'list',
  async handle(c, { query, call, workflows }) {
    const { pageSize = DEFAULT_PAGE_SIZE, pageToken = null, ...filter } = query(c)
    const page = await workflows.list({ filter, pageSize, pageToken }, call(c))
    return jsonResponse(c, { runs: page.runs.map(toListed), nextPageToken: page.nextPageToken })
  },
})

const count = endpoint({
  method: 'get',
  path: '/workflow/runs/count',
  id: 'countRuns',
  tag: 'Find',
  summary: 'Count runs, in total or by status',
  docs: 'count-runs',
  query: z.strictObject({
    ...filterParameters,
    groupBy: optional(z.literal('status', { error: 'must be status' }), 'Count by status, too'),
  }),
  responses: { 200: { description: 'The number of runs', schema: schemaOf('RunCount') } },
  errors: ENGINE_ERRORS,
  takes: 'work',
  key: 'ignored',
  access: 'list',
  async handle(c, { query, call, workflows }) {
    const { groupBy, ...filter } = query(c)
    return jsonResponse(c, await workflows.count({ filter, byStatus: groupBy === 'status' }, call(c)))
  },
})

/** `workflowType`, Temporal's name, has the same value as `workflowName`. */
function toListed({ workflowId, runId, workflowName, ...run }: ListedRun) {
  return { workflowId, runId, workflowName, workflowType: workflowName, ...run }
}

export const listEndpoints = [list, count]
