/** The bars of a timeline: when each attempt of a step ran, as far as it is known. */
import type { TraceNode } from '../wire/trace/tree.ts'
import { stateOf } from './rows.ts'

export interface Segment {
  kind: 'queue' | 'attempt' | 'failed-attempt' | 'retries' | 'backoff' | 'whole'
  from: number
  to: number
}

/**
 * The parts of a bar. The engine records only the last attempt of an activity; where its worker records spans, they
 * show when each attempt ran.
 */
export function segmentsOf(node: TraceNode, now: number): Segment[] {
  const { startedAt: from, endedAt, error, attributes } = node
  const to = endedAt ?? now
  const spans = attemptsOf(node, now)
  if (spans.length > 1 || (spans.length === 1 && stateOf(node) === 'retrying')) return withGaps(spans, { from, to })
  const [attempts = 1, queueMs = 0] = [numberOf(attributes.attempts), numberOf(attributes.queueMs)]
  const waitsSince = numberOf(attributes.lastEndedAt) ?? to
  const isFirst = attempts <= 1
  const began = numberOf(attributes.lastStartedAt) ?? (isFirst ? from + queueMs : waitsSince)
  const parts: Segment[] = [
    { kind: isFirst ? 'queue' : 'retries', from, to: began },
    { kind: isFirst ? 'whole' : error === null ? 'attempt' : 'failed-attempt', from: began, to: waitsSince },
    { kind: 'backoff', from: waitsSince, to },
  ]
  const known = parts.filter((part) => part.to > part.from)
  return known.length === 0 ? [{ kind: 'whole', from, to }] : known
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

/** The time of each attempt, as far as the spans of its worker show it. */
function attemptsOf({ children }: TraceNode, now: number): Segment[] {
  const byAttempt = new Map<number, Segment>()
  for (const { startedAt, endedAt, error, attributes } of children) {
    if (typeof attributes.attempt !== 'number') continue
    const to = endedAt ?? now
    const known = byAttempt.get(attributes.attempt)
    const kind = error === null ? 'attempt' : 'failed-attempt'
    byAttempt.set(attributes.attempt, {
      kind: known?.kind === 'failed-attempt' ? known.kind : kind,
      from: Math.min(known?.from ?? startedAt, startedAt),
      to: Math.max(known?.to ?? to, to),
    })
  }
  return [...byAttempt.entries()].sort(([one], [other]) => one - other).map(([, segment]) => segment)
}

function withGaps(attempts: Segment[], { from, to }: { from: number; to: number }): Segment[] {
  const segments: Segment[] = []
  let at = from
  for (const attempt of attempts) {
    if (attempt.from > at)
      segments.push({ kind: segments.length === 0 ? 'queue' : 'backoff', from: at, to: attempt.from })
    segments.push(attempt)
    at = attempt.to
  }
  // A failed attempt that is not followed by another one: the next one has not begun.
  if (to > at && attempts.at(-1)?.kind === 'failed-attempt') segments.push({ kind: 'backoff', from: at, to })
  return segments
}
