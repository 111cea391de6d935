/** The methods of a workflow, by its name: starts. */
import type { StartRequest, Workflow } from './client.ts'
import type { Connection } from './connection/connection.ts'
import { newIdempotencyKey, withKey } from './connection/idempotency-key.ts'
import type { CallOptions } from './connection/options.ts'
import type { HttpRequest } from './connection/request.ts'
import { createHandle, outputOf } from './handle.ts'
import { readUpdate, sendUpdate, type WaitInRun } from './messages.ts'
import { PorticoError, type PorticoErrorFacts, withFacts } from './portico-error.ts'
import type { StartOptions } from './requests/start-options.ts'
import type { RunRef } from './responses.ts'
import { pathOf, pathSegment, toTarget } from './target.ts'
import { untilEnded } from './wait.ts'

export function createWorkflow(connection: Connection, workflowName: string, catalog?: string): Workflow {
  const defaults = { workflowName, catalog }

  async function runSettled(given: StartRequest = {}) {
    const { request, known, options } = toStart('run', 'args', defaults, given)
    const first = (waitMs: number) => {
      const headers = { ...request.headers, Prefer: `respond-async, wait=${Math.floor(waitMs / 1000)}` }
      return { ...request, headers, waitMs }
    }
    return untilEnded(connection, first, known, options)
  }

  async function start<Body extends RunRef>(
    path: string,
    list: List,
    given: StartOptions,
    send: (request: HttpRequest, options?: CallOptions) => Promise<Body> = connection.send<Body>,
  ): Promise<Body> {
    const { request, known, options } = toStart(path, list, defaults, given)
    try {
      return await send(request, options)
    } catch (error) {
      throw withFacts(error, known)
    }
  }

  return {
    runSettled,
    run: async (given) => outputOf(await runSettled(given)),
    async start(given = {}) {
      const { workflowId, runId } = await start('start', 'args', given)
      return createHandle(connection, { workflowId, runId, isPinned: false })
    },
    signalWithStart: (name, given) => start(`signal-with-start/${pathSegment(name, 'a signal')}`, 'startArgs', given),
    updateWithStart(name, given) {
      const handler = pathSegment(name, 'an update')
      const { workflowId, workflowIdConflictPolicy: policy } = given
      const isPinnable = workflowId !== undefined && policy !== 'terminate-existing'
      return start(`update-with-start/${handler}`, 'startArgs', given, (request, options = {}) =>
        sendUpdate(connection, request, options, isPinnable ? inRun(connection, request, handler) : undefined),
      )
    },
    get: (ref) => createHandle(connection, toTarget(ref)),
  }
}

/** Where the arguments of the workflow are, if there are several. */
type List = 'args' | 'startArgs'

interface Start {
  request: HttpRequest
  /** The facts of an error about a start that may have been carried out. */
  known: Pick<PorticoErrorFacts, 'workflowId' | 'idempotencyKey'>
  options: Pick<StartOptions, 'signal' | 'timeoutMs'>
}

interface Defaults {
  workflowName: string
  catalog: string | undefined
}

function toStart(path: string, list: List, { workflowName, catalog }: Defaults, given: StartOptions): Start {
  const { signal, timeoutMs, idempotencyKey, ...fields }: StartOptions & Record<string, unknown> = { ...given }
  // The service rejects a key together with this policy: the repeated request would terminate the new run.
  const mayHaveKey = fields.workflowIdConflictPolicy !== 'terminate-existing'
  const key = idempotencyKey ?? (mayHaveKey ? newIdempotencyKey() : undefined)
  const keyed = withKey(key)
  const argumentKeys = ['input', list, list === 'args' ? 'payloads' : 'inputPayloads']
  const hasArguments = argumentKeys.some((key) => fields[key] !== undefined)
  const start = { catalog: fields.catalog ?? catalog, workflowName }
  const body = { ...fields, ...start, ...(!hasArguments && { [list]: [] }) }
  const { workflowId } = fields
  // A repeated message could reach a later run of an id that does not belong to the key.
  const isShared = list === 'startArgs' && workflowId !== undefined
  return {
    request: { method: 'POST', path: `/workflow/${path}`, body, ...keyed, ...(isShared && { isRetryable: false }) },
    known: { ...(workflowId !== undefined && { workflowId }), ...(key !== undefined && { idempotencyKey: key }) },
    options: { signal, timeoutMs },
  }
}

interface UpdatedRun extends RunRef {
  started: boolean
  result: unknown
}

/**
 * Sends the update of a with-start to the run that has it. If the with-start has started that run, the service rejects
 * its key for an update alone: then the update is only read.
 */
function inRun(connection: Connection, request: HttpRequest, handler: string): WaitInRun<UpdatedRun> {
  const { payload, args, payloads, headers } = request.body as Record<string, unknown>
  return async (unanswered, send, limits) => {
    const { workflowId = '', runId = '' } = unanswered
    const path = `${pathOf({ workflowId, runId, isPinned: true })}/update/${handler}`
    const body = { payload, args, payloads, headers }
    try {
      const result = await send<unknown>({ ...request, path, body, isRetryable: true })
      return { workflowId, runId, started: false, result }
    } catch (error) {
      if (!(error instanceof PorticoError) || error.error !== 'IdempotencyKeyReusedError') throw error
      return { workflowId, runId, started: true, result: await readUpdate(connection, path, unanswered, limits) }
    }
  }
}
