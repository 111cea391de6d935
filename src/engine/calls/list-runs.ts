import { invalidPageToken } from '../../domain/inspect/page-token.ts'
import type { Call } from '../../domain/model/call.ts'
import { ServiceError } from '../../domain/model/errors.ts'
import type { ListedRun, RunCount, TypedRunFilter } from '../../domain/model/run-filter.ts'
import { fromBase64, toBase64 } from '../../lib/base64.ts'
import { STATUSES, type Status } from '../../protocol/execution.ts'
import { describeRun } from '../../temporal/describe-run.ts'
import { GrpcCode } from '../../temporal/grpc-code.ts'
import { fromStatusWord } from '../../temporal/outcome.ts'
import { fromPayload } from '../../temporal/payload.ts'
import { redactMachineDetails } from '../../temporal/redact-machine-details.ts'
import type { EngineContext } from '../context.ts'
import { toServiceError } from '../errors.ts'
import type { Rpc } from '../rpc.ts'
import { RpcError } from '../transport/transport.ts'
import { toRunQuery } from '../visibility/run-query.ts'

export async function listRuns(
  { rpc, namespace }: EngineContext,
  filter: TypedRunFilter,
  { size, token }: { size: number; token: string | null },
  call: Call,
): Promise<{ runs: ListedRun[]; nextToken: string | null }> {
  const query = toRunQuery(filter)
  const begin = { namespace, query, pageSize: size }
  const request = token === null ? begin : { ...begin, nextPageToken: fromBase64(token) }
  try {
    const { executions, nextPageToken } = await rpc('listWorkflowExecutions', request, call, {
      async onLostResponse(error) {
        if (token !== null && isUnknown(error)) throw error
        return { retryRequest: request }
      },
    })
    const nextToken = nextPageToken?.length ? toBase64(nextPageToken) : null
    return { runs: (executions ?? []).map(toListedRun), nextToken }
  } catch (error) {
    if (token !== null && isUnknown(error) && (await isSupported(rpc, begin, call))) throw invalidPageToken(error)
    throw toListError(error)
  }
}

/** The code of an internal failure, which the engine also returns for a token that it cannot read. */
function isUnknown(error: unknown): error is RpcError {
  return error instanceof RpcError && error.code === GrpcCode.UNKNOWN
}

/** Whether the same list succeeds from its beginning. */
async function isSupported(rpc: Rpc, request: ListRequest, call: Call): Promise<boolean> {
  try {
    await rpc('listWorkflowExecutions', { ...request, pageSize: 1 }, call)
    return true
  } catch {
    // The first error is reported: this one only shows that the token is not the cause.
    return false
  }
}

interface ListRequest {
  namespace: string
  query: string
  pageSize: number
}

export async function countRuns(
  { rpc, namespace }: EngineContext,
  filter: TypedRunFilter,
  byStatus: boolean,
  call: Call,
): Promise<RunCount> {
  const query = toRunQuery(filter)
  try {
    const request = { namespace, query: byStatus ? `${query} GROUP BY ExecutionStatus` : query }
    const { count, groups } = await rpc('countWorkflowExecutions', request, call)
    const byWord = (groups ?? []).map((group) => ({
      status: fromStatusWord(fromPayload(group.groupValues?.[0] ?? {})),
      count: Number(group.count),
    }))
    const order = ({ status }: { status: Status }) => STATUSES.indexOf(status)
    return { count: Number(count), groups: byWord.toSorted((one, other) => order(one) - order(other)) }
  } catch (error) {
    throw toListError(error)
  }
}

function toListedRun(info: Parameters<typeof describeRun>[0]): ListedRun {
  const { workflowId, runId, workflowName, catalog, status, startedAt, completedAt } = describeRun(info)
  return { workflowId, runId, workflowName, catalog, status, startedAt, completedAt }
}

/** The engine's message about a query is passed on: the query is the client's own. */
function toListError(error: unknown): unknown {
  if (!(error instanceof RpcError) || error.code !== GrpcCode.INVALID_ARGUMENT)
    return toServiceError(error, { kind: 'read', details: {} })
  const message = `was rejected by the workflow engine: ${redactMachineDetails(error.message)}`
  const issues = [{ path: '/query', message }]
  return new ServiceError('ValidationError', `The filter ${message}`, { cause: error, details: { issues } })
}
