import { pageParameters, streamParameters } from '../../routes/history.ts'
import { resultParameters } from '../../routes/result.ts'
import { countParameters, listParameters } from '../../routes/runs.ts'
import { ENGINE, OF_RUN } from '../errors.ts'
import { LISTED_RUN_LINKS } from '../links.ts'
import type { Operation } from '../operation.ts'
import { MAX_TIMEOUT_MS } from '../schemas/requests.ts'
import { ref } from '../schemas/schema.ts'
import { OUTPUT_ALONE, OUTPUT_HEADERS, RUN_EVENTS } from './start.ts'

const FILTERS = {
  workflowName: 'Exact name of the workflow',
  catalog: 'Exact name of the task queue',
  status: 'Status of the run',
  startedAfter: 'Started at this time or later',
  startedBefore: 'Started before this time',
  closedAfter: 'Closed at this time or later',
  closedBefore: 'Closed before this time',
  searchAttributes: 'Values of search attributes by name: `searchAttributes[Customer]=gold`',
  query: "A condition in Temporal's list filter language",
}

const PAGE = { pageSize: 'Default 100', pageToken: '`nextPageToken` of the previous page' }

const INCLUDE_PAYLOADS = 'False leaves out arguments, results, memos, headers and search attributes. Default true'

const HISTORY_EVENTS = {
  workflow: ref('HistoryRun'),
  history: ref('HistoryEvent'),
  done: ref('HistoryRun'),
  server_error: ref('ProblemDetails'),
}

export const inspectOperations: readonly Operation[] = [
  {
    method: 'get',
    path: '/workflow/runs',
    id: 'listRuns',
    tag: 'Find',
    summary: 'List runs',
    docs: 'list-runs',
    query: { schema: listParameters, descriptions: { ...FILTERS, ...PAGE } },
    responses: {
      200: {
        description: 'A page of runs: open ones first, then the one that closed last',
        schema: ref('RunPage'),
        links: [...LISTED_RUN_LINKS, 'nextRuns'],
      },
    },
    errors: [...ENGINE, 'InvalidPageTokenError'],
  },
  {
    method: 'get',
    path: '/workflow/runs/count',
    id: 'countRuns',
    tag: 'Find',
    summary: 'Count runs, in total or by status',
    docs: 'count-runs',
    query: { schema: countParameters, descriptions: { ...FILTERS, groupBy: 'Count by status, too' } },
    responses: {
      200: { description: 'The number of runs', schema: ref('RunCount') },
    },
    errors: ENGINE,
  },
  {
    method: 'get',
    path: '/workflow/:id/status',
    id: 'getWorkflowStatus',
    tag: 'Inspect',
    summary: "Get the workflow's status",
    docs: 'status',
    responses: {
      200: { description: 'The run', schema: ref('WorkflowStatus') },
    },
    errors: OF_RUN,
  },
  {
    method: 'get',
    path: '/workflow/:id/explain',
    id: 'explainWorkflow',
    tag: 'Inspect',
    summary: 'Find out what the run is waiting for, and what to do about it',
    docs: 'explain',
    responses: {
      200: {
        description: 'Why the run does not move',
        schema: ref('Explanation'),
      },
    },
    errors: OF_RUN,
  },
  {
    method: 'get',
    path: '/workflow/:id/result',
    id: 'getWorkflowResult',
    tag: 'Inspect',
    summary: 'Get its result, or wait for it',
    docs: 'result',
    description: OUTPUT_ALONE,
    query: {
      schema: resultParameters(MAX_TIMEOUT_MS),
      descriptions: {
        wait: 'How long to wait for the end of the run: milliseconds, or a duration such as `30s`. Default: do not wait; as an event stream 5 minutes',
      },
    },
    headers: ['Last-Event-ID'],
    responses: {
      200: {
        description: 'The result of the closed run, or the events about it',
        schema: ref('WorkflowResult'),
        headers: [...OUTPUT_HEADERS, 'Portico-Output-Warning'],
        events: RUN_EVENTS,
      },
      204: { description: 'The client has received the last event already' },
    },
    errors: [...OF_RUN, 'WorkflowExecutionTimedOutError', 'WorkflowNotCompletedError', 'WorkflowFailedError'],
  },
  {
    method: 'get',
    path: '/workflow/:id/input',
    id: 'getWorkflowInput',
    tag: 'Inspect',
    summary: 'Get its arguments',
    docs: 'input',
    responses: {
      200: { description: 'The arguments of the run', schema: ref('RunInput') },
    },
    errors: OF_RUN,
  },
  {
    method: 'get',
    path: '/workflow/:id/history',
    id: 'getWorkflowHistory',
    tag: 'Inspect',
    summary: 'Get the events of a run, and wait for new ones',
    docs: 'history',
    query: {
      schema: pageParameters,
      descriptions: {
        ...PAGE,
        wait: 'How long to wait for the next event of an open run: milliseconds, or a duration such as `30s`, at most 60 s. Default: do not wait',
        includePayloads: INCLUDE_PAYLOADS,
      },
    },
    responses: {
      200: { description: 'A page of events', schema: ref('HistoryPage'), links: ['nextEvents'] },
    },
    errors: [...OF_RUN, 'InvalidPageTokenError'],
  },
  {
    method: 'get',
    path: '/workflow/:id/history/stream',
    id: 'streamWorkflowHistory',
    tag: 'Inspect',
    summary: 'Get the events of a run as they are recorded',
    docs: 'history-stream',
    query: { schema: streamParameters, descriptions: { includePayloads: INCLUDE_PAYLOADS } },
    headers: ['Last-Event-ID'],
    responses: {
      200: { description: 'The events, until the run closes', events: HISTORY_EVENTS },
      204: { description: 'The run is closed, and the client has received its last event already' },
    },
    errors: OF_RUN,
  },
  {
    method: 'get',
    path: '/workflow/:id/trace-log',
    id: 'getWorkflowTrace',
    tag: 'Inspect',
    summary: 'Get the steps of a run as a tree',
    docs: 'trace-log',
    responses: {
      200: { description: 'The trace', schema: ref('Trace') },
    },
    errors: [...OF_RUN, 'TraceNotAvailableError'],
  },
]
