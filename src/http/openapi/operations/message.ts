import { updateParameters } from '../../routes/async-update.ts'
import { BODY, OF_RUN } from '../errors.ts'
import type { RequestHeader } from '../headers.ts'
import type { Operation } from '../operation.ts'
import { ref } from '../schemas/schema.ts'

const TRACE: readonly RequestHeader[] = ['traceparent', 'tracestate']
const HANDLER_RESULT = { description: "The handler's result; null if it has none" }

export const messageOperations: readonly Operation[] = [
  {
    method: 'post',
    path: '/workflow/:id/query/:name',
    id: 'queryWorkflow',
    tag: 'Messages',
    summary: 'Send a query and return its result',
    docs: 'query',
    headers: TRACE,
    body: { schema: 'MessageRequest', isRequired: false },
    responses: {
      200: { description: "The handler's result", schema: HANDLER_RESULT, headers: ['Portico-Output-Warning'] },
    },
    errors: [
      ...OF_RUN,
      ...BODY,
      'HandlerNotFoundError',
      'QueryFailedError',
      'WorkflowNotReadyError',
      'DeadlineExceededError',
    ],
  },
  {
    method: 'post',
    path: '/workflow/:id/update/:name',
    id: 'updateWorkflow',
    tag: 'Messages',
    summary: 'Send an update and return its result',
    docs: 'update',
    headers: [...TRACE, 'Idempotency-Key', 'Prefer'],
    body: { schema: 'MessageRequest', isRequired: false },
    responses: {
      200: {
        description: "The handler's result",
        schema: HANDLER_RESULT,
        headers: ['Location', 'Preference-Applied', 'Portico-Output-Warning'],
      },
      202: {
        description: 'With `Prefer: respond-async`: the workflow has accepted the update',
        schema: ref('PendingUpdate'),
        headers: ['Location', 'Preference-Applied'],
        links: ['getRunUpdate'],
      },
    },
    errors: [
      ...OF_RUN,
      ...BODY,
      'HandlerNotFoundError',
      'IdempotencyKeyReusedError',
      'UpdateNotFoundError',
      'UpdateFailedError',
      'WorkflowNotRunningError',
      'WorkflowNotReadyError',
      'DeadlineExceededError',
    ],
  },
  {
    method: 'get',
    path: '/workflow/:id/update/:name/:updateId',
    id: 'getWorkflowUpdate',
    tag: 'Messages',
    summary: 'Get the result of an update that was sent asynchronously',
    docs: 'asynchronous-updates',
    query: {
      schema: updateParameters,
      descriptions: {
        wait: 'How long to wait for the result: milliseconds, or a duration such as `30s`, at most 60 s. Default: do not wait',
      },
    },
    responses: {
      200: { description: "The handler's result", schema: HANDLER_RESULT, headers: ['Portico-Output-Warning'] },
      202: {
        description: 'The update has not completed yet',
        schema: ref('PendingUpdate'),
      },
    },
    errors: [
      ...OF_RUN,
      'UpdateNotFoundError',
      'UpdateFailedError',
      'WorkflowNotRunningError',
      'WorkflowNotReadyError',
      'DeadlineExceededError',
    ],
  },
  {
    method: 'post',
    path: '/workflow/:id/signal/:name',
    id: 'signalWorkflow',
    tag: 'Messages',
    summary: 'Send a signal',
    docs: 'signal',
    headers: [...TRACE, 'Idempotency-Key'],
    body: { schema: 'MessageRequest', isRequired: false },
    responses: {
      200: {
        description: 'The engine has accepted the signal',
        schema: ref('AcceptedSignal'),
        headers: ['Portico-Warning'],
      },
    },
    errors: [...OF_RUN, ...BODY, 'IdempotencyKeyReusedError', 'WorkflowNotRunningError'],
  },
]
