import { describe, expect, test } from 'vitest'
import { stop, terminate } from '../../../../src/domain/control/stop.ts'
import { ServiceError } from '../../../../src/domain/errors.ts'
import type { Description } from '../../../../src/domain/execution.ts'
import { aCall, refusal } from '../../call.ts'
import { aDescription, anEngine } from '../catalog-fixture.ts'

const UNPINNED = { workflowId: 'orders-17' }
const PINNED = { workflowId: 'orders-17', runId: 'run-1' }

/** As the engine refuses: what it answered is the cause. */
function refusedByEngine(): ServiceError {
  return new ServiceError('WorkflowNotRunningError', 'not running', {
    cause: new Error('workflow execution already completed'),
  })
}

/** Describes these in turn; cancels and terminates unless these refuse, in turn. */
function anEngineOf(descriptions: Partial<Description>[], refusals: (Error | null)[] = []) {
  const asked: unknown[] = []
  const lookedAt: object[] = []
  const act = async (request: object) => {
    asked.push(request)
    const refused = refusals[asked.length - 1]
    if (refused) throw refused
  }
  const engine = anEngine({
    async describe(ref) {
      lookedAt.push(ref)
      return aDescription(descriptions[Math.min(lookedAt.length, descriptions.length) - 1])
    },
    cancel: ({ runId, firstRunId }, options) => act({ runId, firstRunId, ...options }),
    terminate: ({ runId }, reason) => act({ runId, reason }),
  })
  return { engine, asked, lookedAt }
}

describe('stop', () => {
  test('stop: asks the chain of the run to cancel', async () => {
    const { engine, asked } = anEngineOf([{ runId: 'run-2', firstRunId: 'run-1' }])

    expect(await stop(engine, UNPINNED, 'no stock', aCall())).toEqual({
      workflowId: 'orders-17',
      runId: 'run-2',
      cancelRequested: true,
      status: 'running',
    })
    expect(asked).toEqual([{ runId: 'run-2', firstRunId: 'run-1', reason: 'no stock', pinned: false }])
  })

  test('stop: asks only the run that it is pinned to', async () => {
    const { engine, asked, lookedAt } = anEngineOf([{}])

    await stop(engine, PINNED, null, aCall())

    expect(lookedAt).toEqual([PINNED])
    expect(asked).toEqual([{ runId: 'run-1', firstRunId: 'run-1', reason: null, pinned: true }])
  })

  test('stop: a paused run is open', async () => {
    const { engine } = anEngineOf([{ status: 'paused' }])

    expect(await stop(engine, UNPINNED, null, aCall())).toMatchObject({ cancelRequested: true, status: 'paused' })
  })

  test('stop: a closed run is left alone, and its status told', async () => {
    const { engine, asked } = anEngineOf([{ status: 'failed' }])

    expect(await stop(engine, UNPINNED, null, aCall())).toMatchObject({ cancelRequested: false, status: 'failed' })
    expect(asked).toEqual([])
  })

  test('stop: a run that went on meanwhile is looked for once more', async () => {
    const { engine, asked } = anEngineOf([{ runId: 'run-1' }, { runId: 'run-2' }], [refusedByEngine()])

    expect(await stop(engine, UNPINNED, null, aCall())).toMatchObject({ runId: 'run-2', cancelRequested: true })
    expect(asked).toHaveLength(2)
  })

  test('stop: a run that closed meanwhile is a closed run', async () => {
    const { engine } = anEngineOf([{}, { status: 'completed' }], [refusedByEngine()])

    expect(await stop(engine, UNPINNED, null, aCall())).toMatchObject({ cancelRequested: false, status: 'completed' })
  })

  test('stop: never touches a catalog', async () => {
    const { engine, asked } = anEngineOf([{ workflowName: '$catalog' }])

    expect(await refusal(stop(engine, UNPINNED, null, aCall()))).toMatchObject({
      error: 'ForbiddenError',
      workflowId: 'orders-17',
    })
    expect(asked).toEqual([])
  })
})

describe('terminate', () => {
  test('terminate: ends the run that it has looked at', async () => {
    const { engine, asked } = anEngineOf([{ runId: 'run-2' }])

    expect(await terminate(engine, UNPINNED, 'enough', aCall())).toEqual({ workflowId: 'orders-17', runId: 'run-2' })
    expect(asked).toEqual([{ runId: 'run-2', reason: 'enough' }])
  })

  test('terminate: a closed run is not running, which one look tells', async () => {
    const { engine, asked, lookedAt } = anEngineOf([{ status: 'completed' }])

    expect(await refusal(terminate(engine, UNPINNED, null, aCall()))).toMatchObject({
      error: 'WorkflowNotRunningError',
      workflowId: 'orders-17',
      runId: 'run-1',
      workflowStatus: 'completed',
    })
    expect([asked.length, lookedAt.length]).toEqual([0, 1])
  })

  test('terminate: a run that went on meanwhile is looked for once more', async () => {
    const { engine, asked } = anEngineOf([{ runId: 'run-1' }, { runId: 'run-2' }], [refusedByEngine()])

    expect(await terminate(engine, UNPINNED, null, aCall())).toMatchObject({ runId: 'run-2' })
    expect(asked).toEqual([
      { runId: 'run-1', reason: null },
      { runId: 'run-2', reason: null },
    ])
  })

  test('terminate: a run that goes on again and again is not chased for ever', async () => {
    const { engine, asked } = anEngineOf([{}], [refusedByEngine(), refusedByEngine(), refusedByEngine()])

    expect((await refusal(terminate(engine, UNPINNED, null, aCall()))).error).toBe('WorkflowNotRunningError')
    expect(asked).toHaveLength(2)
  })

  test('terminate: a pinned run has no successor', async () => {
    const { engine, asked } = anEngineOf([{}], [refusedByEngine()])

    expect((await refusal(terminate(engine, PINNED, null, aCall()))).error).toBe('WorkflowNotRunningError')
    expect(asked).toHaveLength(1)
  })

  test('terminate: any other refusal is final', async () => {
    const { engine, asked } = anEngineOf(
      [{}],
      [new ServiceError('EngineUnavailableError', 'away', { cause: new Error('down') })],
    )

    expect((await refusal(terminate(engine, UNPINNED, null, aCall()))).error).toBe('EngineUnavailableError')
    expect(asked).toHaveLength(1)
  })

  test('terminate: never touches a catalog', async () => {
    const { engine, asked } = anEngineOf([{ workflowName: '$catalog' }])

    expect((await refusal(terminate(engine, UNPINNED, null, aCall()))).error).toBe('ForbiddenError')
    expect(asked).toEqual([])
  })
})
