/** Starts a workflow and signals or updates it in one step. The response does not wait for the workflow to complete. */
import type { Context } from 'hono'
import * as z from 'zod/mini'
import type { MessageCommand, StartCommand } from '../../model/commands.ts'
import { type Env, jsonResponse, setHeader, withWarnings } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { ref as schemaOf } from '../openapi/schema.ts'
import { resultPath } from '../path.ts'
import { reportReplayed } from '../pipeline/request-checks.ts'
import { asyncPreference } from '../prefer.ts'
import { START_ERRORS } from './errors.ts'
import { ARGUMENT_CONFLICTS, argumentFields, onlyOneArgumentField, toArguments } from './fields/handler-arguments.ts'
import { jsonForms, optional } from './fields/json-forms.ts'
import { rawPayloads } from './fields/raw-payloads.ts'
import {
  compatibleWithSignal,
  compatibleWithUpdate,
  inputOrList,
  inputOrListForm,
  OPTION_CONFLICTS,
  SIGNAL_CONFLICTS,
  startCommand,
  startFields,
  UPDATE_CONFLICTS,
} from './fields/start-fields.ts'
import { preferredState } from './messages.ts'
import { START_HEADERS } from './start.ts'

const signalWithStart = endpoint({
  method: 'post',
  path: '/workflow/signal-with-start/:name',
  id: 'signalWithStart',
  tag: 'Start',
  summary: 'Send a signal; start the workflow first if it is not running',
  docs: 'api/with-start.md#signal-with-start',
  headers: ['Idempotency-Key', 'traceparent', 'tracestate'],
  body: {
    name: 'SignalWithStartRequest',
    schema: (maxTimeoutMs) =>
      requestOf(maxTimeoutMs).check(compatibleWithSignal).register(jsonForms, conflictsForm(SIGNAL_CONFLICTS)),
    isRequired: true,
  },
  responses: {
    200: {
      description: 'The engine has accepted the signal',
      schema: schemaOf('SignaledRun'),
      headers: [...START_HEADERS, 'Location', 'Portico-Warning'],
      links: ['workflow'],
    },
  },
  errors: [...START_ERRORS, 'WorkflowNotRunningError'],
  takes: 'work',
  key: 'taken',
  verb: 'signalWithStart',
  async handle(c, { name, body, call, workflows, defaultCatalog }) {
    const { start, message } = toCommand(c, name(c), await body(c), defaultCatalog)
    const run = await workflows.signalWithStart({ start, signal: message }, call(c))
    const { workflowId, runId, started, isRepeated, warnings } = run
    if (isRepeated) reportReplayed(c)
    setHeader(c, 'Location', resultPath(c, workflowId))
    return jsonResponse(c, withWarnings(c, { workflowId, runId, started }, warnings))
  },
})

const updateWithStart = endpoint({
  method: 'post',
  path: '/workflow/update-with-start/:name',
  id: 'updateWithStart',
  tag: 'Start',
  summary: 'Send an update; start the workflow first if it is not running',
  docs: 'api/with-start.md#update-with-start',
  headers: ['Idempotency-Key', 'traceparent', 'tracestate', 'Prefer'],
  body: {
    name: 'UpdateWithStartRequest',
    schema: (maxTimeoutMs) =>
      requestOf(maxTimeoutMs).check(compatibleWithUpdate).register(jsonForms, conflictsForm(UPDATE_CONFLICTS)),
    isRequired: true,
  },
  responses: {
    200: {
      description: 'The update handler has completed; the run continues',
      schema: schemaOf('UpdatedRun'),
      headers: [...START_HEADERS, 'Location', 'Preference-Applied', 'Portico-Output-Warning'],
      links: ['workflow'],
    },
    202: {
      description: 'With `Prefer: respond-async`: the workflow has accepted the update',
      schema: schemaOf('PendingUpdateWithStart'),
      headers: [...START_HEADERS, 'Location', 'Preference-Applied'],
      links: ['getRunUpdate'],
    },
  },
  errors: [
    ...START_ERRORS,
    'ResultUnreadableError',
    'HandlerNotFoundError',
    'WorkflowNotRunningError',
    'WorkflowNotReadyError',
    'UpdateNotFoundError',
    'UpdateFailedError',
    'DeadlineExceededError',
  ],
  takes: 'wait',
  key: 'taken',
  verb: 'updateWithStart',
  async handle(c, { name, body, call, workflows, defaultCatalog }) {
    const { start, message } = toCommand(c, name(c), await body(c), defaultCatalog)
    const command = { start, update: message }
    const preference = asyncPreference(c)
    if (preference !== null) {
      const { started, isRepeated, ...update } = await workflows.startUpdateWithStart(command, call(c))
      if (isRepeated) reportReplayed(c)
      const sent = { ...update, name: message.name, isKeyed: start.idempotencyKey !== undefined }
      const state = await preferredState(c, workflows, sent, preference)
      const { workflowId, runId, updateId, stage } = state
      return stage === 'completed'
        ? jsonResponse(c, { workflowId, runId, started, result: state.result })
        : jsonResponse(c, { workflowId, runId, updateId, stage, started }, 202)
    }
    const run = await workflows.updateWithStart(command, call(c))
    const { workflowId, runId, started, result, isRepeated } = run
    if (isRepeated) reportReplayed(c)
    setHeader(c, 'Location', resultPath(c, workflowId))
    return jsonResponse(c, { workflowId, runId, started, result })
  },
})

export const withStartEndpoints = [signalWithStart, updateWithStart]

function requestOf(maxTimeoutMs: number) {
  return z
    .strictObject({
      ...startFields(maxTimeoutMs, 'startArgs'),
      startArgs: optional(
        z.array(z.unknown()),
        'Instead of `input`: one element per argument of the workflow; `[]` for none',
      ),
      inputPayloads: rawPayloads('`input` and `startArgs`'),
      ...argumentFields({
        payload: "The handler's only argument",
        args: 'Instead of `payload`: one element per argument of the handler',
      }),
    })
    .check(inputOrList('startArgs'), onlyOneArgumentField)
}

function conflictsForm(conflicts: readonly object[]) {
  return inputOrListForm('startArgs', [...ARGUMENT_CONFLICTS, ...OPTION_CONFLICTS, ...conflicts])
}

function toCommand(
  c: Context<Env>,
  name: string,
  body: z.output<ReturnType<typeof requestOf>>,
  defaultCatalog: string,
): { start: StartCommand; message: MessageCommand } {
  const start = startCommand(c, body, defaultCatalog, 'startArgs')
  return { start, message: { name, ...toArguments(body), ...(body.headers && { headers: body.headers }) } }
}
