/** Sends signals, queries and updates to an execution. */
import type { Context } from 'hono'
import * as z from 'zod/mini'
import { isObject } from '../../../shared/lib/json.ts'
import { attachIds } from '../../model/attach-ids.ts'
import type { UpdateRef, UpdateState } from '../../model/engine.ts'
import { hasErrorName, withoutRepeat } from '../../model/errors.ts'
import type { Workflows } from '../../verbs.ts'
import { type Env, jsonResponse, setHeader, toCall, withWarnings } from '../context.ts'
import { endpoint, endpointOf, type RequestBody } from '../endpoint.ts'
import { ref as schemaOf } from '../openapi/schema.ts'
import { updatePath } from '../path.ts'
import { idempotencyKey } from '../pipeline/request-checks.ts'
import { type AsyncPreference, asyncPreference, preferenceApplied } from '../prefer.ts'
import { BODY_ERRORS, EFFECT_ERRORS, RESULT_ERRORS, RUN_ERRORS } from './errors.ts'
import { headersField } from './fields/field-values.ts'
import { ARGUMENT_CONFLICTS, argumentFields, onlyOneArgumentField, toArguments } from './fields/handler-arguments.ts'
import { jsonForms, optional } from './fields/json-forms.ts'
import { MAX_WAIT_MS, queryDuration } from './fields/query-values.ts'

const messageRequest = {
  name: 'MessageRequest',
  schema: z.pipe(
    z
      .strictObject({
        ...argumentFields({
          payload: "The handler's only argument. Without `payload` and `args` there is none",
          args: 'Instead of `payload`: one element per argument',
        }),
        headers: headersField,
      })
      .check(onlyOneArgumentField)
      .register(jsonForms, { not: { anyOf: ARGUMENT_CONFLICTS } }),
    z.transform(({ headers, ...body }) => ({ ...toArguments(body), ...(headers && { headers }) })),
  ),
  isRequired: false,
  adviceFor: wrapAdvice,
} satisfies RequestBody<unknown>

/** The hint for a client that sends the argument itself instead of `payload`. */
function wrapAdvice(body: unknown): string | null {
  if (isObject(body) && ['payload', 'args', 'payloads', 'headers'].some((key) => key in body)) return null
  return Array.isArray(body)
    ? 'wrap the value: {"payload": …}, or {"args": […]} for several arguments'
    : 'wrap the value: {"payload": …}'
}

const HANDLER_RESULT = { description: "The handler's result; null if it has none" }

const query = endpointOf('query', {
  method: 'post',
  path: '/workflow/:id/query/:name',
  id: 'queryWorkflow',
  tag: 'Messages',
  summary: 'Send a query and return its result',
  docs: 'api/messages.md#query',
  headers: ['traceparent', 'tracestate'],
  body: messageRequest,
  responses: {
    200: { description: "The handler's result", schema: HANDLER_RESULT, headers: ['Portico-Output-Warning'] },
  },
  errors: [
    ...RUN_ERRORS,
    ...BODY_ERRORS,
    'HandlerNotFoundError',
    'QueryFailedError',
    'WorkflowNotReadyError',
    'DeadlineExceededError',
  ],
  takes: 'work',
  key: 'ignored',
  input: ({ ref, name, body }) => ({ ref, message: { name, ...body } }),
})

const update = endpoint({
  method: 'post',
  path: '/workflow/:id/update/:name',
  id: 'updateWorkflow',
  tag: 'Messages',
  summary: 'Send an update and return its result',
  docs: 'api/messages.md#update',
  headers: ['traceparent', 'tracestate', 'Idempotency-Key', 'Prefer'],
  body: messageRequest,
  responses: {
    200: {
      description: "The handler's result",
      schema: HANDLER_RESULT,
      headers: ['Location', 'Preference-Applied', 'Portico-Output-Warning'],
    },
    202: {
      description: 'With `Prefer: respond-async`: the workflow has accepted the update',
      schema: schemaOf('PendingUpdate'),
      headers: ['Location', 'Preference-Applied'],
      links: ['getRunUpdate'],
    },
  },
  errors: [
    ...RUN_ERRORS,
    ...BODY_ERRORS,
    ...RESULT_ERRORS,
    'HandlerNotFoundError',
    'IdempotencyKeyReusedError',
    'UpdateNotFoundError',
    'UpdateFailedError',
    'WorkflowNotRunningError',
    'WorkflowNotReadyError',
    'DeadlineExceededError',
  ],
  takes: 'wait',
  key: 'taken',
  verb: 'update',
  async handle(c, { ref, name, body, call, workflows }) {
    const run = ref(c)
    const message = { name: name(c), ...(await body(c)) }
    const command = { ref: run, message, ...idempotencyKey(c) }
    const preference = asyncPreference(c)
    if (preference === null) return jsonResponse(c, await workflows.update(command, call(c)))
    const isKeyed = command.idempotencyKey !== undefined
    const sent = { ...(await workflows.startUpdate(command, call(c))), name: message.name, isKeyed }
    return stateResponse(c, await preferredState(c, workflows, sent, preference))
  },
})

