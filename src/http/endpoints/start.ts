/** Starts a workflow without waiting for its result, or only checks the request. */
import type { Context } from 'hono'
import type { RunStart, StartCommand } from '../../domain/model/workflows.ts'
import type { Status } from '../../protocol/execution.ts'
import type { RunRef } from '../../protocol/run-ref.ts'
import type { Env } from '../context.ts'
import { endpoint, type Tools } from '../endpoint.ts'
import { reportReplayed } from '../idempotency-key.ts'
import type { ResponseHeader } from '../openapi/headers.ts'
import { ref as schemaOf } from '../openapi/schemas/schema.ts'
import { resultPath } from '../path.ts'
import { jsonResponse, setHeader } from '../response.ts'
import { BODY_ERRORS, ENGINE_ERRORS, START_ERRORS } from './errors.ts'
import { startCommand, startRequest } from './fields/start-fields.ts'

/** The headers of the responses to a start. */
export const START_HEADERS: readonly ResponseHeader[] = [
  'Idempotency-Replayed',
  'Portico-Started',
  'Deprecation',
  'Link',
]

const start = endpoint({
  method: 'post',
  path: '/workflow/start',
  id: 'startWorkflow',
  tag: 'Start',
  summary: 'Start a workflow and return its ids',
  docs: 'start-a-workflow',
  headers: ['Idempotency-Key', 'traceparent', 'tracestate'],
  body: startRequest,
  responses: {
    200: {
      description: 'The engine has accepted the workflow',
      schema: schemaOf('StartedRun'),
      headers: [...START_HEADERS, 'Location'],
      links: ['workflow'],
    },
  },
  errors: START_ERRORS,
  takes: 'work',
  key: 'taken',
  access: 'start',
  async handle(c, tools) {
    const command = startCommand(c, await tools.body(c), tools.defaultCatalog, 'args')
    return jsonResponse(c, await startNow(c, tools, command))
  },
})

const validate = endpoint({
  method: 'post',
  path: '/workflow/validate',
  id: 'validateRequest',
  tag: 'Start',
  summary: 'Check a request for run or start, and start nothing',
  docs: 'validate',
  headers: ['Idempotency-Key'],
  body: startRequest,
  responses: {
    200: {
      description: 'The request is valid',
      schema: schemaOf('Validation'),
      headers: ['Deprecation', 'Link'],
    },
  },
  errors: [
    ...ENGINE_ERRORS,
    ...BODY_ERRORS,
    'UnsupportedWorkflowError',
    'CatalogNotAvailableError',
    'PayloadCodecError',
  ],
  takes: 'work',
  key: 'taken',
  access: 'start',
  async handle(c, { body, call, workflows, defaultCatalog }) {
    const command = startCommand(c, await body(c), defaultCatalog, 'args')
    await workflows.validate(command, call(c))
    return jsonResponse(c, { valid: true })
  },
})

export const startEndpoints = [start, validate]

/** Starts the workflow, and returns the body of the response. */
export async function startNow(
  c: Context<Env>,
  { workflows, call }: Pick<Tools, 'workflows' | 'call'>,
  command: StartCommand,
): Promise<RunRef & { status: Status }> {
  const run = await workflows.start(command, call(c))
  const { workflowId, runId, repeatedStatus: status = 'running' } = run
  reportRun(c, command, run)
  setHeader(c, 'Location', resultPath(c, workflowId))
  return { workflowId, runId, status }
}

/** Whether the response may be about a run that the request did not start. */
export function mayFindRun({ options, idempotencyKey }: StartCommand): boolean {
  return options?.workflowIdConflictPolicy === 'use-existing' || idempotencyKey !== undefined
}

/** In headers, because a result has exactly the keys of the specification. */
export function reportRun(c: Context<Env>, { options }: StartCommand, { isExisting, repeatedStatus }: RunStart): void {
  if (options?.workflowIdConflictPolicy === 'use-existing')
    setHeader(c, 'Portico-Started', String(isExisting === undefined))
  if (repeatedStatus !== undefined) reportReplayed(c)
}
