import { expect, test } from 'vitest'
import { ServiceError } from '../../../src/domain/errors.ts'
import { unwrapOutput } from '../../../src/protocol/older-wrapper.ts'
import type { Failure } from '../../../src/temporal/failure.ts'
import { toWorkflowOutput, traceInDetails } from '../../../src/temporal/older-worker.ts'
import { createPayloads, type Payloads, toPayload } from '../../../src/temporal/payload.ts'

const PAYLOADS = createPayloads({ codec: null, maxBytes: 1000 })

const wrapped = (more: object) => ({ __output_workflow_wrapper_version: 1, ...more })

function failing(details: unknown[], cause: Failure | null = null): Failure {
  return { applicationFailureInfo: { type: 'X', details: { payloads: details.map(toPayload) } }, cause }
}

test('toWorkflowOutput: takes output and trace out of the wrapper', () => {
  const trace = { destinations: { local: '/a.json', remote: 'https://b/a.json' } }

  expect(toWorkflowOutput(wrapped({ output: [1], trace }))).toEqual({ output: [1], trace })
})

test('toWorkflowOutput: a wrapper may lack either, and a destination may be null', () => {
  expect(toWorkflowOutput(wrapped({}))).toEqual({ output: null, trace: null })
  expect(toWorkflowOutput(wrapped({ trace: { destinations: { local: null } } })).trace).toEqual({ destinations: {} })
  expect(toWorkflowOutput(wrapped({ trace: 'nowhere' })).trace).toBeNull()
})

test('toWorkflowOutput: what has no wrapper of its own is the output', () => {
  const inherits = Object.create(wrapped({ output: 1 }))

  for (const output of [null, 1, 'x', [wrapped({ output: 1 })], { output: 1 }, inherits])
    expect(toWorkflowOutput(output)).toEqual({ output, trace: null })
})

test('unwrapOutput: takes the output out of the wrapper of an activity, or of a child workflow', () => {
  expect(unwrapOutput({ __output_activity_wrapper_version: 1, output: 'a', aggregations: {} })).toBe('a')
  expect(unwrapOutput(wrapped({ output: 'b' }))).toBe('b')
  expect(unwrapOutput({ output: 'c' })).toEqual({ output: 'c' })
})

test('traceInDetails: finds the trace in the details of the failure, or of a cause', async () => {
  const trace = { destinations: { local: '/a.json' } }

  expect(await traceInDetails(failing(['other', { trace }]), PAYLOADS)).toEqual(trace)
  expect(
    await traceInDetails(failing([{ code: 17 }], { message: 'between', cause: failing([{ trace }]) }), PAYLOADS),
  ).toEqual(trace)
})

test('traceInDetails: nothing is decoded where there are no details, and other details name no trace', async () => {
  const unasked: Pick<Payloads, 'decode'> = { decode: () => Promise.reject(new Error('decoded')) }

  expect(await traceInDetails({ message: 'no', cause: { message: 'none' } }, unasked)).toBeNull()
  expect(await traceInDetails(failing([null, 1, [], { trace: 'x' }]), PAYLOADS)).toBeNull()
})

test('traceInDetails: details that the codec cannot decode now name no trace', async () => {
  const failed: Pick<Payloads, 'decode'> = {
    decode: () => Promise.reject(new ServiceError('EngineError', 'The payload codec failed.')),
  }

  expect(await traceInDetails(failing([1]), failed)).toBeNull()
})
