import { toStatus } from '../../../../shared/temporal/outcome.ts'
import { atMost, type Call } from '../../../model/call.ts'
import { TIMEOUT_MS } from '../../../model/deadlines.ts'
import type { Message } from '../../../model/engine.ts'
import { ServiceError } from '../../../model/errors.ts'
import type { ExecutionRef } from '../../../model/execution.ts'
import { type EngineContext, executionIds, toExecution } from '../../context.ts'
import { withEngineWatchdog } from '../../rpc.ts'

/**
 * The `HandlerNotFoundError` for a query or update that failed, or null if the workflow has the handler.
 *
 * A missing handler fails like one that throws, with a message that depends on the SDK. All of these messages contain
 * the name of the handler. If `failure` does, the workflow is queried for the handlers that it has.
 */
export async function missingHandler(
  context: EngineContext,
  ref: ExecutionRef,
  kind: 'query' | 'update',
  { name }: Pick<Message, 'name'>,
  failure: string,
  call: Call,
): Promise<ServiceError | null> {
  if (!failure.includes(name)) return null
  const names = await handlerNames(context, ref, kind, call)
  // A handler without a name handles every name.
  if (names === null || names.some((known) => known === name || known === '')) return null
  return new ServiceError('HandlerNotFoundError', `Workflow ${ref.workflowId} has no ${kind} handler "${name}"`, {
    details: { ...executionIds(ref), available: names.filter((known) => !known.startsWith('__')) },
  })
}

/** Null if the SDK of the workflow does not list its handlers. */
async function handlerNames(
  context: EngineContext,
  ref: ExecutionRef,
  kind: 'query' | 'update',
  call: Call,
): Promise<string[] | null> {
  try {
    return (await readHandlers(context, ref, atMost(call, TIMEOUT_MS.handlerNames)))[kind]
  } catch {
    // Without the list, the client gets the failure itself, with the message of the SDK.
    return null
  }
}

/** The query of every SDK that lists the handlers of a workflow. */
export const METADATA_QUERY = '__temporal_workflow_metadata'

/** The names of the workflow's handlers; null if its SDK does not list them. Rejects with an `RpcError`. */
export async function readHandlers(
  context: EngineContext,
  ref: ExecutionRef,
  call: Call,
): Promise<Record<'query' | 'update', string[] | null>> {
  const request = {
    namespace: context.namespace,
    execution: toExecution(ref),
    query: { queryType: METADATA_QUERY },
  }
  const { queryResult, queryRejected } = await withEngineWatchdog(context.rpc, call, (watched) =>
    context.rpc('queryWorkflow', request, watched),
  )
  if (queryRejected) throw queryRejection(ref, queryRejected.status)
  const [metadata] = await context.payloads.decode(queryResult?.payloads)
  return { query: namesIn(metadata, 'queryDefinitions'), update: namesIn(metadata, 'updateDefinitions') }
}

/** For a query of a paused run the engine returns a success without a result. */
export function queryRejection(ref: ExecutionRef, status: number | null | undefined): ServiceError {
  const workflowStatus = toStatus(status)
  const message = `Workflow ${ref.workflowId} cannot accept queries; its status is ${workflowStatus}`
  return new ServiceError('WorkflowNotReadyError', message, { details: { ...executionIds(ref), workflowStatus } })
}

function namesIn(metadata: unknown, list: string): string[] | null {
  const definition = property(metadata, 'definition')
  if (definition === undefined) return null
  const handlers = property(definition, list) ?? []
  return Array.isArray(handlers) ? handlers.map((handler) => stringOf(property(handler, 'name'))) : null
}

function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function property(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined
}
