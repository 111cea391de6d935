import { expect, test } from 'vitest'
import { resendDelayMs } from '../../../../src/client/connection/retry-delay.ts'
import { PorticoError, type PorticoErrorFacts } from '../../../../src/client/portico-error.ts'

function error(name: PorticoError['error'], status: number | null, facts: Partial<PorticoErrorFacts> = {}) {
  return new PorticoError(name, 'a message', { status, ...facts })
}

const foreign = [408, 429, 502, 503, 504].map((status) => error('UnexpectedResponseError', status))

test.for<[sentence: string, errors: PorticoError[]]>([
  ['without a response of the service', [error('ConnectionError', null), ...foreign]],
  [
    'after an error that leaves open what was carried out',
    [error('RequestTimeoutError', 408), error('EngineUnavailableError', 503), error('ResourceExhaustedError', 429)],
  ],
])('retryDelayMs: %s, only what can be repeated is sent again', ([, errors]) => {
  expect(errors.map((one) => typeof resendDelayMs(one, true, 0))).toEqual(errors.map(() => 'number'))
  expect(errors.map((one) => resendDelayMs(one, false, 0))).toEqual(errors.map(() => null))
})

test('retryDelayMs: an error of the service is repeated if it has Retry-After, after that time', () => {
  const isRepeated = (isRetryable: boolean) =>
    resendDelayMs(error('EngineUnavailableError', 503, { retryAfterMs: 30_000 }), isRetryable, 0)

  expect([isRepeated(true), isRepeated(false)]).toEqual([30_000, 30_000])
  expect(resendDelayMs(error('CatalogNotAvailableError', 503), true, 0)).toBeNull()
  expect(resendDelayMs(error('DeadlineExceededError', 504), true, 0)).toBeNull()
})

test('retryDelayMs: other statuses are not repeated, and neither is a wait that was too short', () => {
  const never = [
    error('UnexpectedResponseError', 404),
    error('UnexpectedResponseError', 500),
    error('WorkflowNotReadyError', 409, { retryAfterMs: 1000 }),
    error('WorkflowExecutionTimedOutError', 424, { retryAfterMs: 1000 }),
  ]

  expect(never.map((one) => resendDelayMs(one, true, 0))).toEqual(never.map(() => null))
})

test('retryDelayMs: grows from attempt to attempt, up to 5 s', () => {
  const lost = error('ConnectionError', null)
  const delays = [1, 4, 7, 20].map((attempts) => resendDelayMs(lost, true, attempts) ?? 0)

  const limits = [100, 800, 5000, 5000]
  expect(delays.map((delay, at) => delay <= (limits[at] ?? 0) && delay >= (limits[at] ?? 0) / 2)).toEqual(
    delays.map(() => true),
  )
})
