import { expect, test } from 'vitest'
import {
  endedToolResult,
  openToolResult,
  rejectedToolResult,
  unexpectedToolResult,
} from '../../../../../src/service/fronts/mcp/tool-result.ts'
import { ServiceError } from '../../../../../src/service/model/errors.ts'
import { result as completed } from '../../http/run-api.ts'

const RUN = { workflowId: 'w', runId: 'r' }

const COMPLETED = { ...completed, ...RUN, output: { sum: 3 } }

const DETAILS = {
  name: 'CardDeclined',
  message: 'declined',
  details: [],
  cause: null,
  retryable: false,
  activityId: null,
}

test('endedToolResult: the output is a value and a text, and so are the ids', () => {
  expect(endedToolResult(COMPLETED)).toEqual({
    content: [
      { type: 'text', text: '{"sum":3}' },
      { type: 'text', text: '{"workflowId":"w","runId":"r","status":"completed"}' },
    ],
    structuredContent: { ...RUN, status: 'completed', output: { sum: 3 } },
  })
})

test('endedToolResult: a string is shown as it is, and exact numbers keep their digits', () => {
  const exact = endedToolResult({ ...COMPLETED, output: JSON.rawJSON('9007199254740993') })

  expect(endedToolResult({ ...COMPLETED, output: 'Hello "Ada"' }).content[0]?.text).toBe('Hello "Ada"')
  expect(exact.content[0]?.text).toBe('9007199254740993')
  expect(JSON.stringify(exact.structuredContent)).toContain('"output":9007199254740993')
})

test('unexpectedToolResult: the output has another name, and the call is not an error', () => {
  const { structuredContent, isError } = unexpectedToolResult(COMPLETED)

  expect([structuredContent.unexpectedOutput, 'output' in structuredContent, isError]).toEqual([
    { sum: 3 },
    false,
    undefined,
  ])
})

test('openToolResult: after an outage the status is unknown, with the reason', () => {
  const down = new ServiceError('PayloadCodecError', 'down', { details: { ...RUN, retryAfterSeconds: 1 } })
  const { structuredContent, isError } = openToolResult(RUN, down)

  expect(structuredContent).toEqual({
    ...RUN,
    status: 'unknown',
    error: { name: 'PayloadCodecError', message: 'down', retryable: true },
    note: expect.stringContaining('workflow_result'),
  })
  expect(isError).toBeUndefined()
})

test('rejectedToolResult: has what the caller can correct, and whether it can retry', () => {
  const issues = [{ path: '/name', message: 'is required' }]
  const invalid = rejectedToolResult(new ServiceError('ValidationError', 'no', { details: { issues } }))
  const outage = rejectedToolResult(
    new ServiceError('EngineUnavailableError', 'down', { details: { retryAfterSeconds: 1 } }),
  )

  expect(invalid).toMatchObject({
    structuredContent: {
      status: 'rejected',
      error: { name: 'ValidationError', message: 'no', issues, retryable: false },
    },
    isError: true,
  })
  expect(outage.structuredContent.error).toEqual({ name: 'EngineUnavailableError', message: 'down', retryable: true })
})

test('rejectedToolResult: an error after the start has the ids, and is not a rejection', () => {
  const { structuredContent } = rejectedToolResult(new ServiceError('NotSupportedError', 'stored elsewhere'), {
    started: RUN,
  })

  expect(structuredContent).toMatchObject({ ...RUN, status: 'unknown' })
  expect(String(structuredContent.note)).toContain('Do not start it again')
})

test('rejectedToolResult: a start whose answer was lost may have been carried out', () => {
  const lost = new ServiceError('EngineUnavailableError', 'lost', { details: { workflowId: 'w' } })
  const unsent = new ServiceError('EngineUnavailableError', 'down', { details: { retryAfterSeconds: 1 } })

  const { structuredContent, isError } = rejectedToolResult(lost, { starts: true })

  expect([structuredContent.workflowId, structuredContent.status, isError]).toEqual(['w', 'unknown', true])
  expect(structuredContent.note).toContain('workflow_result with this workflowId')
  expect(rejectedToolResult(unsent, { starts: true }).structuredContent).not.toHaveProperty('note')
})

test('rejectedToolResult: has all facts of the error', () => {
  const facts = { errorDetails: DETAILS, workflowStatus: 'paused', sizeBytes: 7, action: 'signal:approve' } as const
  const details = { ...RUN, updateId: 'u', ...facts }

  const { structuredContent } = rejectedToolResult(new ServiceError('UpdateFailedError', 'declined', { details }))

  expect(structuredContent).toEqual({
    ...RUN,
    updateId: 'u',
    status: 'rejected',
    error: { name: 'UpdateFailedError', message: 'declined', ...facts, retryable: false },
  })
})

test.for(['DeadlineExceededError', 'EngineUnavailableError', 'EngineError', 'NotSupportedError'] as const)(
  'rejectedToolResult: after %s an update may still be executed',
  (name) => {
    const late = new ServiceError(name, 'No worker responded', { details: { ...RUN, updateId: 'u' } })

    const { structuredContent } = rejectedToolResult(late)

    expect(structuredContent).toMatchObject({ ...RUN, updateId: 'u', status: 'unknown' })
    expect(structuredContent.note).toContain('Do not send the update again')
  },
)

test('rejectedToolResult: a query without an answer in time is rejected, a signal may have been carried out', () => {
  const late = rejectedToolResult(new ServiceError('DeadlineExceededError', 'No worker responded', { details: RUN }))
  const lost = rejectedToolResult(new ServiceError('EngineUnavailableError', 'lost', { details: RUN }))

  expect([late, lost].map(({ structuredContent }) => structuredContent.status)).toEqual(['rejected', 'unknown'])
})

test('rejectedToolResult: a keyed start that got no answer may have been carried out, for the model does not send the key', () => {
  const details = { workflowId: 'w', retryAfterSeconds: 1 }
  const error = new ServiceError('EngineUnavailableError', 'The workflow engine is not responding', { details })

  expect(rejectedToolResult(error, { starts: true, isKeyed: true }).structuredContent).toMatchObject({
    workflowId: 'w',
    status: 'unknown',
  })
  expect(rejectedToolResult(error, { starts: true }).structuredContent).toMatchObject({ status: 'rejected' })
})
