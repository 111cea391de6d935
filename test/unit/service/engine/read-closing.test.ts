import { expect, test } from 'vitest'
import { readClosing, traceInFailure } from '../../../../src/service/engine/read-closing.ts'
import { ServiceError } from '../../../../src/service/model/errors.ts'
import type { Failure } from '../../../../src/shared/temporal/failure.ts'
import { createPayloadReader, type PayloadReader, toPayload } from '../../../../src/shared/temporal/payload.ts'

const PAYLOADS = createPayloadReader(null)

function failing(details: unknown[], cause: Failure | null = null): Failure {
  return { applicationFailureInfo: { type: 'X', details: { payloads: details.map(toPayload) } }, cause }
}

test('traceInFailure: finds the trace in the details of the failure, or of a cause', async () => {
  const trace = { destinations: { local: '/a.json' } }

  expect(await traceInFailure(failing(['other', { trace }]), PAYLOADS)).toEqual(trace)
  expect(
    await traceInFailure(failing([{ code: 17 }], { message: 'between', cause: failing([{ trace }]) }), PAYLOADS),
  ).toEqual(trace)
})

test('traceInFailure: decodes nothing without details, and ignores details without a trace', async () => {
  const neverDecodes: Pick<PayloadReader, 'decode'> = { decode: () => Promise.reject(new Error('decoded')) }

  expect(await traceInFailure({ message: 'no', cause: { message: 'none' } }, neverDecodes)).toBeNull()
  expect(await traceInFailure(failing([null, 1, [], { trace: 'x' }]), PAYLOADS)).toBeNull()
})

test('traceInFailure: is null when the codec fails', async () => {
  const failed: Pick<PayloadReader, 'decode'> = {
    decode: () => Promise.reject(new ServiceError('EngineError', 'The codec server could not decode the payloads.')),
  }

  expect(await traceInFailure(failing([1]), failed)).toBeNull()
})

test('readClosing: adds the trace that the details of a failure name', async () => {
  const trace = { destinations: { remote: 's3://traces/a.json' } }
  const failed = (details: unknown[]) => [{ workflowExecutionFailedEventAttributes: { failure: failing(details) } }]

  expect(await readClosing(failed([{ trace }]), PAYLOADS, 'w')).toMatchObject({ outcome: { status: 'failed' }, trace })
  expect(await readClosing(failed([]), PAYLOADS, 'w')).not.toHaveProperty('trace')
  expect(await readClosing([], PAYLOADS, 'w')).toBeNull()
})
