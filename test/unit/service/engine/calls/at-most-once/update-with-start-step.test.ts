import { expect, test } from 'vitest'
import type { FoundRun } from '../../../../../../src/service/engine/calls/at-most-once/find-run.ts'
import type { LatestRun } from '../../../../../../src/service/engine/calls/at-most-once/lost-response.ts'
import {
  type LostResponse,
  needsUpdatedRun,
  stepAfterLostResponse,
  stepAfterRejection,
} from '../../../../../../src/service/engine/calls/at-most-once/update-with-start-step.ts'
import { RpcError } from '../../../../../../src/service/engine/transport/transport.ts'
import { ServiceError } from '../../../../../../src/service/model/errors.ts'
import { GrpcCode } from '../../../../../../src/shared/temporal/grpc-code.ts'
import { LOST } from '../../rpc-errors.ts'
import { foundRun, SENT_AFTER } from './found-run.ts'

const DETAILS = { workflowId: 'w', updateId: 'u' }
const REJECTED = new RpcError('workflow not found', { code: GrpcCode.NOT_FOUND })

const REJECTION = { error: REJECTED, sentAfter: SENT_AFTER }

const olderRun = (overrides: Partial<FoundRun> = {}) => foundRun({ startedAt: SENT_AFTER - 500, ...overrides })

const closedAt = (time: number) => olderRun({ status: 'completed', closedAt: time })

test.for<[string, LatestRun, object]>([
  ['there is no run', { kind: 'none' }, { step: 'resend' }],
  [
    'the request started the run',
    { kind: 'started by request', run: olderRun({ startedByRequest: true }) },
    { step: 'poll', runId: 'r', started: true },
  ],
  [
    'the run that the request started is closed',
    { kind: 'started by request', run: closedAt(SENT_AFTER - 1) },
    { step: 'poll', runId: 'r', started: true },
  ],
  [
    'an older run is open',
    { kind: 'older than request', run: olderRun() },
    { step: 'poll', runId: 'r', started: false },
  ],
  [
    'an older run closed after the first attempt',
    { kind: 'older than request', run: closedAt(SENT_AFTER) },
    { step: 'poll', runId: 'r', started: false },
  ],
  [
    'an older run closed before the first attempt',
    { kind: 'older than request', run: closedAt(SENT_AFTER - 1) },
    { step: 'resend' },
  ],
])('stepAfterLostResponse: %s', ([, latest, step]) => {
  expect(stepAfterLostResponse({ error: LOST, latest, sentAfter: SENT_AFTER, usesExisting: true }, DETAILS)).toEqual(
    step,
  )
})

test.for<[string, object | null, object]>([
  ['without the update', null, { step: 'resend' }],
  ['with the update', { runId: 'r', started: false }, { step: 'poll', runId: 'r', started: false }],
])('stepAfterLostResponse: an older run that closed %s, before or after the first attempt', ([, updated, step]) => {
  const latest: LatestRun = { kind: 'older than request', run: closedAt(SENT_AFTER) }
  const lost = { error: LOST, latest, sentAfter: SENT_AFTER, usesExisting: true }

  expect(needsUpdatedRun(lost)).toBe(true)
  expect(stepAfterLostResponse({ ...lost, updated: updated as LostResponse['updated'] }, DETAILS)).toEqual(step)
})

test('stepAfterLostResponse: the run that is known to have the update is polled, although it may be newer', () => {
  const latest: LatestRun = { kind: 'maybe newer than request', run: olderRun() }
  const lost = {
    error: LOST,
    latest,
    sentAfter: SENT_AFTER,
    usesExisting: true,
    updated: { runId: 'other', started: false },
  }

  expect(stepAfterLostResponse(lost, DETAILS)).toEqual({ step: 'poll', runId: 'other', started: false })
})

test('stepAfterLostResponse: a run that may be newer makes the outcome unknown', () => {
  const latest: LatestRun = { kind: 'maybe newer than request', run: olderRun() }

  const step = stepAfterLostResponse({ error: LOST, latest, sentAfter: SENT_AFTER, usesExisting: true }, DETAILS)

  expect(errorOf(step)).toMatchObject({ error: 'EngineUnavailableError', details: DETAILS, cause: LOST })
  expect(errorOf(step).details).not.toHaveProperty('retryAfterSeconds')
})

test.for([true, false])(
  'stepAfterRejection: polls the latest run if it is open (started by the request: %s)',
  (started) => {
    const latest = olderRun({ runId: 'r2' })

    expect(stepAfterRejection({ ...REJECTION, latest, started }, DETAILS)).toEqual({
      step: 'poll',
      runId: 'r2',
      started,
    })
  },
)

test('stepAfterRejection: a closed run is the result', () => {
  const step = stepAfterRejection({ ...REJECTION, latest: closedAt(SENT_AFTER + 1), started: true }, DETAILS)

  expect(errorOf(step)).toMatchObject({
    error: 'WorkflowNotRunningError',
    message: 'Workflow w ended before it received the update; its status is completed',
    details: { ...DETAILS, runId: 'r', workflowStatus: 'completed' },
    cause: REJECTED,
  })
})

test('stepAfterRejection: throws the error of the engine if there is no run', () => {
  expect(stepAfterRejection({ ...REJECTION, latest: null, started: false }, DETAILS)).toEqual({
    step: 'throw',
    error: REJECTED,
  })
})

test('stepAfterRejection: throws the error of the engine if the run had ended before the request', () => {
  const latest = closedAt(SENT_AFTER - 1)

  expect(stepAfterRejection({ ...REJECTION, latest, started: false }, DETAILS)).toEqual({
    step: 'throw',
    error: REJECTED,
  })
})

function errorOf(step: { step: string; error?: Error }): ServiceError {
  if (!(step.error instanceof ServiceError)) throw new Error(`no ServiceError, but ${JSON.stringify(step)}`)
  return step.error
}
