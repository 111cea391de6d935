/** Checks of reads: the status, the result and the query of a run say what its history says. */
import type { Operation, RecordedRun } from './record.ts'
import type { RunIndex } from './run-index.ts'
import { isSame, type Report } from './violation.ts'

// The engine commits an event later than its time says, on a busy machine and while it restarts.
const COMMIT_MS = 5000

export function checkReads(operations: readonly Operation[], index: RunIndex, report: Report): void {
  const named = firstNamed(operations)
  for (const operation of operations) {
    if (operation.outcome !== 'acknowledged') continue
    if (READS_OF_LATEST.has(operation.op)) checkLatest(operation, index, named, report)
    if (operation.op === 'run' || operation.op === 'result') checkResult(operation, index, report)
    if (operation.op === 'status') checkStatus(operation, index, report)
    if (operation.op === 'query') checkQuery(operation, index, report)
  }
}

function checkResult(operation: Operation, index: RunIndex, report: Report): void {
  const { op, marker, runId: asked, answer } = operation
  const run = namedRun(operation, index, report)
  if (run === null) return
  if (op === 'run' && run.startMarker !== marker && answer.started !== false)
    report('wrong run', operation, `the result is that of ${run.runId}, which ${run.startMarker} started`)
  if (asked !== undefined && run.runId !== asked)
    report('wrong run', operation, `the result of ${asked} is that of ${run.runId}`)
  if (answer.isAccepted) return
  if (run.status === 'continued' && asked === undefined && answer.error === undefined)
    report('wrong run', operation, `${run.runId} has no result: it continues as another run`)
  // A 424 whose run could not be read says how to go on, and nothing about the run.
  if (answer.error !== undefined && answer.status === undefined) return
  if (answer.status !== run.status)
    report('wrong status', operation, `the result says ${answer.status}, but ${run.runId} is ${run.status}`)
  if (answer.output !== undefined && !isSame(answer.output ?? null, run.output))
    report('wrong result', operation, `${JSON.stringify(answer.output)} is not that of ${run.runId}`)
}

function checkStatus(operation: Operation, index: RunIndex, report: Report): void {
  const { runId: asked, startedAt, endedAt, answer } = operation
  const run = namedRun(operation, index, report)
  if (run === null) return
  if (asked !== undefined && run.runId !== asked)
    report('wrong run', operation, `the status of ${asked} is that of ${run.runId}`)
  const wasOpen = run.closedAt === null || run.closedAt > startedAt - COMMIT_MS
  const wasClosed = run.closedAt !== null && run.closedAt <= endedAt
  const isOpen = answer.status === 'running' || answer.status === 'paused'
  if (isOpen ? !wasOpen : !wasClosed || answer.status !== run.status)
    report('wrong status', operation, `says ${answer.status}, but ${run.runId} is ${run.status}`)
}

const READS_OF_LATEST: ReadonlySet<string> = new Set(['result', 'status'])

/** When a response first named each run (epoch milliseconds): from then on clients know that it exists. */
function firstNamed(operations: readonly Operation[]): ReadonlyMap<string, number> {
  const named = new Map<string, number>()
  for (const { answer, endedAt } of operations)
    if (answer.runId !== undefined) named.set(answer.runId, Math.min(endedAt, named.get(answer.runId) ?? endedAt))
  return named
}

/** Without a run id, a read is about a run that is not older than one that a response has named before. */
function checkLatest(operation: Operation, index: RunIndex, named: ReadonlyMap<string, number>, report: Report): void {
  const { workflowId, runId, startedAt, answer } = operation
  const run = answer.runId === undefined ? undefined : index.byId(answer.runId)
  if (runId !== undefined || run === undefined) return
  const later = index
    .ofWorkflow(workflowId)
    .find((other) => other.startedAt > run.startedAt && (named.get(other.runId) ?? startedAt) < startedAt)
  if (later !== undefined)
    report('wrong run', operation, `of ${workflowId} is about ${run.runId}, but ${later.runId} is later`)
}

/** The state has messages that the runs received, each once. */
function checkQuery(operation: Operation, index: RunIndex, report: Report): void {
  const { runId, workflowId, answer } = operation
  const applied = appliedIn(answer.output)
  if (applied === null) {
    report('wrong result', operation, `the state is ${JSON.stringify(answer.output)}`)
    return
  }
  const runs = runId === undefined ? index.ofWorkflow(workflowId) : chainUntil(runId, index)
  const known = new Set(runs.flatMap((run) => run.messages.map(({ marker }) => marker)))
  for (const marker of applied)
    if (!known.has(marker)) report('wrong result', operation, `the state has ${marker}, which no run received`)
  if (new Set(applied).size < applied.length) report('done twice', operation, `the state has ${applied.join(', ')}`)
}

function appliedIn(output: unknown): string[] | null {
  return typeof output === 'object' && output !== null && 'applied' in output && Array.isArray(output.applied)
    ? output.applied.map(String)
    : null
}

function chainUntil(runId: string, index: RunIndex): readonly RecordedRun[] {
  const run = index.byId(runId)
  if (run === undefined) return []
  return index.chain(run.firstRunId).filter(({ startedAt }) => startedAt <= run.startedAt)
}

/** The run that the response names, if it exists. */
function namedRun(operation: Operation, index: RunIndex, report: Report): RecordedRun | null {
  const { workflowId, answer } = operation
  const run = answer.runId === undefined ? undefined : index.byId(answer.runId)
  if (run === undefined) {
    report('wrong run', operation, `run ${answer.runId} does not exist`)
    return null
  }
  if (run.workflowId !== workflowId)
    report('wrong workflow', operation, `run ${run.runId} is one of ${run.workflowId}, not of ${workflowId}`)
  return run
}
