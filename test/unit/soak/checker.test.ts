import { expect, test } from 'vitest'
import { check } from '../../../lab/soak/checker.ts'
import type { Operation, RecordedRun } from '../../../lab/soak/record.ts'

const START: Operation = {
  type: 'operation',
  client: 'http',
  op: 'start',
  workflowId: 'w',
  marker: 'started',
  startedAt: 1000,
  endedAt: 1010,
  outcome: 'acknowledged',
  answer: { workflowId: 'w', runId: 'r1' },
}
const SIGNAL: Operation = {
  ...START,
  op: 'signal',
  marker: 'sent',
  startedAt: 2000,
  endedAt: 2010,
  answer: { workflowId: 'w', runId: 'r1' },
}
const RESULT: Operation = {
  ...START,
  op: 'result',
  marker: null,
  startedAt: 90_000,
  endedAt: 90_010,
  answer: { workflowId: 'w', runId: 'r1', status: 'completed', output: 'done' },
}
const RUN: RecordedRun = {
  type: 'run',
  workflowId: 'w',
  runId: 'r1',
  firstRunId: 'r1',
  resetMarker: null,
  startMarker: 'started',
  startedAt: 1005,
  closedAt: 50_000,
  status: 'completed',
  output: 'done',
  messages: [],
  stops: [],
  terminatedBy: null,
}
const sent = { kind: 'signal', marker: 'sent' } as const
const CONTINUED: RecordedRun = { ...RUN, status: 'continued', output: null, closedAt: 3000 }
const NEXT: RecordedRun = { ...RUN, runId: 'r2', startedAt: 3000 }
const LATER: RecordedRun = { ...RUN, runId: 'r3', firstRunId: 'r3', startMarker: 'other', startedAt: 60_000 }
const OTHER_START: Operation = { ...START, marker: 'other', answer: { workflowId: 'w', runId: 'r3' } }

function rules(operations: Operation[], runs: RecordedRun[]): string[] {
  return check({ operations, runs }).map(({ rule }) => rule)
}

test('soak checker: what was acknowledged and happened once is right', () => {
  expect(rules([START, SIGNAL, RESULT], [{ ...RUN, messages: [sent] }])).toEqual([])
})

test('soak checker: what was neither acknowledged nor rejected may happen once or not at all', () => {
  const unknown: Operation = { ...SIGNAL, outcome: 'unknown', answer: {} }

  expect(rules([START, unknown], [RUN])).toEqual([])
  expect(rules([START, unknown], [{ ...RUN, messages: [sent] }])).toEqual([])
  expect(rules([START, unknown], [{ ...RUN, messages: [sent, sent] }])).toEqual(['done twice'])
})

test('soak checker: a signal that two runs of a chain received was done twice', () => {
  const runs = [
    { ...CONTINUED, messages: [sent] },
    { ...NEXT, messages: [sent] },
  ]

  expect(rules([START, SIGNAL], runs)).toContain('done twice')
})

test('soak checker: what was acknowledged but is in no history was lost', () => {
  expect(rules([START, SIGNAL], [RUN])).toEqual(['lost'])
  expect(rules([START], [])).toEqual(['lost'])
})

test('soak checker: what was rejected must not have happened', () => {
  const rejected: Operation = { ...SIGNAL, outcome: 'rejected', answer: { error: 'WorkflowNotRunningError' } }

  expect(rules([START, rejected], [{ ...RUN, messages: [sent] }])).toEqual(['done although rejected'])
  // The first of two requests with the same key may have been carried out.
  const lost: Operation = { ...SIGNAL, outcome: 'unknown', answer: {} }
  expect(rules([START, lost, rejected], [{ ...RUN, messages: [sent] }])).toEqual([])
})

test('soak checker: a message happens in the run that the request or the response names', () => {
  const runs = [CONTINUED, { ...NEXT, messages: [sent] }]

  expect(rules([START, SIGNAL], runs)).toEqual(['wrong run'])
  expect(rules([START, { ...SIGNAL, runId: 'r1', answer: {} }], runs)).toEqual(['wrong run'])
  expect(rules([START, { ...SIGNAL, answer: { runId: 'r2' } }], runs)).toEqual([])
})

test('soak checker: a stop without a run id may cancel the run that continues the named one', () => {
  const stop: Operation = { ...SIGNAL, op: 'stop', marker: 'stopped', answer: { runId: 'r1', changed: true } }
  const runs = [CONTINUED, { ...NEXT, stops: ['stopped'] }]

  expect(rules([START, stop], runs)).toEqual([])
  expect(rules([START, { ...stop, runId: 'r1' }], runs)).toContain('wrong run')
})

test('soak checker: a second stop of a run has no effect', () => {
  const stop: Operation = { ...SIGNAL, op: 'stop', marker: 'stop', answer: { ...SIGNAL.answer, changed: true } }
  const first: Operation = { ...stop, marker: 'first' }

  expect(rules([START, first, stop], [{ ...RUN, stops: ['first'] }])).toEqual([])
  const later: Operation = { ...first, startedAt: 3000, endedAt: 3010 }
  expect(rules([START, stop, later], [{ ...RUN, stops: ['first'] }])).toEqual(['lost'])
})

