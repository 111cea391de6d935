import type { temporal } from '@temporalio/proto'
import { fromBase64, toBase64 } from '../../../shared/lib/base64.ts'
import { describeRun } from '../../../shared/temporal/describe-run.ts'
import { GrpcCode } from '../../../shared/temporal/grpc-code.ts'
import { fromStatusWord } from '../../../shared/temporal/outcome.ts'
import { fromPayload, memoFields } from '../../../shared/temporal/payload.ts'
import { redactMachineDetails } from '../../../shared/temporal/redact-machine-details.ts'
import { PROBLEMS_ATTRIBUTE } from '../../../shared/temporal/search-attributes.ts'
import { ASKS_MEMO } from '../../../shared/wire/asks.ts'
import { isOpen, STATUSES, type Status } from '../../../shared/wire/execution.ts'
import type { Call } from '../../model/call.ts'
import { ServiceError } from '../../model/errors.ts'
import { invalidPageToken } from '../../model/page-token.ts'
import type { AskingRun, ListedRun, RunCount, TypedRunFilter } from '../../model/run-filter.ts'
import type { EngineContext } from '../context.ts'
import { toServiceError } from '../errors.ts'
import { toRunQuery } from '../run-query.ts'
import { RpcError } from '../transport/transport.ts'
import { isCausedByToken, isInternalFailure } from './changed-token.ts'
import { namespaceCapabilities } from './namespace-capabilities.ts'

type TemporalRun = temporal.api.workflow.v1.IWorkflowExecutionInfo

interface Page {
  size: number
  token: string | null
}

export async function listVisible(
  context: EngineContext,
  filter: TypedRunFilter,
  page: Page,
  call: Call,
): Promise<{ runs: ListedRun[]; nextToken: string | null }> {
  const { executions, nextToken } = await listPage(context, filter, page, call)
  return { runs: executions.map(toListedRun), nextToken }
}

export async function listAsking(
  context: EngineContext,
  filter: TypedRunFilter,
  page: Page,
  call: Call,
): Promise<{ runs: AskingRun[]; nextToken: string | null }> {
  const { executions, nextToken } = await listPage(context, filter, page, call)
  const asking = executions.flatMap((info) => {
    const asks = memoFields(info.memo).get(ASKS_MEMO)
    return asks === undefined ? [] : [{ info, asks }]
  })
  const decoded = await context.payloads.decodeJson(asking.map(({ asks }) => asks))
  const runs = asking.map(({ info }, at) => {
    const { workflowId, runId, workflowName, catalog } = describeRun(info)
    return { workflowId, runId, workflowName, catalog, asks: decoded[at] }
  })
  return { runs, nextToken }
}

async function listPage(
  context: EngineContext,
  filter: TypedRunFilter,
  { size, token }: Page,
  call: Call,
): Promise<{ executions: TemporalRun[]; nextToken: string | null }> {
  const { rpc, namespace } = context
  if (filter.problem !== undefined) await requireProblems(context, call)
  const query = toRunQuery(filter)
  const begin = { namespace, query, pageSize: size }
  const request = token === null ? begin : { ...begin, nextPageToken: fromBase64(token) }
  try {
    const { executions, nextPageToken } = await rpc('listWorkflowExecutions', request, call, {
      async onLostResponse(error) {
        if (isRefusedValue(error) || (token !== null && isInternalFailure(error))) throw error
        return { retryRequest: request }
      },
    })
    const nextToken = nextPageToken?.length ? toBase64(nextPageToken) : null
    return { executions: executions ?? [], nextToken }
  } catch (error) {
    const again = () => rpc('listWorkflowExecutions', { ...begin, pageSize: 1 }, call)
    if (token !== null && (await isCausedByToken(error, again))) throw invalidPageToken(error)
    throw toListError(error, filter)
  }
}

export async function countVisible(
  context: EngineContext,
  filter: TypedRunFilter,
  byStatus: boolean,
  call: Call,
): Promise<RunCount> {
  const { rpc, namespace } = context
  if (filter.problem !== undefined) await requireProblems(context, call)
  const query = toRunQuery(filter)
  try {
    const request = { namespace, query: byStatus ? `${query} GROUP BY ExecutionStatus` : query }
    const { count, groups } = await rpc('countWorkflowExecutions', request, call, {
      async onLostResponse(error) {
        if (isRefusedValue(error)) throw error
        return { retryRequest: request }
      },
    })
    const byWord = (groups ?? []).map((group) => ({
      status: fromStatusWord(fromPayload(group.groupValues?.[0] ?? {})),
      count: Number(group.count),
    }))
    const order = ({ status }: { status: Status }) => STATUSES.indexOf(status)
    return { count: Number(count), groups: byWord.toSorted((one, other) => order(one) - order(other)) }
  } catch (error) {
    throw toListError(error, filter)
  }
}

/** An engine that does not record problems finds none, without an error. */
async function requireProblems(context: EngineContext, call: Call): Promise<void> {
  const { reportedProblemsSearchAttribute } = await namespaceCapabilities(context, call)
  if (!reportedProblemsSearchAttribute)
    throw new ServiceError('NotSupportedError', 'The workflow engine does not record which runs have a problem')
}

// Errors of SQLite, PostgreSQL and MySQL about a value. The engine reports them with the code of an outage.
const REFUSED = /SQL logic error|SQLSTATE (?:22|42)|Error \d{4} \((?:22|42)|\bpq: (?:invalid|syntax|unterminated)/

function isRefusedValue({ code, message }: RpcError): boolean {
  return code === GrpcCode.UNAVAILABLE && REFUSED.test(message)
}

function toListedRun(info: TemporalRun): ListedRun {
  const { workflowId, runId, workflowName, catalog, status, startedAt, completedAt } = describeRun(info)
  const problem = isOpen(status) && info.searchAttributes?.indexedFields?.[PROBLEMS_ATTRIBUTE] != null
  return { workflowId, runId, workflowName, catalog, status, startedAt, completedAt, problem }
}

/** The engine's message about a query is passed on: the query is the client's own. */
function toListError(error: unknown, filter: TypedRunFilter): unknown {
  if (!(error instanceof RpcError)) return error
  const isRefused = isRefusedValue(error)
  const names = isRefused ? unusualParameters(filter) : []
  if (names.length > 0 || (isRefused && filter.query === undefined)) {
    const message = `The workflow engine's database cannot search for the value ${names.length === 0 ? '' : `of ${names.join(', ')}`}`
    return new ServiceError('NotSupportedError', message, { cause: error })
  }
  if (!isRefused && error.code !== GrpcCode.INVALID_ARGUMENT)
    return toServiceError(error, { kind: 'read', details: {} })
  const message = `was rejected by the workflow engine: ${redactMachineDetails(error.message)}`
  const issues = [{ path: '/query', message }]
  return new ServiceError('ValidationError', `The filter ${message}`, { cause: error, details: { issues } })
}

/** The parameters whose values have characters that some databases cannot search for. */
function unusualParameters({ workflowName, catalog, searchAttributes }: TypedRunFilter): string[] {
  const attributes = searchAttributes.map(({ name, value }) => [`searchAttributes[${name}]`, value] as const)
  const given = [['workflowName', workflowName] as const, ['catalog', catalog] as const, ...attributes]
  return given.filter(([, value]) => /["'\\]/.test(value ?? '')).map(([name]) => name)
}