/** How far an update is that was accepted. Waits for its result as long as the client prefers. */
export async function preferredState(
  c: Context<Env>,
  workflows: Workflows,
  { name, isKeyed, workflowId, runId, updateId }: UpdateRef & { name: string; isKeyed: boolean },
  preference: AsyncPreference,
): Promise<UpdateState> {
  const waitMs = Math.min(preference.waitMs, MAX_WAIT_MS)
  const accepted: UpdateState = { workflowId, runId, updateId, stage: 'accepted' }
  setHeader(c, 'Location', updatePath(c, accepted, name))
  const read = () => workflows.readUpdate({ ref: { workflowId, runId }, name, updateId, waitMs }, toCall(c))
  const state = waitMs === 0 ? accepted : await readAccepted(accepted, isKeyed, read)
  preferenceApplied(c, { waitMs })
  return state
}

/**
 * Returns the accepted update if its result cannot be read now: an error would make the client send the update again.
 */
async function readAccepted(
  accepted: UpdateState,
  isKeyed: boolean,
  read: () => Promise<UpdateState>,
): Promise<UpdateState> {
  try {
    return await read()
  } catch (error) {
    if (hasErrorName(error, 'EngineUnavailableError', 'ResourceExhaustedError')) return accepted
    const { workflowId, runId, updateId } = accepted
    const known = attachIds(error, { workflowId, runId, updateId })
    throw isKeyed ? known : withoutRepeat(known)
  }
}

const updateState = endpoint({
  method: 'get',
  path: '/workflow/:id/update/:name/:updateId',
  id: 'getWorkflowUpdate',
  tag: 'Messages',
  summary: 'Get the result of an update that was sent asynchronously',
  docs: 'api/messages.md#asynchronous-updates',
  query: z.strictObject({
    wait: optional(
      queryDuration(MAX_WAIT_MS),
      'How long to wait for the result: milliseconds, or a duration such as `30s`, at most 60 s. Default: do not wait',
    ),
  }),
  responses: {
    200: { description: "The handler's result", schema: HANDLER_RESULT, headers: ['Portico-Output-Warning'] },
    202: { description: 'The update has not completed yet', schema: schemaOf('PendingUpdate') },
  },
  errors: [
    ...RUN_ERRORS,
    'UpdateNotFoundError',
    'UpdateFailedError',
    'WorkflowNotRunningError',
    'WorkflowNotReadyError',
    'DeadlineExceededError',
  ],
  takes: 'wait',
  key: 'ignored',
  verb: 'readUpdate',
  async handle(c, { ref, name, updateId, query, call, workflows }) {
    const update = { ref: ref(c), name: name(c), updateId: updateId(c) }
    const { wait: waitMs = 0 } = query(c)
    return stateResponse(c, await workflows.readUpdate({ ...update, waitMs }, call(c)))
  },
})

/** Responds with the result of the update, or with a 202 while it is running. */
function stateResponse(c: Context<Env>, state: UpdateState): Response {
  if (state.stage === 'completed') return jsonResponse(c, state.result)
  const { workflowId, runId, updateId, stage } = state
  return jsonResponse(c, { workflowId, runId, updateId, stage }, 202)
}

const signal = endpointOf('signal', {
  method: 'post',
  path: '/workflow/:id/signal/:name',
  id: 'signalWorkflow',
  tag: 'Messages',
  summary: 'Send a signal',
  docs: 'api/messages.md#signal',
  headers: ['traceparent', 'tracestate', 'Idempotency-Key'],
  body: messageRequest,
  responses: {
    200: {
      description: 'The engine has accepted the signal',
      schema: schemaOf('AcceptedSignal'),
      headers: ['Portico-Warning'],
    },
  },
  errors: [...RUN_ERRORS, ...BODY_ERRORS, ...EFFECT_ERRORS, 'IdempotencyKeyReusedError', 'WorkflowNotRunningError'],
  takes: 'work',
  key: 'taken',
  input: ({ ref, name, body, key }) => ({ ref, message: { name, ...body }, ...key }),
  output: ({ workflowId, runId, warnings }, { c, name: signal }) =>
    withWarnings(c, { workflowId, runId, signal, accepted: true }, warnings),
})

export const messageEndpoints = [query, update, updateState, signal]
