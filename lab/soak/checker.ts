/**
 * Compares what clients saw with the engine's histories:
 *
 * - Every acknowledged operation happened exactly once, to the run that was named.
 * - Nothing that was rejected happened.
 * - What was neither acknowledged nor rejected happened at most once.
 * - Results are those of the histories.
 *
 * `node lab/soak/checker.ts <record file>` prints the violations, and exits with 1 if there are any.
 */
import { checkReads } from './check-reads.ts'
import { type Operation, type OperationName, type RecordedRun, type Recording, readRecording } from './record.ts'
import { indexRuns, type RunIndex } from './run-index.ts'
import { isSame, type Report, text, type Violation } from './violation.ts'

/** One effect of an operation in a history. */
interface Effect {
  run: RecordedRun
  output?: unknown
}

type Part = 'start' | 'signal' | 'update' | 'stop' | 'terminate' | 'reset'

/** What each operation changes. Reads change nothing. */
const PARTS = new Map<OperationName, readonly Part[]>([
  ['start', ['start']],
  ['run', ['start']],
  ['signal', ['signal']],
  ['update', ['update']],
  ['signal-with-start', ['start', 'signal']],
  ['update-with-start', ['start', 'update']],
  ['stop', ['stop']],
  ['terminate', ['terminate']],
  ['reset', ['reset']],
])

export function check({ operations, runs }: Recording): Violation[] {
  const violations: Violation[] = []
  const report: Report = (rule, operation, message) => {
    const about = operation === null ? '' : `${operation.client} ${operation.op} ${operation.marker ?? ''}: `
    violations.push({ rule, message: `${about}${message}`, ...(operation?.marker && { marker: operation.marker }) })
  }
  const index = indexRuns(runs)
  const attempts = Map.groupBy(
    operations.filter(({ marker }) => marker !== null),
    ({ marker }) => marker,
  )
  for (const repeated of attempts.values()) checkOperation(repeated, { ...index, attempts }, report)
  for (const run of runs) checkOrigin(run, new Set(attempts.keys()), index, report)
  checkReads(operations, index, report)
  return violations
}

/** The runs, and the requests of each marker. */
interface Known extends RunIndex {
  attempts: ReadonlyMap<string | null, readonly Operation[]>
}

/** `repeated`: the requests of one operation, the first one first. */
function checkOperation(repeated: readonly Operation[], known: Known, report: Report): void {
  const [first] = repeated
  if (first === undefined) return
  for (const part of PARTS.get(first.op) ?? []) checkPart(part, repeated, known, report)
  checkReplays(repeated, report)
}

function checkPart(part: Part, repeated: readonly Operation[], known: Known, report: Report): void {
  const [first] = repeated
  if (first === undefined) return
  const effects = effectsOf(part, first, known)
  const where = effects.map(({ run }) => run.runId).join(', ')
  if (effects.length > 1) report('done twice', first, `${part} happened ${effects.length} times, in ${where}`)
  const acknowledged = repeated.filter((operation) => claims(part, operation))
  const [claim] = acknowledged
  if (claim !== undefined && effects.length === 0 && !mayHaveNoEffect(part, claim, known))
    report('lost', claim, `${part} was acknowledged (run ${claim.answer.runId}) but never happened`)
  if (repeated.every(({ outcome }) => outcome === 'rejected') && effects.length > 0)
    report('done although rejected', first, `${part} was rejected (${first.answer.error}) but happened in ${where}`)
  const denial = repeated.find((operation) => denies(part, operation))
  if (denial !== undefined && claim === undefined && effects.length > 0)
    report('done although denied', denial, `the response says that ${part} did not happen, but it did in ${where}`)
  for (const { run, output } of effects) {
    if (run.workflowId !== first.workflowId)
      report('wrong workflow', first, `${part} happened in ${run.workflowId} instead of ${first.workflowId}`)
    for (const operation of repeated) checkNamed(part, operation, run, known, report)
    for (const operation of acknowledged) checkOutput(part, operation, output, report)
  }
}

/** Whether the response says that this part happened. */
function claims(part: Part, operation: Operation): boolean {
  if (operation.outcome !== 'acknowledged' || operation.answer.changed === false) return false
  return !denies(part, operation)
}

/** Whether the response says that this part did not happen, although the operation was accepted. */
function denies(part: Part, { op, outcome, answer }: Pick<Operation, 'op' | 'outcome' | 'answer'>): boolean {
  if (outcome !== 'acknowledged' || part !== 'start' || answer.started !== false) return false
  // Of a start, the response says that the run is that of an earlier request with the key.
  return answer.replayed !== true || op === 'signal-with-start' || op === 'update-with-start'
}

