/** Starts of workflows, and of activities without one. */
import type { Connection } from '../connection/connection.ts'
import { newIdempotencyKey, withKey } from '../connection/idempotency-key.ts'
import type { CallOptions } from '../connection/options.ts'
import type { HttpRequest } from '../connection/request.ts'
import { type PorticoErrorFacts, withFacts } from '../portico-error.ts'
import type { StartOptions } from '../requests/start-options.ts'
import type { ActivityResult, WorkflowResult } from '../responses.ts'
import { type Kind, untilEnded } from '../wait.ts'
import { outputOf } from './reads.ts'

/** Where the arguments are, if there are several. */
type List = 'args' | 'startArgs'

export interface Starts<Result> {
  /** Starts it, and waits for its end. */
  runSettled(given?: object): Promise<Result>
  run(given?: object): Promise<unknown>
  start<Body>(
    path: string,
    list: List,
    given: object,
    send?: (request: HttpRequest, options?: CallOptions) => Promise<Body>,
  ): Promise<Body>
}

interface Start {
  request: HttpRequest
  /** The facts of an error about a start that may have been carried out. */
  known: Pick<PorticoErrorFacts, 'activityId' | 'workflowId' | 'idempotencyKey'>
  options: CallOptions
}

export function createStarts<Result extends ActivityResult | WorkflowResult>(
  connection: Connection,
  kind: Kind,
  name: string,
  catalog: string | undefined,
): Starts<Result> {
  function toStart(path: string, list: List, given: object): Start {
    const { signal, timeoutMs, idempotencyKey, ...fields }: StartOptions & Record<string, unknown> = { ...given }
    // The service rejects a key together with this policy: the repeated request would terminate the new run.
    const mayHaveKey = fields.workflowIdConflictPolicy !== 'terminate-existing'
    const key = idempotencyKey ?? (mayHaveKey ? newIdempotencyKey() : undefined)
    const keyed = withKey(key)
    const argumentKeys = ['input', list, list === 'args' ? 'payloads' : 'inputPayloads']
    const hasArguments = argumentKeys.some((key) => fields[key] !== undefined)
    const start = { catalog: fields.catalog ?? catalog, [`${kind}Name`]: name }
    const body = { ...fields, ...start, ...(!hasArguments && { [list]: [] }) }
    const idField = `${kind}Id` as const
    const id = fields[idField] as string | undefined
    // A repeated message could reach a later run of an id that does not belong to the key.
    const isShared = list === 'startArgs' && id !== undefined
    return {
      request: { method: 'POST', path: `/${kind}/${path}`, body, ...keyed, ...(isShared && { isRetryable: false }) },
      known: { ...(id !== undefined && { [idField]: id }), ...(key !== undefined && { idempotencyKey: key }) },
      options: { signal, timeoutMs },
    }
  }

  async function runSettled(given: object = {}): Promise<Result> {
    const { request, known, options } = toStart('run', 'args', given)
    const first = (waitMs: number) => {
      const headers = { ...request.headers, Prefer: `respond-async, wait=${Math.floor(waitMs / 1000)}` }
      return { ...request, headers, waitMs }
    }
    return untilEnded(connection, first, { kind, ...known }, options)
  }

  return {
    runSettled,
    run: async (given) => outputOf(kind, await runSettled(given)),
    async start(path, list, given, send = connection.send) {
      const { request, known, options } = toStart(path, list, given)
      try {
        return await send(request, options)
      } catch (error) {
        throw withFacts(error, known)
      }
    },
  }
}
