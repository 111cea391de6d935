import { Hono } from 'hono'
import * as z from 'zod/mini'
import type { ListedRun } from '../../domain/model/run-filter.ts'
import type { Workflows } from '../../domain/model/workflows.ts'
import { checkedString } from '../../protocol/checked-string.ts'
import { STATUSES } from '../../protocol/execution.ts'
import { catalogIssue, filterValueIssue, workflowNameIssue } from '../../protocol/names.ts'
import { type Env, toCall } from '../context.ts'
import { jsonResponse } from '../json-response.ts'
import { queryParameters } from '../query-parameters.ts'
import { jsonForms } from './fields/json-forms.ts'
import { CATALOG_FILTER_FORM, FILTER_FORM, WORKFLOW_FILTER_FORM } from './fields/names.ts'
import { integer } from './fields/query-values.ts'
import { isTime, TIME_FORM } from './fields/time.ts'

/** Lists and counts runs. */
export function runs(workflows: Workflows) {
  return new Hono<Env>()
    .get('/', async (c) => {
      const { pageSize = DEFAULT_PAGE_SIZE, pageToken = null, ...filter } = queryParameters(c, listParameters)
      const page = await workflows.list({ filter, pageSize, pageToken }, toCall(c))
      return jsonResponse(c, { runs: page.runs.map(toListed), nextPageToken: page.nextPageToken })
    })
    .get('/count', async (c) => {
      const { groupBy, ...filter } = queryParameters(c, countParameters)
      const command = { filter, byStatus: groupBy === 'status' }
      return jsonResponse(c, await workflows.count(command, toCall(c)))
    })
}

const DEFAULT_PAGE_SIZE = 100
const MAX_PAGE_SIZE = 1000

function timeIssue(text: string): string | null {
  if (isTime(text)) return null
  return 'must be a time like 2026-01-31T12:00:00Z or 2026-01-31T12:00:00%2B01:00'
}

/** An optional parameter that none of the checks finds anything wrong with. */
function filterValue(check: (value: string) => string | null = () => null, form: object = FILTER_FORM) {
  return z.exactOptional(
    checkedString((value) => filterValueIssue(value) ?? check(value)).register(jsonForms, { ...form }),
  )
}

const filterParameters = {
  workflowName: filterValue(workflowNameIssue, WORKFLOW_FILTER_FORM),
  catalog: filterValue(catalogIssue, CATALOG_FILTER_FORM),
  status: z.exactOptional(z.enum(STATUSES, { error: `must be one of ${STATUSES.join(', ')}` })),
  startedAfter: filterValue(timeIssue, TIME_FORM),
  startedBefore: filterValue(timeIssue, TIME_FORM),
  closedAfter: filterValue(timeIssue, TIME_FORM),
  closedBefore: filterValue(timeIssue, TIME_FORM),
  searchAttributes: z.exactOptional(
    z.record(z.string(), checkedString(filterValueIssue).register(jsonForms, FILTER_FORM)),
  ),
  query: filterValue(),
}

export const listParameters = z.strictObject({
  ...filterParameters,
  pageSize: z.exactOptional(integer(1, MAX_PAGE_SIZE)),
  pageToken: z.exactOptional(z.string()),
})

export const countParameters = z.strictObject({
  ...filterParameters,
  groupBy: z.exactOptional(z.literal('status', { error: 'must be status' })),
})

/** `workflowType` has the same value as `workflowName`, for clients that know it by this name. */
function toListed({ workflowId, runId, workflowName, ...run }: ListedRun) {
  return { workflowId, runId, workflowName, workflowType: workflowName, ...run }
}
