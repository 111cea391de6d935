import { BODY, ENGINE, START } from '../errors.ts'
import type { RequestHeader, ResponseHeader } from '../headers.ts'
import { WORKFLOW_LINKS } from '../links.ts'
import type { Operation } from '../operation.ts'
import { ref } from '../schemas/schema.ts'

const REQUEST: readonly RequestHeader[] = ['Idempotency-Key', 'traceparent', 'tracestate']
const RESPONSE: readonly ResponseHeader[] = ['Idempotency-Replayed', 'Portico-Started', 'Deprecation', 'Link']

/** The events of a stream about a run. */
export const RUN_EVENTS = {
  started: ref('RunIds'),
  result: ref('WorkflowResult'),
  timeout: ref('Problem408'),
  server_error: ref('ProblemDetails'),
}

/** Its responses have another type: a parameter of the operation would make that of generated clients useless. */
export const OUTPUT_ALONE =
  'For tools that can only read a status and a body: `?body=output` makes the output the whole body of the 200, and any other end of the workflow a 422 `WorkflowFailedError`. It is not a parameter of this operation, whose response would have no type then'
export const OUTPUT_HEADERS: readonly ResponseHeader[] = ['Portico-Workflow-Id', 'Portico-Run-Id']

export const startOperations: readonly Operation[] = [
  {
    method: 'post',
    path: '/workflow/run',
    id: 'runWorkflow',
    tag: 'Start',
    summary: 'Start a workflow and wait for its result',
    docs: 'run-a-workflow',
    description: OUTPUT_ALONE,
    headers: [...REQUEST, 'Prefer', 'Last-Event-ID'],
    body: { schema: 'StartRequest', isRequired: true },
    responses: {
      200: {
        description: 'The workflow has ended. A failed workflow is a result, not an error of the request',
        schema: ref('WorkflowResult'),
        headers: [...RESPONSE, ...OUTPUT_HEADERS, 'Location', 'Portico-Output-Warning'],
        links: WORKFLOW_LINKS,
        events: RUN_EVENTS,
      },
      202: {
        description: 'With `Prefer: respond-async`: the workflow has started and is still running',
        schema: ref('AcceptedRun'),
        headers: [...RESPONSE, 'Location', 'Preference-Applied'],
        links: WORKFLOW_LINKS,
      },
      204: { description: 'The client has received the last event already', headers: RESPONSE },
    },
    errors: [...START, 'WorkflowExecutionTimedOutError', 'WorkflowFailedError'],
  },
  {
    method: 'post',
    path: '/workflow/start',
    id: 'startWorkflow',
    tag: 'Start',
    summary: 'Start a workflow and return its ids',
    docs: 'start-a-workflow',
    headers: REQUEST,
    body: { schema: 'StartRequest', isRequired: true },
    responses: {
      200: {
        description: 'The engine has accepted the workflow',
        schema: ref('StartedRun'),
        headers: [...RESPONSE, 'Location'],
        links: WORKFLOW_LINKS,
      },
    },
    errors: START,
  },
  {
    method: 'post',
    path: '/workflow/validate',
    id: 'validateRequest',
    tag: 'Start',
    summary: 'Check a request for run or start, and start nothing',
    docs: 'validate',
    headers: ['Idempotency-Key'],
    body: { schema: 'StartRequest', isRequired: true },
    responses: {
      200: { description: 'The request is valid', schema: ref('Validation'), headers: ['Deprecation', 'Link'] },
    },
    errors: [...ENGINE, ...BODY, 'UnsupportedWorkflowError', 'CatalogNotAvailableError', 'PayloadCodecError'],
  },
  {
    method: 'post',
    path: '/workflow/signal-with-start/:name',
    id: 'signalWithStart',
    tag: 'Start',
    summary: 'Send a signal; start the workflow first if it is not running',
    docs: 'signal-with-start',
    headers: REQUEST,
    body: { schema: 'SignalWithStartRequest', isRequired: true },
    responses: {
      200: {
        description: 'The engine has accepted the signal',
        schema: ref('SignaledRun'),
        headers: [...RESPONSE, 'Location', 'Portico-Warning'],
        links: WORKFLOW_LINKS,
      },
    },
    errors: [...START, 'WorkflowNotRunningError'],
  },
  {
    method: 'post',
    path: '/workflow/update-with-start/:name',
    id: 'updateWithStart',
    tag: 'Start',
    summary: 'Send an update; start the workflow first if it is not running',
    docs: 'update-with-start',
    headers: REQUEST,
    body: { schema: 'UpdateWithStartRequest', isRequired: true },
    responses: {
      200: {
        description: 'The update handler has completed; the run continues',
        schema: ref('UpdatedRun'),
        headers: [...RESPONSE, 'Location', 'Portico-Output-Warning'],
        links: WORKFLOW_LINKS,
      },
    },
    errors: [
      ...START,
      'HandlerNotFoundError',
      'WorkflowNotRunningError',
      'WorkflowNotReadyError',
      'UpdateFailedError',
      'DeadlineExceededError',
    ],
  },
]
