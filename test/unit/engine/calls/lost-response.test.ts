import { expect, test } from 'vitest'
import type { FoundRun } from '../../../../src/engine/calls/find-started-run.ts'
import { toFinding } from '../../../../src/engine/calls/lost-response.ts'

const SENT_AFTER = 1000

function aRun(overrides: Partial<FoundRun> = {}): FoundRun {
  return {
    runId: 'r',
    firstRunId: 'r',
    status: 'running',
    isOurs: false,
    startedAt: SENT_AFTER,
    closedAt: null,
    ...overrides,
  }
}

test('lost answer: without a run there is nothing to be repeated to', () => {
  expect(toFinding(null, null, SENT_AFTER)).toEqual({ kind: 'no run' })
})

test('lost answer: the run that the request has started is known by its request id, however old', () => {
  const own = aRun({ isOurs: true, startedAt: SENT_AFTER + 500 })
  const successor = aRun({ runId: 'r2', startedAt: SENT_AFTER + 700 })

  expect([toFinding(own, own, SENT_AFTER), toFinding(successor, own, SENT_AFTER)]).toEqual([
    { kind: 'ours', run: own },
    { kind: 'ours', run: own },
  ])
})

test('lost answer: a run that began before the first attempt is the only one that can have been reached, open or closed', () => {
  const runs = [aRun(), aRun({ startedAt: SENT_AFTER - 1 }), aRun({ status: 'completed', closedAt: SENT_AFTER + 500 })]

  expect(runs.map((run) => toFinding(run, null, SENT_AFTER))).toEqual(runs.map((run) => ({ kind: 'same run', run })))
})

test('lost answer: a run that may be younger than the first attempt may have come after another', () => {
  const runs = [aRun({ startedAt: SENT_AFTER + 1 }), aRun({ startedAt: null })]

  expect(runs.map((run) => toFinding(run, null, SENT_AFTER).kind)).toEqual(['later run', 'later run'])
})
