/** Checks of error responses: whether they may be repeated, which run they name, and what they say about it. */
import type { Operation, OperationName, RecordedRun, Recording } from '../../lab/soak/record.ts'
import type { UnreadRun } from './engine-network.ts'

/** One sentence for each violation. */
export function checkErrors({ operations, runs }: Recording, unread: readonly UnreadRun[]): string[] {
  const byWorkflow = Map.groupBy(runs, ({ workflowId }) => workflowId)
  return operations.flatMap((operation) => {
    if (operation.answer.error === undefined) return []
    const known = byWorkflow.get(operation.workflowId) ?? []
    const checks = [invitesRepeat, namesOtherRun, deniesOpenRun]
    return [...checks.map((check) => check(operation, known)), deniesOwnRun(operation, known, unread)]
      .filter((message) => message !== null)
      .map((message) => `${operation.client} ${operation.op} ${operation.marker}: ${operation.answer.error} ${message}`)
  })
}

/** `Retry-After` without a key says that nothing was done. */
function invitesRepeat({ key, marker, answer }: Operation, runs: readonly RecordedRun[]): string | null {
  if (answer.isRepeatable !== true || key !== undefined || marker === null) return null
  return runs.some((run) => hasEffect(run, marker)) ? 'may be repeated, but was carried out' : null
}

function hasEffect({ startMarker, messages, resetMarker }: RecordedRun, marker: string): boolean {
  return startMarker === marker || resetMarker === marker || messages.some((message) => message.marker === marker)
}

/** A run that had closed before cannot have the update. */
function namesOtherRun(operation: Operation, runs: readonly RecordedRun[]): string | null {
  const { runId, marker, startedAt, answer } = operation
  const run = runs.find((one) => one.runId === answer.runId)
  if (run === undefined || answer.updateId === undefined || marker === null || hasEffect(run, marker)) return null
  const isSentToRun = runId !== undefined || asksLatest(operation, run, runs)
  const isGuess = isSentToRun && !isNotRunning(answer.error)
  const wasClosed = run.closedAt !== null && run.closedAt < startedAt
  return wasClosed && !isGuess ? `names an update of ${run.runId}, which had closed before` : null
}

/**
 * A request with a key asks the latest run of its id, also a closed one, whether it has the update of an earlier
 * attempt. Without a response that stays open.
 */
function asksLatest({ op, key, outcome, startedAt }: Operation, run: RecordedRun, runs: readonly RecordedRun[]) {
  if (op !== 'update-with-start' || key === undefined || outcome !== 'unknown') return false
  return !runs.some((other) => other.startedAt > run.startedAt && other.startedAt < startedAt)
}

const OF_OPEN_RUNS: ReadonlySet<OperationName> = new Set(['signal', 'update', 'terminate'])

/** A chain that continues as new is open all the time. */
function deniesOpenRun({ op, runId, startedAt, endedAt, outcome, answer }: Operation, runs: readonly RecordedRun[]) {
  const isDenied = outcome === 'rejected' && isNotRunning(answer.error)
  if (!OF_OPEN_RUNS.has(op) || runId !== undefined || !isDenied) return null
  let openUntil = startedAt
  for (const { startedAt: from, closedAt } of runs.toSorted((one, other) => one.startedAt - other.startedAt))
    if (from <= openUntil) openUntil = Math.max(openUntil, closedAt ?? Number.POSITIVE_INFINITY)
  return openUntil >= endedAt ? 'although a run was open all the time' : null
}

/** Only runs of other requests hide the run that a start has created, or an engine that could not be read. */
function deniesOwnRun(
  { op, workflowId, marker, startedAt, endedAt, answer }: Operation,
  runs: readonly RecordedRun[],
  unread: readonly UnreadRun[],
): string | null {
  const isHidden = STARTING.has(op) && answer.error?.includes('The response of the workflow engine was lost') === true
  const areOwn = runs.length > 0 && runs.every(({ startMarker }) => startMarker === marker)
  const isUnread = unread.some((run) => run.workflowId === workflowId && run.at >= startedAt && run.at <= endedAt)
  return isHidden && areOwn && !isUnread ? 'although no other request has used the id' : null
}

const STARTING: ReadonlySet<OperationName> = new Set(['start', 'run', 'signal-with-start', 'update-with-start'])

function isNotRunning(error: string | undefined): boolean {
  return error?.startsWith('WorkflowNotRunningError') === true
}
