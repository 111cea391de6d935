import { expect, test } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import type { ResetResult, ResetTarget } from '../../../src/service/model/engine.ts'
import type { RunRef } from '../../../src/shared/wire/run-ref.ts'
import { call, type EngineFixture, rejection } from './engine-fixture.ts'

/** Reset, pause and unpause. */
export function changing(fixture: EngineFixture): void {
  const end = ({ workflowId, runId }: RunRef) => fixture.engine.terminate({ workflowId, runId }, null, call())

  async function reset(run: RunRef, target: ResetTarget, reason: string | null = null): Promise<ResetResult> {
    const described = await fixture.engine.describe(run, call())
    return fixture.engine.reset(described, { target, reason }, call())
  }

  async function output(run: RunRef): Promise<unknown> {
    const { outcome } = await fixture.closed(run)
    return outcome.status === 'completed' ? outcome.output : outcome.status
  }

  /** How often each activity was scheduled, in this run and those that it was reset from. */
  async function scheduled(run: RunRef): Promise<string[]> {
    const { workflowService } = fixture.connection
    const { workflowId, runId } = run
    const read = { namespace: 'default', execution: { workflowId, runId } }
    const { history } = await workflowService.getWorkflowExecutionHistory(read)
    const events = history?.events ?? []
    return events.flatMap((event) => event.activityTaskScheduledEventAttributes?.activityType?.name ?? [])
  }

  test('reset: a closed run is executed again after the last completed step of a name, which keeps its result', async () => {
    const base = await fixture.start('everyKind', 'x')
    expect(await output(base)).toBe('x')

    const { runId, runsAgain } = await reset(base, { stepName: 'echoBack' }, 'a fix')

    const next = { workflowId: base.workflowId, runId }
    expect(runsAgain).toEqual([])
    expect(await output(next)).toBe('x')
    expect(await scheduled(next)).toEqual(['echoBack'])
    expect((await fixture.engine.describe({ workflowId: base.workflowId }, call())).runId).toBe(runId)
    expect((await fixture.engine.describe(base, call())).status).toBe('completed')
    expect((await fixture.engine.describe(base, call())).resetRunId).toBe(runId)
  })

  test('reset: at an event, the steps after it run again', async () => {
    const base = await fixture.start('manySteps', { n: 3 })
    await fixture.closed(base)

    const [fromStart, afterFirst] = [await reset(base, { eventId: 1 }), await reset(base, { eventId: 7 })]

    expect([fromStart.runsAgain, afterFirst.runsAgain]).toEqual([['step'], ['step']])
    expect(await output({ workflowId: base.workflowId, runId: afterFirst.runId })).toBe(3)
    // The second reset of the same run has replaced the first one, unless that had completed.
    expect([3, 'terminated']).toContain(await output({ workflowId: base.workflowId, runId: fromStart.runId }))
  })

  test('reset: an open run is terminated, and steps that had not completed run again', async () => {
    const base = await fixture.start('longStep', { ms: 60_000 })
    await until('its step is scheduled', async () => (await scheduled(base)).length === 1)

    const { runId, runsAgain } = await reset(base, { eventId: 4 })

    expect(runsAgain).toEqual(['sleeps'])
    expect((await fixture.closed(base)).outcome.status).toBe('terminated')
    await end({ workflowId: base.workflowId, runId })
  })

  test('reset: a run whose workflow task fails after a step can be reset to that step', async () => {
    const { workflowId, runId } = await fixture.start('failsAfterStep')
    await until('the task has failed', async () => {
      const { problem } = (await fixture.engine.describe({ workflowId }, call())).failingTask ?? {}
      return problem !== undefined
    })

    const next = await reset({ workflowId, runId }, { stepName: 'step' })

    expect([next.runId === runId, next.runsAgain]).toEqual([false, []])
    expect(await scheduled({ workflowId, runId: next.runId })).toEqual(['step'])
    await end({ workflowId, runId: next.runId })
  })

  test('reset: a reset run can be reset again, and signals after the point are delivered again', async () => {
    const base = await fixture.start('waitForSignal')
    await fixture.engine.signal(base, { name: 'finish', args: ['kept'] }, call())
    await fixture.closed(base)

    const first = { ...base, runId: (await reset(base, { eventId: 1 })).runId }
    expect(await output(first)).toEqual(['kept'])
    const second = { ...base, runId: (await reset(first, { eventId: 1 })).runId }

    expect(await output(second)).toEqual(['kept'])
  })

  test('reset: unknown and unfinished steps, and events without a workflow task after them, are rejected', async () => {
    const base = await fixture.start('everyKind', 1)
    const failing = await fixture.start('retriedLater')
    await Promise.all([fixture.closed(base), until('it is scheduled', async () => (await scheduled(failing)).length)])
    const { historyLength } = await fixture.engine.describe(base, call())

    const rejected = await Promise.all([
      rejection(reset(base, { stepName: 'nope' })),
      rejection(reset(failing, { stepName: 'alwaysFails' })),
      rejection(reset(base, { eventId: historyLength })),
      rejection(reset(base, { eventId: 1_000_000 })),
    ])

    const ids = { workflowId: base.workflowId, runId: base.runId }
    expect(rejected).toMatchObject([
      { error: 'StepNotFoundError', ...ids, available: ['echoBack'] },
      { error: 'StepNotCompletedError', workflowId: failing.workflowId },
      { error: 'ValidationError', ...ids, issues: [{ path: '/eventId' }] },
      { error: 'ValidationError', ...ids, issues: [{ path: '/eventId' }] },
    ])
    expect((await fixture.engine.describe({ workflowId: base.workflowId }, call())).runId).toBe(base.runId)
    await end(failing)
  })

  test('a workflow task that no worker has taken is described', async () => {
    const request = { workflowId: crypto.randomUUID(), workflowName: 'x', catalog: 'nobody', args: [] }
    const run = await fixture.engine.start(request, call())

    expect((await fixture.engine.describe(run, call())).hasUnstartedTask).toBe(true)
    await end(run)
  })

  test('pause and unpause: closed and unknown runs are rejected', async () => {
    const run = await fixture.start('nothing')
    await fixture.closed(run)
    const unknown = { workflowId: crypto.randomUUID(), runId: crypto.randomUUID() }

    const rejected = await Promise.all([
      rejection(fixture.engine.pause(run, null, call())),
      rejection(fixture.engine.unpause(run, null, call())),
      rejection(fixture.engine.pause(unknown, null, call())),
    ])

    const errors = rejected.map(({ error }) => error)
    expect(errors).toEqual(['WorkflowNotRunningError', 'WorkflowNotRunningError', 'WorkflowNotFoundError'])
  })

  test('pause: the engine says whether the namespace allows it', async () => {
    expect(await fixture.engine.pauseSupported(call())).toBe(true)
  })
}
