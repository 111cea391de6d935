import { decodeFailure, toErrorDetails } from '../../../shared/temporal/failure.ts'
import type { Call } from '../../model/call.ts'
import type { Message } from '../../model/engine.ts'
import { ServiceError } from '../../model/errors.ts'
import type { ExecutionRef } from '../../model/execution.ts'
import { outputStoredElsewhere } from '../../model/stored-elsewhere.ts'
import { type EngineContext, executionIds, requestHeaders, toExecution } from '../context.ts'
import { isQueryFailure, queryFailure, toServiceError } from '../errors.ts'
import { withEngineWatchdog } from '../rpc.ts'
import type { RpcError } from '../transport/transport.ts'
import { missingHandler, queryRejection } from './diagnosis/missing-handler.ts'

// By the `source` of a failure. The SDKs of Java and Go append the stack to the message; the others send it in a field
// of its own. Java's failures have no source, because that SDK sends only a message.
const STACKS: ReadonlyMap<string, RegExp> = new Map([
  ['', /\r?\n\tat [^\s(]+\(.*$/s],
  ['GoSDK', /, stack trace: query handler \[panic\]:\n.*$/s],
])

export async function queryOnce(
  context: EngineContext,
  ref: ExecutionRef,
  message: Message,
  call: Call,
): Promise<unknown> {
  const { header, payloads } = requestHeaders(call, message.headers)
  const queryArgs = await context.payloads.encode(message.args, payloads)
  const request = {
    namespace: context.namespace,
    execution: toExecution(ref),
    query: { queryType: message.name, queryArgs, ...(header !== null && { header }) },
  }
  try {
    const { queryResult, queryRejected } = await withEngineWatchdog(context.rpc, call, (watched) =>
      context.rpc('queryWorkflow', request, watched),
    )
    if (queryRejected) throw queryRejection(ref, queryRejected.status)
    const { value, storedElsewhere } = await context.payloads.decodeOutput(queryResult?.payloads, ref.workflowId)
    if (storedElsewhere === undefined) return value
    throw outputStoredElsewhere(
      `The result of query "${message.name}" of workflow ${ref.workflowId}`,
      storedElsewhere,
      executionIds(ref),
    )
  } catch (error) {
    if (!isQueryFailure(error))
      throw toServiceError(error, {
        kind: 'read',
        workerRequest: `query "${message.name}"`,
        details: executionIds(ref),
      })
    const missing = await missingHandler(context, ref, 'query', message, error.message, call)
    throw missing ?? (await queryFailed(context, ref, message, error))
  }
}

/** The error for a query handler that has failed, or a worker that cannot replay the run. */
export async function queryFailed(
  { payloads }: EngineContext,
  ref: ExecutionRef,
  { name }: Pick<Message, 'name'>,
  cause: RpcError,
): Promise<ServiceError> {
  const failure = queryFailure(cause)
  const details = toErrorDetails(await decodeFailure(failure, payloads))
  const stack = STACKS.get(failure.source ?? '')
  const errorDetails = stack === undefined ? details : { ...details, message: details.message.replace(stack, '') }
  const message = `Query "${name}" of workflow ${ref.workflowId} failed: ${errorDetails.message}`
  return new ServiceError('QueryFailedError', message, { cause, details: { ...executionIds(ref), errorDetails } })
}
