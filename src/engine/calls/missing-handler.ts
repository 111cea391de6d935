import { atMost, type Call } from '../../domain/call.ts'
import { TIMEOUT_MS } from '../../domain/deadlines.ts'
import type { Message } from '../../domain/engine.ts'
import { ServiceError } from '../../domain/errors.ts'
import type { ExecutionRef } from '../../domain/execution.ts'
import { type EngineContext, executionIds, toExecution } from '../context.ts'
import { withEngineWatchdog } from './with-engine-watchdog.ts'

/**
 * The `HandlerNotFoundError` behind a failed query or update, or null when there is such a handler.
 *
 * Engine and SDKs answer a missing handler as they answer one that throws, in words that differ by language. All of them
 * name it, so only then the workflow itself is asked which handlers it has.
 */
export async function missingHandler(
  context: EngineContext,
  ref: ExecutionRef,
  kind: 'query' | 'update',
  { name }: Message,
  answer: string,
  call: Call,
): Promise<ServiceError | null> {
  if (!answer.includes(name)) return null
  const names = await handlerNames(context, ref, kind, call)
  // A nameless handler takes every name.
  if (names === null || names.some((known) => known === name || known === '')) return null
  return new ServiceError('HandlerNotFoundError', `Workflow ${ref.workflowId} has no ${kind} handler "${name}"`, {
    details: { ...executionIds(ref), available: names.filter((known) => !known.startsWith('__')) },
  })
}

/** Null when the workflow's SDK does not tell. */
async function handlerNames(
  context: EngineContext,
  ref: ExecutionRef,
  kind: 'query' | 'update',
  call: Call,
): Promise<string[] | null> {
  const request = {
    namespace: context.namespace,
    execution: toExecution(ref),
    query: { queryType: '__temporal_workflow_metadata' },
  }
  try {
    const { queryResult } = await withEngineWatchdog(context.rpc, atMost(call, TIMEOUT_MS.handlerNames), (watched) =>
      context.rpc('queryWorkflow', request, watched),
    )
    const [metadata] = await context.payloads.decode(queryResult?.payloads)
    return namesIn(metadata, kind === 'query' ? 'queryDefinitions' : 'updateDefinitions')
  } catch {
    // Without the list the answer is the handler's failure, which says the same in the SDK's words.
    return null
  }
}

function namesIn(metadata: unknown, list: string): string[] | null {
  const definition = property(metadata, 'definition')
  if (definition === undefined) return null
  const handlers = property(definition, list) ?? []
  return Array.isArray(handlers) ? handlers.map((handler) => textOf(property(handler, 'name'))) : null
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function property(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined
}
