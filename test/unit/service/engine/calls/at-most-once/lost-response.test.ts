import { expect, test } from 'vitest'
import { compareWithRequest } from '../../../../../../src/service/engine/calls/at-most-once/lost-response.ts'
import { foundRun, SENT_AFTER } from './found-run.ts'

test('compareWithRequest: reports that the workflow id has no run', () => {
  expect(compareWithRequest(null, null, SENT_AFTER)).toEqual({ kind: 'none' })
})

test('compareWithRequest: prefers the run that the request started, however old', () => {
  const started = foundRun({ startedByRequest: true, startedAt: SENT_AFTER + 500 })
  const successor = foundRun({ runId: 'r2', startedAt: SENT_AFTER + 700 })

  expect([
    compareWithRequest(started, started, SENT_AFTER),
    compareWithRequest(successor, started, SENT_AFTER),
  ]).toEqual([
    { kind: 'started by request', run: started },
    { kind: 'started by request', run: started },
  ])
})

test('compareWithRequest: a run that started before the first attempt is older, open or closed', () => {
  const runs = [
    foundRun(),
    foundRun({ startedAt: SENT_AFTER - 1 }),
    foundRun({ status: 'completed', closedAt: SENT_AFTER + 500 }),
  ]

  expect(runs.map((run) => compareWithRequest(run, null, SENT_AFTER))).toEqual(
    runs.map((run) => ({ kind: 'older than request', run })),
  )
})

test('compareWithRequest: a run that may have started after the first attempt may be newer', () => {
  const runs = [foundRun({ startedAt: SENT_AFTER + 1 }), foundRun({ startedAt: null })]

  expect(runs.map((run) => compareWithRequest(run, null, SENT_AFTER).kind)).toEqual([
    'maybe newer than request',
    'maybe newer than request',
  ])
})
