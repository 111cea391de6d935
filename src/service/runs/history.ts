import { isObject } from '../../shared/lib/json.ts'
import { runIdIssue } from '../../shared/wire/names.ts'
import { redactSecrets } from '../../shared/wire/secret-names.ts'
import { type Call, withinCall } from '../model/call.ts'
import { type Description, type ExecutionRef, rejectReserved } from '../model/execution.ts'
import {
  type EventPage,
  type EventValues,
  HISTORY_START,
  type HistoryCommand,
  type HistoryEvent,
  type HistoryPosition,
  type HistoryRun,
  type RunHistory,
} from '../model/history-page.ts'
import { invalidPageToken, isEngineToken, openPageToken, sealPageToken } from '../model/page-token.ts'
import type { Ports } from '../ports.ts'

export type HistoryPorts = Pick<Ports, 'catalogs' | 'engine'>

/** What a page token of a history holds: the run stays the same, even if it continues as a new one. */
interface TokenPosition extends HistoryPosition {
  runId: string
}

export async function readHistory(ports: HistoryPorts, command: HistoryCommand, call: Call): Promise<RunHistory> {
  const { ref, pageSize, pageToken, waitMs, includePayloads } = command
  const request = { namespace: ports.catalogs.namespace, history: ref.workflowId }
  const { runId, ...from } = pageToken === null ? begin(ref) : await continueAt(request, ref, pageToken)
  const run = await describeUserRun(ports, { workflowId: ref.workflowId, ...(runId !== '' && { runId }) }, call)
  const values = await eventValues(ports, run, includePayloads, call)
  const page = await ports.engine.events(run, { from, maxEvents: pageSize, waitMs, values }, call)
  const isRead = page.end !== null || (run.completedAt !== null && page.next.after >= run.historyLength)
  return {
    workflow: toHistoryRun(run, page),
    events: page.events.map(withoutSecrets),
    nextPageToken: isRead ? null : await sealPageToken(request, { runId: run.runId, ...page.next }),
  }
}

export async function describeUserRun({ engine }: HistoryPorts, ref: ExecutionRef, call: Call): Promise<Description> {
  const run = await engine.describe(ref, call)
  rejectReserved(run)
  return run
}

/** If the workers redact their traces, all values are redacted: only the workers know which ones are secret. */
export async function eventValues(
  { catalogs }: HistoryPorts,
  { catalog }: Description,
  payloads: boolean,
  call: Call,
): Promise<EventValues> {
  const { value: published } = await withinCall(catalogs.published(catalog), call)
  return { payloads, redacted: published?.redacted === true }
}

/** The run at the end of the page, which may be newer than the description. */
export function toHistoryRun(
  { workflowId, runId, catalog, ...run }: Description,
  page?: Pick<EventPage, 'end' | 'next'>,
): HistoryRun {
  const { status, completedAt } = page?.end ?? run
  const historyLength = Math.max(run.historyLength, page?.next.after ?? 0)
  return { workflowId, runId, status, startedAt: run.startedAt, completedAt, historyLength, catalog }
}

export function withoutSecrets(event: HistoryEvent): HistoryEvent {
  return redactSecrets(event) as HistoryEvent
}

/** The reference, pinned to the run that the page token names. */
export async function pinnedByToken(
  { ref, pageToken }: Pick<HistoryCommand, 'pageToken' | 'ref'>,
  namespace: string,
): Promise<ExecutionRef> {
  if (pageToken === null) return ref
  const { workflowId } = ref
  return { workflowId, runId: (await continueAt({ namespace, history: workflowId }, ref, pageToken)).runId }
}

function begin({ runId = '' }: ExecutionRef): TokenPosition {
  return { runId, ...HISTORY_START }
}

async function continueAt(request: unknown, { runId: pinned }: ExecutionRef, token: string): Promise<TokenPosition> {
  const position = await openPageToken(request, token, isTokenPosition)
  if (pinned !== undefined && pinned !== position.runId) throw invalidPageToken()
  return position
}

function isTokenPosition(value: unknown): value is TokenPosition {
  if (!isObject(value)) return false
  const { runId, after, page, live } = value
  return isRunId(runId) && isEventId(after) && isTokenOrNull(page) && isTokenOrNull(live)
}

function isRunId(value: unknown): boolean {
  return typeof value === 'string' && runIdIssue(value) === null
}

function isEventId(value: unknown): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function isTokenOrNull(value: unknown): boolean {
  return value === null || isEngineToken(value)
}
