import { describe, expect } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { createEngine } from '../../../src/service/engine/engine.ts'
import type { Engine } from '../../../src/service/model/engine.ts'
import type { WorkflowOptions } from '../../../src/service/model/workflow-options.ts'
import { type FaultProxy, startFaultProxy } from '../../support/fault-proxy.ts'
import { test } from '../../support/fixtures.ts'
import { call, engineFixture, type MakeTransport, rejection } from './engine-fixture.ts'

/** A start whose first response is lost: the engine may have carried it out. */
export function describeStarting(name: string, makeTransport: MakeTransport): void {
  describe(`engine over ${name}: a start whose response is lost`, () => {
    const fixture = engineFixture(makeTransport)
    let proxy: FaultProxy
    let engine: Engine

    test.beforeAll(async ({ engine: { address, httpUrl }, cleanup }) => {
      proxy = await startFaultProxy(address, httpUrl)
      cleanup.defer(() => proxy.stop())
      const transport = makeTransport(proxy)
      cleanup.defer(() => transport.close())
      engine = createEngine({ transport, namespace: 'default', maxPayloadBytes: 1000, codec: null })
    })

    const start = (workflowName: string, workflowId: string, input: unknown = null, options: WorkflowOptions = {}) =>
      engine.start({ workflowId, workflowName, catalog: fixture.taskQueue, args: [input], options }, call(20_000))

    const lose = (workflowId: string, lost: () => Promise<unknown> = async () => {}) =>
      proxy.on({ method: 'StartWorkflowExecution', containing: workflowId, fault: { lost }, times: 1 })

    /** All runs of the id, latest first. */
    async function runsOf(workflowId: string): Promise<{ runId: string; isOpen: boolean }[]> {
      const query = `WorkflowId = '${workflowId}'`
      const { executions } = await fixture.connection.workflowService.listWorkflowExecutions({
        namespace: 'default',
        query,
      })
      return executions.map(({ execution, status }) => ({ runId: String(execution?.runId), isOpen: status === 1 }))
    }

    /** Waits until runs that others have started are certainly older than the next request. */
    async function untilOlder(): Promise<void> {
      const startedAt = Date.now()
      // It shows how far the engine's clock is behind.
      await start('nothing', crypto.randomUUID())
      await until('the other run is older', async () => Date.now() > startedAt + 2000)
    }

    test('start: sends the same request again, and starts once', async () => {
      const workflowId = crypto.randomUUID()
      lose(workflowId)

      const { runId, firstRunId } = await start('neverEnds', workflowId)

      expect(firstRunId).toBe(runId)
      expect(
        await until('it is listed', async () => ((await runsOf(workflowId)).length > 0 ? runsOf(workflowId) : null)),
      ).toEqual([{ runId, isOpen: true }])
      await engine.terminate({ workflowId, runId }, null, call())
    })

    test('start: finds its run if that has ended meanwhile', async () => {
      const workflowId = crypto.randomUUID()
      lose(workflowId, () =>
        until('it has ended', async () => (await runsOf(workflowId)).some(({ isOpen }) => !isOpen)),
      )

      const { runId } = await start('nothing', workflowId)

      expect(await runsOf(workflowId)).toEqual([{ runId, isOpen: false }])
    })

    test('start: finds its run if that has continued as new', async () => {
      const workflowId = crypto.randomUUID()
      lose(workflowId, async () => {
        const workflowExecution = { workflowId }
        await fixture.connection.workflowService.signalWorkflowExecution({
          namespace: 'default',
          workflowExecution,
          signalName: 'next',
        })
        await until('it has gone on', async () => (await runsOf(workflowId)).length === 2)
      })

      const { runId, firstRunId } = await start('chainOnSignal', workflowId, 0)

      const runs = await runsOf(workflowId)
      expect(runs).toEqual([expect.objectContaining({ isOpen: true }), { runId, isOpen: false }])
      expect(firstRunId).toBe(runId)
      await engine.terminate({ workflowId, runId: runs[0]?.runId ?? '' }, null, call())
    })

    test('start: finds its run if that has continued as new, and the new run has ended too', async () => {
      const workflowId = crypto.randomUUID()
      const haveEnded = async () => {
        const runs = await runsOf(workflowId)
        return runs.length === 2 && runs.every(({ isOpen }) => !isOpen)
      }
      lose(workflowId, () => until('both have ended', haveEnded))

      const { runId } = await start('chain', workflowId, { links: 2 })

      const runs = await runsOf(workflowId)
      expect(runs).toHaveLength(2)
      expect(runs.map((run) => run.runId)).toContain(runId)
      expect((await engine.wait({ workflowId, runId }, call()))?.nextRunId).toBe(
        runs.find((run) => run.runId !== runId)?.runId,
      )
    })

    test('start: is sent again if the latest run of the id ended before the request', async () => {
      const workflowId = crypto.randomUUID()
      const older = await start('nothing', workflowId)
      await fixture.closed(older)
      proxy.on({ method: 'StartWorkflowExecution', containing: workflowId, fault: 'close', times: 1 })

      const { runId } = await start('neverEnds', workflowId)

      expect(runId).not.toBe(older.runId)
      await engine.terminate({ workflowId, runId }, null, call())
    })

    test('start: is not sent again if another client has used the id since and its run has ended', async () => {
      const workflowId = crypto.randomUUID()
      lose(workflowId, async () => {
        await until('it has ended', async () => (await runsOf(workflowId)).some(({ isOpen }) => !isOpen))
        await fixture.closed(await fixture.start('nothing', null, workflowId))
        await until(
          'both have ended',
          async () => (await runsOf(workflowId)).filter(({ isOpen }) => !isOpen).length === 2,
        )
      })

      const rejected = await rejection(start('nothing', workflowId))

      expect(rejected).toMatchObject({ error: 'EngineUnavailableError', workflowId })
      expect(rejected).not.toHaveProperty('retryAfterSeconds')
      expect(await runsOf(workflowId)).toHaveLength(2)
    })

    test('start: reports an open run of another client as the id in use', async () => {
      const workflowId = crypto.randomUUID()
      const other = await fixture.start('neverEnds', null, workflowId)
      await untilOlder()
      proxy.on({ method: 'StartWorkflowExecution', containing: workflowId, fault: 'close', times: 1 })

      expect(await rejection(start('neverEnds', workflowId))).toMatchObject({
        error: 'WorkflowAlreadyStartedError',
        runId: other.runId,
      })
      await engine.terminate({ workflowId, runId: other.runId }, null, call())
    })

    test('start: use-existing returns the open run, also after a lost response', async () => {
      const workflowId = crypto.randomUUID()
      const other = await fixture.start('neverEnds', null, workflowId)
      await untilOlder()
      lose(workflowId)

      const found = await start('neverEnds', workflowId, null, { workflowIdConflictPolicy: 'use-existing' })

      expect(found).toEqual({ ...other, isExisting: true })
      await engine.terminate({ workflowId, runId: other.runId }, null, call())
    })

    test('start: use-existing does not take a run for that of its own lost start, which may have ended', async () => {
      const workflowId = crypto.randomUUID()
      lose(workflowId, async () => {
        await until('it has ended', async () => (await runsOf(workflowId)).some(({ isOpen }) => !isOpen))
        await fixture.start('neverEnds', null, workflowId)
        await until('both are listed', async () => (await runsOf(workflowId)).length === 2)
      })

      const rejected = await rejection(start('nothing', workflowId, null, { workflowIdConflictPolicy: 'use-existing' }))

      expect(rejected).toMatchObject({ error: 'EngineUnavailableError', workflowId })
      expect(rejected).not.toHaveProperty('runId')
      const [other] = await runsOf(workflowId)
      await engine.terminate({ workflowId, runId: other?.runId ?? '' }, null, call())
    })

    test('start: terminate-existing terminates once, even if its run has continued as new before the repeat', async () => {
      const workflowId = crypto.randomUUID()
      const older = await fixture.start('neverEnds', null, workflowId)
      lose(workflowId, async () => {
        await fixture.connection.workflowService.signalWorkflowExecution({
          namespace: 'default',
          workflowExecution: { workflowId },
          signalName: 'next',
        })
        await until('it has continued', async () => (await runsOf(workflowId)).length === 3)
      })

      const { runId } = await start('chainOnSignal', workflowId, 0, { workflowIdConflictPolicy: 'terminate-existing' })

      const runs = await runsOf(workflowId)
      const [open, ...closed] = runs
      expect(open?.isOpen).toBe(true)
      expect(new Set(closed.map((run) => run.runId))).toEqual(new Set([runId, older.runId]))
      await engine.terminate({ workflowId, runId: open?.runId ?? '' }, null, call())
    })

    test('start: terminate-existing is carried out by the repeat if the first request did not arrive', async () => {
      const workflowId = crypto.randomUUID()
      const older = await start('neverEnds', workflowId)
      proxy.on({ method: 'StartWorkflowExecution', containing: workflowId, fault: 'close', times: 1 })

      const run = await start('neverEnds', workflowId, null, { workflowIdConflictPolicy: 'terminate-existing' })

      expect((await fixture.closed(older)).outcome.status).toBe('terminated')
      expect((await engine.describe({ workflowId }, call())).runId).toBe(run.runId)
      await engine.terminate(run, null, call())
    })
  })
}
