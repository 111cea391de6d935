import proto from '@temporalio/proto'
import { expect, test } from 'vitest'
import { toStatus } from '../../../src/temporal/status.ts'

const { WorkflowExecutionStatus } = proto.temporal.api.enums.v1

test('toStatus: translates each status of the engine', () => {
  const words = Object.fromEntries(
    Object.values(WorkflowExecutionStatus)
      .filter(isNumber)
      .map((status) => [status, toStatus(status)]),
  )

  expect(words).toEqual({
    0: 'running',
    1: 'running',
    2: 'completed',
    3: 'failed',
    4: 'canceled',
    5: 'terminated',
    6: 'continued',
    7: 'timed_out',
    8: 'paused',
  })
})

test('toStatus: an unknown status is not an end', () => {
  expect([99, null, undefined].map(toStatus)).toEqual(['running', 'running', 'running'])
})

function isNumber(value: unknown): value is number {
  return typeof value === 'number'
}