test('soak checker: a stop has no effect on a run that has ended meanwhile', () => {
  const stop: Operation = { ...SIGNAL, op: 'stop', marker: 'stop', answer: { ...SIGNAL.answer, changed: true } }

  expect(rules([START, stop], [RUN])).toEqual(['lost'])
  expect(rules([START, stop], [{ ...RUN, closedAt: 2005 }])).toEqual([])
})

test('soak checker: a repeated message with a start may have found its run', () => {
  const found: Operation = { ...SIGNAL, op: 'signal-with-start', answer: { ...SIGNAL.answer, started: false } }
  const again: Operation = { ...found, answer: { ...found.answer, replayed: true } }

  expect(rules([START, found, again], [{ ...RUN, messages: [sent] }])).toEqual([])
})

test('soak checker: a start that found the run of another request did not happen', () => {
  const found: Operation = { ...START, marker: 'found', answer: { runId: 'r1', started: false } }

  expect(rules([START, found], [RUN])).toEqual([])
  expect(rules([START, found], [RUN, { ...LATER, startMarker: 'found' }])).toEqual(['done although denied'])
})

test('soak checker: the result of an update is that of the history', () => {
  const update: Operation = { ...SIGNAL, op: 'update', answer: { output: { position: 2 } } }
  const run = { ...RUN, messages: [{ kind: 'update', marker: 'sent', output: { position: 1 } } as const] }

  expect(rules([START, update], [run])).toEqual(['wrong result'])
})

test('soak checker: a result is that of the run that it names, which ends its chain', () => {
  const answered = (answer: object, runId?: string): Operation => ({
    ...RESULT,
    ...(runId !== undefined && { runId }),
    answer: { ...RESULT.answer, ...answer },
  })

  expect(rules([START, answered({ output: 'other' })], [RUN])).toEqual(['wrong result'])
  expect(rules([START, answered({ status: 'failed' })], [RUN])).toEqual(['wrong status'])
  expect(rules([START, answered({ runId: 'r9' })], [RUN])).toEqual(['wrong run'])
  expect(rules([START, OTHER_START, answered({}, 'r3')], [RUN, LATER])).toEqual(['wrong run'])
  expect(rules([START, answered({ status: 'continued', output: null })], [CONTINUED, NEXT])).toContain('wrong run')
})

test('soak checker: the timeout of a run names its run, and says nothing about its end', () => {
  const timedOut: Operation = { ...START, op: 'run', answer: { runId: 'r1', error: 'WorkflowExecutionTimedOutError' } }

  expect(rules([timedOut], [RUN])).toEqual([])
  expect(rules([timedOut], [{ ...RUN, startMarker: 'other' }])).toContain('wrong run')
})

test('soak checker: a 202 of a run names its run, and says nothing about its end', () => {
  const accepted: Operation = { ...START, op: 'run', answer: { runId: 'r1', status: 'running', isAccepted: true } }

  expect(rules([accepted], [RUN])).toEqual([])
  expect(rules([accepted], [CONTINUED, NEXT])).toEqual([])
  expect(rules([accepted], [{ ...RUN, startMarker: 'other' }])).toContain('wrong run')
  expect(rules([{ ...accepted, answer: { runId: 'r1' } }], [RUN])).toEqual(['wrong status'])
})

test('soak checker: a result without a run id is not that of an earlier run', () => {
  expect(rules([START, OTHER_START, RESULT], [RUN, LATER])).toEqual(['wrong run'])
})

test('soak checker: a status is that of the latest run, and as the history says', () => {
  const status = (answer: object): Operation => ({ ...RESULT, op: 'status', answer: { runId: 'r1', ...answer } })

  expect(rules([START, status({ status: 'completed' })], [RUN])).toEqual([])
  expect(rules([START, status({ status: 'running' })], [RUN])).toEqual(['wrong status'])
  expect(rules([START, OTHER_START, status({ status: 'completed' })], [RUN, LATER])).toEqual(['wrong run'])
})

test('soak checker: a query returns only messages that the runs received', () => {
  const query: Operation = { ...RESULT, op: 'query', answer: { output: { applied: ['sent', 'sent', 'unknown'] } } }

  expect(rules([START, SIGNAL, query], [{ ...RUN, messages: [sent] }])).toEqual(['wrong result', 'done twice'])
})

test('soak checker: Idempotency-Replayed is true for repeats', () => {
  const keyed = (replayed: boolean, startedAt: number): Operation => ({
    ...START,
    key: 'k',
    startedAt,
    endedAt: startedAt + 10,
    answer: { ...START.answer, replayed },
  })

  expect(rules([keyed(false, 1000), keyed(true, 2000)], [RUN])).toEqual([])
  expect(rules([keyed(true, 1000), keyed(false, 2000)], [RUN])).toEqual(['wrong replay flag'])
})

test('soak checker: nothing is in a history that was not sent', () => {
  expect(rules([START], [{ ...RUN, messages: [sent] }])).toEqual(['nobody sent it'])
})

test('soak checker: a run that continues another one has its input', () => {
  expect(rules([START, OTHER_START], [CONTINUED, { ...NEXT, startMarker: 'other' }])).toContain('wrong run')
})
