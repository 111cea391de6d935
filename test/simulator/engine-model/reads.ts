/** What the engine says about runs: descriptions, histories, lists. */
import { type HistoryEvent, isOpen, type Run, type RunStatus, STATUS, toTimestamp } from './run.ts'
import { CODE, type Execution, type Runs, rpcError } from './runs.ts'

/** The part of a description that lists have too. `status`: as visibility has it. */
function infoOf(run: Run, status: RunStatus = run.status): object {
  return {
    execution: { workflowId: run.workflowId, runId: run.runId },
    firstRunId: run.firstRunId,
    type: { name: run.type },
    taskQueue: run.taskQueue,
    status,
    startTime: toTimestamp(run.startedAt),
    closeTime: isOpenStatus(status) || run.closedAt === null ? null : toTimestamp(run.closedAt),
    historyLength: run.events.length,
    memo: run.memo,
  }
}

function isOpenStatus(status: RunStatus): boolean {
  return status === STATUS.running || status === STATUS.paused
}

export function describe(runs: Runs, { execution }: { execution?: Execution | null }): object {
  const run = runs.find(execution)
  const requestIdInfos = Object.fromEntries([...run.requestIds].map((id) => [id, { eventType: 1 }]))
  const pendingActivities = [...run.activities.values()].map(({ id, type, scheduledEventId }) => ({
    activityId: id,
    activityType: { name: type },
    scheduledEventId,
    state: 2,
    attempt: 1,
  }))
  return {
    workflowExecutionInfo: infoOf(run),
    workflowExtendedInfo: { requestIdInfos, ...(run.resetRunId !== undefined && { resetRunId: run.resetRunId }) },
    executionConfig: {},
    pendingActivities,
  }
}

export interface HistoryRequest {
  execution?: Execution | null
  nextPageToken?: Uint8Array | null
  maximumPageSize?: number | null
  waitNewEvent?: boolean | null
  historyEventFilterType?: number | null
}

const CLOSE_EVENT = 2
const DEFAULT_PAGE = 1000

/** A page of the history, or its last event when the run has closed. */
export async function history(runs: Runs, request: HistoryRequest, signal: AbortSignal): Promise<object> {
  const run = runs.find(request.execution)
  const from = positionOf(request.nextPageToken) ?? 0
  const isCloseOnly = request.historyEventFilterType === CLOSE_EVENT
  const isReady = () => (isCloseOnly ? !isOpen(run) : run.events.length > from || !isOpen(run))
  if (request.waitNewEvent === true) await runs.hold(run, isReady, signal)
  if (isCloseOnly) return page(isOpen(run) ? [] : run.events.slice(-1), null)
  const events = run.events.slice(from, from + (request.maximumPageSize || DEFAULT_PAGE))
  const next = from + events.length
  const hasMore = next < run.events.length || (request.waitNewEvent === true && isOpen(run))
  return page(events, hasMore ? next : null)
}

export function historyReverse(
  runs: Runs,
  request: Pick<HistoryRequest, 'execution' | 'maximumPageSize' | 'nextPageToken'>,
) {
  const { events } = runs.find(request.execution)
  const to = positionOf(request.nextPageToken) ?? events.length
  const from = Math.max(0, to - (request.maximumPageSize || DEFAULT_PAGE))
  return page(events.slice(from, to).reverse(), from === 0 ? null : from)
}

function page(events: HistoryEvent[], next: number | null): object {
  return { history: { events }, nextPageToken: next === null ? null : new TextEncoder().encode(String(next)) }
}

function positionOf(token: Uint8Array | null | undefined): number | null {
  return token?.length ? Number(new TextDecoder().decode(token)) : null
}

export interface ListRequest {
  query?: string | null
  pageSize?: number | null
}

/** The runs that visibility has for one of the queries that waits and lists of the service send. */
export function list(runs: Runs, { query, pageSize }: ListRequest): object {
  const isWanted = filterOf(query ?? '')
  const found = runs
    .listed()
    .filter(({ run, status }) => isWanted(run, status))
    .toSorted((one, other) => other.run.startedAt - one.run.startedAt || other.run.runId.localeCompare(one.run.runId))
  const executions = found.slice(0, pageSize || DEFAULT_PAGE).map(({ run, status }) => infoOf(run, status))
  return { executions, nextPageToken: null }
}

export function count(runs: Runs, { query }: ListRequest): object {
  const isWanted = filterOf(query ?? '')
  return { count: runs.listed().filter(({ run, status }) => isWanted(run, status)).length }
}

type Filter = (run: Run, status: RunStatus) => boolean

/** Fails for a query that the model cannot evaluate, so that no simulation believes a wrong list. */
function filterOf(query: string): Filter {
  const alternatives = splitAt(' OR ', query)
  if (alternatives.length > 1) return some(alternatives.map(filterOf))
  const conditions = splitAt(' AND ', query)
  if (conditions.length > 1) return every(conditions.map(filterOf))
  const inner = /^\((.*)\)$/s.exec(query.trim())?.[1]
  return inner === undefined ? conditionOf(query.trim()) : filterOf(inner)
}

function some(filters: readonly Filter[]): Filter {
  return (run, status) => filters.some((isMet) => isMet(run, status))
}

function every(filters: readonly Filter[]): Filter {
  return (run, status) => filters.every((isMet) => isMet(run, status))
}

/** Splits where no parenthesis is open. */
function splitAt(separator: string, query: string): string[] {
  const parts = ['']
  for (const piece of query.split(separator)) {
    const last = parts.at(-1) ?? ''
    const isOpen = last.split('(').length > last.split(')').length
    if (last === '' && parts.length === 1) parts[0] = piece
    else if (isOpen) parts[parts.length - 1] = last + separator + piece
    else parts.push(piece)
  }
  return parts
}

function conditionOf(condition: string): Filter {
  if (condition === '') return () => true
  const id = /^WorkflowId = '([^']*)'$/.exec(condition)?.[1]
  if (id !== undefined) return ({ workflowId }) => workflowId === id
  const [, column, not, start] = /^(WorkflowId|WorkflowType)( NOT)? STARTS_WITH '([^']*)'$/.exec(condition) ?? []
  if (start !== undefined)
    return ({ workflowId, type }) =>
      (column === 'WorkflowId' ? workflowId : type).startsWith(start) === (not === undefined)
  const ids = /^RunId IN \(([^)]*)\)$/
    .exec(condition)?.[1]
    ?.split(',')
    .map((one) => one.trim().slice(1, -1))
  if (ids !== undefined) return ({ runId }) => ids.includes(runId)
  if (/^ExecutionStatus IN \('Completed',/.test(condition)) return (_, status) => !isOpenStatus(status)
  throw rpcError(CODE.unimplemented, `The model has no filter ${condition}`)
}