/** A run that has just ended, or that an earlier request has canceled, accepts a cancellation without an effect. */
function mayHaveNoEffect(part: Part, { answer, startedAt, endedAt }: Operation, { byId, attempts }: Known): boolean {
  const { closedAt = null, stops = [] } = (answer.runId !== undefined && byId(answer.runId)) || {}
  const hasJustEnded = closedAt !== null && startedAt <= closedAt && closedAt <= endedAt
  const isEarlier = (marker: string) => attempts.get(marker)?.some((other) => other.startedAt <= endedAt) === true
  return part === 'stop' && (hasJustEnded || stops.some(isEarlier))
}

function checkNamed(part: Part, operation: Operation, run: RecordedRun, index: RunIndex, report: Report): void {
  const { runId, answer } = operation
  // A reset creates a run.
  if (part !== 'reset' && part !== 'start' && runId !== undefined && run.runId !== runId)
    report('wrong run', operation, `${part} was sent to ${runId} but happened in ${run.runId}`)
  if (!claims(part, operation) || answer.runId === undefined || answer.runId === run.runId) return
  const isLater = index.byId(answer.runId)?.firstRunId === run.firstRunId && mayNameOther(part, operation)
  if (!isLater)
    report('wrong run', operation, `the response names ${answer.runId}, but ${part} happened in ${run.runId}`)
}

/** Whether the response may name another run of the chain. */
function mayNameOther(part: Part, { op, runId }: Operation): boolean {
  // `run` names the last run. The started run may continue as new before it takes the update.
  if (part === 'start') return op === 'run' || op === 'update-with-start'
  // It names the run whose status it has read; the engine cancels the one that continues it by then.
  return part === 'stop' && runId === undefined
}

function checkOutput(part: Part, operation: Operation, output: unknown, report: Report): void {
  if (part !== 'update' || operation.answer.output === undefined) return
  if (!isSame(operation.answer.output, output))
    report('wrong result', operation, `returned ${text(operation.answer.output)}, but the history has ${text(output)}`)
}

/**
 * `Idempotency-Replayed` is true if an earlier request with the key has started the run. It may also be true for the
 * first request, whose own start was lost on its way back from the engine. A run that another key has started stays
 * that of the other key.
 */
function checkReplays(repeated: readonly Operation[], report: Report): void {
  for (const operation of repeated) {
    const { outcome, answer, startedAt } = operation
    if (outcome !== 'acknowledged' || answer.replayed !== false || answer.started === false) continue
    const isRepeat = repeated.some((other) => other.outcome === 'acknowledged' && other.endedAt <= startedAt)
    if (isRepeat) report('wrong replay flag', operation, 'is a repeat, but not replayed')
  }
}

function effectsOf(part: Part, { marker }: Operation, { runs }: RunIndex): Effect[] {
  if (marker === null) return []
  switch (part) {
    case 'start':
      return runs.filter((run) => isFirstRun(run) && run.startMarker === marker).map((run) => ({ run }))
    case 'reset':
      return runs.filter((run) => run.resetMarker === marker).map((run) => ({ run }))
    case 'terminate':
      return runs.filter((run) => run.terminatedBy === marker).map((run) => ({ run }))
    case 'stop':
      return runs.flatMap((run) => run.stops.filter((stop) => stop === marker).map(() => ({ run })))
    default:
      return runs.flatMap((run) =>
        run.messages
          .filter((message) => message.kind === part && message.marker === marker)
          .map(({ output }) => ({ run, output })),
      )
  }
}

/** Neither continued nor reset. */
function isFirstRun({ runId, firstRunId, resetMarker }: RecordedRun): boolean {
  return runId === firstRunId && resetMarker === null
}

/** Whatever is in a history was sent by a client. */
function checkOrigin(run: RecordedRun, markers: ReadonlySet<string | null>, { runs }: RunIndex, report: Report): void {
  const started = [run.startMarker, run.resetMarker, run.terminatedBy, ...run.stops]
  const all = [...started, ...run.messages.map(({ marker }) => marker)].filter((marker) => marker !== null)
  for (const marker of all)
    if (!markers.has(marker)) report('nobody sent it', null, `${run.workflowId} ${run.runId} has ${marker}`)
  if (run.startMarker === null) report('nobody sent it', null, `${run.workflowId} ${run.runId} has no marker`)
  const first = runs.find(({ runId }) => runId === run.firstRunId)
  if (first?.startMarker !== run.startMarker)
    report('wrong run', null, `${run.workflowId} ${run.runId} does not continue ${run.firstRunId}`)
}

if (import.meta.main) {
  const violations = check(readRecording(process.argv[2] ?? ''))
  for (const { rule, message } of violations) process.stdout.write(`${rule}: ${message}\n`)
  process.exitCode = violations.length === 0 ? 0 : 1
}
