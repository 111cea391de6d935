/** What must be true of every response, whatever was lost on the way. */
import { isDeepStrictEqual } from 'node:util'
import { CONTRACT_MS } from '../../src/service/model/deadlines.ts'
import { type Effect, effectsIn } from './effects.ts'
import type { Run } from './engine-model/run.ts'
import { type Exchange, markerOf, STARTS, saidIn, sentBy, verbOf, workflowIdOf } from './exchange.ts'
import { recordedRun } from './recorded-runs.ts'

type Runs = ReadonlyMap<string, Run>
type Effects = ReadonlyMap<string, readonly Effect[]>

export function checkResponses(exchanges: readonly Exchange[], runs: Runs): string[] {
  const effects = effectsIn(runs)
  const attempts = Map.groupBy(exchanges, markerOf)
  const isOnlyAttempt = (exchange: Exchange) => attempts.get(markerOf(exchange))?.length === 1
  return exchanges.flatMap((exchange) => {
    const { response, gateway, client, method, path } = exchange
    if (response === null) return []
    const broken = [
      isOnlyAttempt(exchange) ? repeatedStatus(exchange, effects) : null,
      // Without a key, an attempt that did nothing may be followed by another one.
      exchange.key !== null || isOnlyAttempt(exchange) ? missingIds(exchange, effects) : null,
      anotherRun(exchange, runs),
      wrongEnd(exchange, runs),
      late(exchange),
      response.status === 500 ? 'an unexpected error' : null,
    ]
    const about = `${client} > ${gateway} ${method} ${path}: ${response.status}`
    return broken.flatMap((rule) => (rule === null ? [] : [`${rule}: ${about} ${response.body.slice(0, 200)}`]))
  })
}

/** Some clients send a request with such a status again by themselves. */
const REPEATED: ReadonlySet<number> = new Set([408, 421, 425, 429, 500, 502, 503, 504])
const UNSAFE: ReadonlySet<string> = new Set([...STARTS, 'signal', 'update', 'reset'])

/** Such a status needs a key, or that nothing was carried out. */
function repeatedStatus(exchange: Exchange, effects: Effects): string | null {
  const { response, key } = exchange
  if (response === null || !REPEATED.has(response.status) || key !== null) return null
  if (!UNSAFE.has(verbOf(exchange))) return null
  const done = effects.get(markerOf(exchange) ?? '') ?? []
  return done.length === 0 ? null : `carried out, with a status that clients repeat (${done.map(({ kind }) => kind)})`
}

/** The response to a request that has started a run names it. */
function missingIds(exchange: Exchange, effects: Effects): string | null {
  const { response } = exchange
  if (response === null || !STARTS.has(verbOf(exchange)) || exchange.hasLeft) return null
  const started = effects.get(markerOf(exchange) ?? '')?.find(({ kind }) => kind === 'start')?.run
  if (started === undefined) return null
  const { workflowId, runId, error } = saidIn(exchange)
  if (response.status < 300) return workflowId === started.workflowId && runId !== undefined ? null : 'no ids'
  // Another request with the key has started it.
  if (exchange.key !== null && error !== 'WorkflowExecutionTimedOutError') return null
  if (workflowId !== started.workflowId) return 'no workflow id'
  return runId !== undefined || error === 'OutcomeUnknownError' ? null : 'no run id'
}

/** The run in the response is one of the workflow of the request. */
function anotherRun(exchange: Exchange, runs: Runs): string | null {
  const { runId, workflowId: said } = saidIn(exchange)
  const workflowId = workflowIdOf(exchange)
  if (workflowId === undefined) return null
  if (typeof said === 'string' && said !== workflowId) return 'about another workflow'
  if (typeof runId !== 'string') return null
  const run = runs.get(runId)
  if (run?.workflowId !== workflowId) return 'about another run'
  const pinned = runs.get(exchange.path.split(/[/?]/)[4] ?? '')
  return pinned === undefined || pinned.firstRunId === run.firstRunId ? null : 'about another run'
}

const ENDS: ReadonlySet<unknown> = new Set(['completed', 'failed', 'canceled', 'terminated', 'timed_out'])

/** A response that says how a run has ended agrees with its history. That of a start names the end of the chain. */
function wrongEnd(exchange: Exchange, runs: Runs): string | null {
  const { runId, status, output } = saidIn(exchange)
  const named = typeof runId === 'string' ? runs.get(runId) : undefined
  const ofChain = (run: Run) => run.firstRunId === named?.firstRunId
  const run = verbOf(exchange) === 'start' ? [...runs.values()].findLast(ofChain) : named
  if (run === undefined || !ENDS.has(status)) return null
  const { status: ended, output: result } = recordedRun(run)
  if (ended !== status) return `wrong end (${ended})`
  return output === undefined || isDeepStrictEqual(output ?? null, result) ? null : 'wrong output'
}

const MESSAGE_TIMEOUT_MS = 60_000
const WORKERS: ReadonlySet<string> = new Set(['update', 'query', 'update-with-start'])

function late(exchange: Exchange): string | null {
  const { response, startedAt, hasLeft } = exchange
  if (response === null || hasLeft) return null
  const ms = response.endedAt - startedAt
  const allowedMs = CONTRACT_MS + waitMsOf(exchange)
  return ms <= allowedMs ? null : `late (${ms} ms instead of ${allowedMs})`
}

/** How long the request may wait for workers. */
function waitMsOf(exchange: Exchange): number {
  const verb = verbOf(exchange)
  if (WORKERS.has(verb)) return MESSAGE_TIMEOUT_MS
  if (verb === 'run') return toMs(sentBy(exchange).timeout ?? '30s')
  return toMs(new URLSearchParams(exchange.path.split('?')[1]).get('wait') ?? 0)
}

function toMs(duration: unknown): number {
  const [, count, unit] = /^(\d+)(s?)$/.exec(String(duration)) ?? []
  return Number(count) * (unit === 's' ? 1000 : 1)
}
