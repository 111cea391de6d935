/** The bars of a timeline: when each attempt of a step ran, as far as it is known. */
import type { TraceNode } from '../wire/trace/tree.ts'

export interface Segment {
  kind: 'queue' | 'attempt' | 'failed-attempt' | 'retries' | 'backoff' | 'whole'
  from: number
  to: number
}

/** What is known about an activity whose attempts are not in the history yet. */
export interface PendingAttempt {
  activityId: string
  attempt: number
  since: string | null
  nextAttemptAt: string | null
}

/**
 * The parts of a bar. The engine records only the last attempt of an activity; where its worker records spans, they
 * show when each attempt ran.
 */
export function segmentsOf(node: TraceNode, now: number, pending: PendingAttempt | null): Segment[] {
  const { startedAt: from, endedAt, attributes } = node
  const to = endedAt ?? now
  const queueMs = typeof attributes.queueMs === 'number' ? attributes.queueMs : 0
  const attempts = attemptsOf(node, now)
  const isRetrying = endedAt === null && (pending?.attempt ?? 1) > 1
  if (attempts.length > 1 || (isRetrying && attempts.length === 1)) return withGaps(attempts, { from, to })
  if (pending !== null && pending.attempt > 1 && endedAt === null) return pendingSegments(pending, from, to)
  if (endedAt !== null && typeof attributes.attempts === 'number' && attributes.attempts > 1)
    return [{ kind: 'retries', from, to }]
  if (queueMs > 0 && queueMs < to - from)
    return [
      { kind: 'queue', from, to: from + queueMs },
      { kind: 'whole', from: from + queueMs, to },
    ]
  return [{ kind: 'whole', from, to }]
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

/** `since` is the end of the last attempt, or the start of the one that runs. When the others ran is not known. */
function pendingSegments({ since, nextAttemptAt }: PendingAttempt, from: number, to: number): Segment[] {
  const turn = since === null ? to : new Date(since).getTime()
  return [
    { kind: 'retries', from, to: turn },
    { kind: nextAttemptAt === null ? 'attempt' : 'backoff', from: turn, to: Math.max(to, turn) },
  ]
}
