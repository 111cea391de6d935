import { expect, test } from 'vitest'
import * as control from '../../../../src/service/control/control.ts'
import { ServiceError } from '../../../../src/service/model/errors.ts'
import type { Description, ExecutionRef } from '../../../../src/service/model/execution.ts'
import { aCall, rejection } from '../../call.ts'
import { aDescription, anEngine } from '../catalog-fixture.ts'

const UNPINNED = { workflowId: 'orders-17' }
const PINNED = { workflowId: 'orders-17', runId: 'run-1' }

/** Rejected by the engine itself, with its response as the cause. */
function rejectedByEngine(): ServiceError {
  return new ServiceError('WorkflowNotRunningError', 'not running', {
    cause: new Error('workflow execution already completed'),
  })
}

/** `stop` and `terminate` on an engine that returns these descriptions, and rejects with these errors, in turn. */
function makeControl(descriptions: Partial<Description>[], errors: (Error | null)[] = []) {
  const requests: unknown[] = []
  const described: object[] = []
  const act = async (request: object) => {
    requests.push(request)
    const rejected = errors[requests.length - 1]
    if (rejected) throw rejected
  }
  const engine = anEngine({
    async describe(ref) {
      described.push(ref)
      return aDescription(descriptions[Math.min(described.length, descriptions.length) - 1])
    },
    cancel: ({ runId, firstRunId }, options) => act({ runId, firstRunId, ...options }),
    terminate: ({ runId }, reason) => act({ runId, reason }),
  })
  return {
    requests,
    described,
    stop: (ref: ExecutionRef = UNPINNED, reason: string | null = null) =>
      control.stop({ engine }, { ref, reason }, aCall()),
    terminate: (ref: ExecutionRef = UNPINNED, reason: string | null = null) =>
      control.terminate({ engine }, { ref, reason }, aCall()),
  }
}

test('stop: describes a run again that continued as a new run meanwhile', async () => {
  const { stop, requests } = makeControl([{ runId: 'run-1' }, { runId: 'run-2' }], [rejectedByEngine()])

  expect(await stop()).toMatchObject({ runId: 'run-2', cancelRequested: true })
  expect(requests).toHaveLength(2)
})

test('stop: a run that closed meanwhile counts as closed', async () => {
  const { stop } = makeControl([{}, { status: 'completed' }], [rejectedByEngine()])

  expect(await stop()).toMatchObject({ cancelRequested: false, status: 'completed' })
})

test('stop: is rejected for a catalog (threat 40)', async () => {
  const { stop, requests } = makeControl([{ workflowName: '$catalog' }])

  expect(await rejection(stop())).toMatchObject({ error: 'ForbiddenError', workflowId: 'orders-17' })
  expect(requests).toEqual([])
})

test('terminate: after three attempts on a run that keeps continuing as new, the error says that a retry is safe', async () => {
  const { terminate, requests } = makeControl([{}], [1, 2, 3, 4].map(rejectedByEngine))

  const rejected = await rejection(terminate())
  expect([rejected.error, rejected.retryAfterSeconds, requests.length]).toEqual(['EngineUnavailableError', 1, 3])
})

test('terminate: does not follow a pinned run to the next one', async () => {
  const { terminate, requests } = makeControl([{}], [rejectedByEngine()])

  expect((await rejection(terminate(PINNED))).error).toBe('WorkflowNotRunningError')
  expect(requests).toHaveLength(1)
})

test('terminate: does not retry after any other error', async () => {
  const { terminate, requests } = makeControl(
    [{}],
    [new ServiceError('EngineUnavailableError', 'away', { cause: new Error('down') })],
  )

  expect((await rejection(terminate())).error).toBe('EngineUnavailableError')
  expect(requests).toHaveLength(1)
})

test('terminate: is rejected for a catalog (threat 40)', async () => {
  const { terminate, requests } = makeControl([{ workflowName: '$catalog' }])

  expect((await rejection(terminate())).error).toBe('ForbiddenError')
  expect(requests).toEqual([])
})
