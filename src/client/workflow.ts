/** The methods of a workflow, by its name: starts. */
import type { StartOptions, StartRequest, Workflow } from './client.ts'
import type { Connection } from './connection/connection.ts'
import { newIdempotencyKey, withKey } from './connection/idempotency-key.ts'
import type { HttpRequest } from './connection/request.ts'
import { createHandle, outputOf } from './handle.ts'
import { sendUpdate } from './messages.ts'
import { type PorticoErrorFacts, withFacts } from './portico-error.ts'
import type { RunRef } from './responses.ts'
import { pathSegment, toTarget } from './target.ts'
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
    send: Connection['send'] = connection.send,
  ): Promise<Body> {
    const { request, known, options } = toStart(path, list, defaults, given)
    try {
      return await send<Body>(request, options)
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
    updateWithStart: (name, given) =>
      start(`update-with-start/${pathSegment(name, 'an update')}`, 'startArgs', given, (request, options = {}) =>
        sendUpdate(connection, request, options),
      ),
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
  const { signal, timeoutMs, idempotencyKey, ...fields }: StartOptions & { [Key in 'input' | List]?: unknown } = given
  // The service rejects a key together with this policy: the repeated request would terminate the new run.
  const isRetryable = fields.workflowIdConflictPolicy !== 'terminate-existing'
  const key = idempotencyKey ?? (isRetryable ? newIdempotencyKey() : undefined)
  const hasArguments = fields.input !== undefined || fields[list] !== undefined
  const start = { catalog: fields.catalog ?? catalog, workflowName }
  const body = { ...fields, ...start, ...(!hasArguments && { [list]: [] }) }
  const { workflowId } = fields
  return {
    request: { method: 'POST', path: `/workflow/${path}`, body, ...withKey(key) },
    known: { ...(workflowId !== undefined && { workflowId }), ...(key !== undefined && { idempotencyKey: key }) },
    options: { signal, timeoutMs },
  }
}
