import type { Call } from '../../domain/call.ts'
import type { Message } from '../../domain/engine.ts'
import { ServiceError } from '../../domain/errors.ts'
import type { ExecutionRef } from '../../domain/execution.ts'
import { outputStoredElsewhere } from '../../domain/stored-elsewhere.ts'
import { toStatus } from '../../temporal/status.ts'
import { factsOf, toExecution, type Wire } from '../context.ts'
import { isQueryFailure, toServiceError } from '../errors.ts'
import { missingHandler } from './missing-handler.ts'
import { attended } from './with-engine-watchdog.ts'

export async function query(wire: Wire, ref: ExecutionRef, message: Message, call: Call): Promise<unknown> {
  const request = {
    namespace: wire.namespace,
    execution: toExecution(ref),
    query: { queryType: message.name, queryArgs: await wire.payloads.encode(message.args) },
  }
  try {
    const { queryResult, queryRejected } = await attended(wire.rpc, call, (watched) =>
      wire.rpc('queryWorkflow', request, watched),
    )
    if (queryRejected) throw rejected(ref, queryRejected.status)
    const { value, storedElsewhere } = await wire.payloads.decodeOutput(queryResult?.payloads, ref.workflowId)
    if (storedElsewhere === undefined) return value
    throw outputStoredElsewhere(
      `The result of query "${message.name}" of workflow ${ref.workflowId}`,
      storedElsewhere,
      factsOf(ref),
    )
  } catch (error) {
    if (!isQueryFailure(error)) throw toServiceError(error, { kind: 'read', waitsForWorker: true, facts: factsOf(ref) })
    throw (await missingHandler(wire, ref, 'query', message, error.message, call)) ?? failed(ref, message, error)
  }
}

/** A paused run answers a query with a success that holds no result. */
function rejected(ref: ExecutionRef, status: number | null | undefined): ServiceError {
  const workflowStatus = toStatus(status)
  return new ServiceError(
    'WorkflowNotReadyError',
    `Workflow ${ref.workflowId} takes no queries: it is ${workflowStatus}`,
    {
      details: { ...factsOf(ref), workflowStatus },
    },
  )
}

function failed(ref: ExecutionRef, { name }: Message, cause: Error): ServiceError {
  return new ServiceError(
    'QueryFailedError',
    `Query "${name}" of workflow ${ref.workflowId} failed: ${cause.message}`,
    {
      cause,
      details: factsOf(ref),
    },
  )
}
