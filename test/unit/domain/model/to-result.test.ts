import { expect, test } from 'vitest'
import { toResult } from '../../../../src/domain/model/to-result.ts'

test('toResult: the error of a failure without a message is its name', () => {
  const error = { message: '', name: 'CardDeclined', retryable: false, activityId: null, details: [], cause: null }
  const run = { workflowId: 'w', runId: 'r', input: null }

  const result = toResult(run, { outcome: { status: 'failed', error }, nextRunId: null }, null)

  expect(result.error).toBe('CardDeclined')
  expect(result.errorDetails?.message).toBe('')
})
