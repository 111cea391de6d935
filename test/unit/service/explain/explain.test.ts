import { describe, expect, test } from 'vitest'
import { explain } from '../../../../src/service/explain/explain.ts'
import { ServiceError } from '../../../../src/service/model/errors.ts'
import type { PendingActivity, PendingWork } from '../../../../src/service/model/pending-work.ts'
import { aCall, rejection } from '../../call.ts'
import { aDescription, makeCatalogs } from '../catalog-fixture.ts'
import { IDLE_WORK, STARTED_ACTIVITY } from './idle-work.ts'

const idle: PendingWork = { ...IDLE_WORK, idleSince: new Date(2000) }

const waiting: PendingActivity = { ...STARTED_ACTIVITY, taskQueue: 'payments', state: 'scheduled' }

/** Explains the run `orders-17`, whose workers have just polled. */
function explained(work: Partial<PendingWork> = {}) {
  const fixture = makeCatalogs()
  fixture.runs.set('orders-17', aDescription({ pendingWork: async () => ({ ...idle, ...work }) }))
  fixture.poll()
  return { ...fixture, explain: () => explain(fixture, { ref: { workflowId: 'orders-17' } }, aCall()) }
}

describe('explain', () => {
  test('a worker counts as stopped 75 s after its last poll, which is never read from a cache', async () => {
    const fixture = explained()
    const lastPollAt = new Date(fixture.now())

    fixture.pass(74_999)
    const before = await fixture.explain()
    fixture.pass(1)
    const after = await fixture.explain()
    fixture.poll()
    const again = await fixture.explain()

    const kinds = [before, after, again].map(({ verdict }) => verdict)
    expect(kinds).toEqual(['waiting_handler', 'no_workers', 'waiting_handler'])
    expect(after).toMatchObject({ since: lastPollAt, reasons: [{ kind: 'no_workers' }, { kind: 'waiting_handler' }] })
  })

  test('reads the queue of an activity that waits for a worker, unless the workflow itself does', async () => {
    const workflowTask = { scheduledAt: new Date(2000), startedAt: null }
    const later = { ...waiting, taskQueue: 'letters', since: new Date('2030-01-01T00:00:00Z') }
    const works = [{ activities: [later, waiting] }, { activities: [waiting], workflowTask }, {}]

    const queues = await Promise.all(
      works.map(async (work) => {
        const fixture = explained(work)
        await fixture.explain()
        return fixture.reads.filter((read) => read.startsWith('lastPolledAt'))
      }),
    )

    expect(queues).toEqual([['lastPolledAt payments'], ['lastPolledAt orders'], ['lastPolledAt orders']])
  })

  test('a task that has failed waits for its next attempt, and one that has begun for its end', async () => {
    const problem = { kind: 'workflow_task_failing', attempt: 2, since: null, message: 'a bug' } as const
    const workflowTask = { scheduledAt: new Date(0), startedAt: null }
    const works = [
      { workflowTask },
      { workflowTask, problem },
      { workflowTask: { ...workflowTask, startedAt: new Date(1) } },
    ]

    const verdicts = await Promise.all(works.map(async (work) => (await explained(work).explain()).verdict))

    expect(verdicts).toEqual(['waiting_worker', 'workflow_task_failing', 'healthy'])
  })

  test('says nothing about the workers of a queue whose name the transport cannot carry', async () => {
    const fixture = explained({ activities: [waiting] })
    fixture.engine.lastPolledAt = () => Promise.reject(new ServiceError('NotSupportedError', 'a/b is not supported'))

    expect((await fixture.explain()).verdict).toBe('activity_running')
  })

  test('names a repair of an activity only if the engine is known to have it', async () => {
    const retrying = { ...waiting, attempt: 2, nextAttemptAt: new Date(9000) }
    const answers = [
      async () => true,
      async () => false,
      () => Promise.reject(new ServiceError('EngineUnavailableError', 'gone')),
    ]

    const actions = await Promise.all(
      answers.map(async (repair) => {
        const fixture = explained({ activities: [retrying] })
        const ports = { ...fixture, engineSupport: { ...fixture.engineSupport, repair } }
        const { reasons } = await explain(ports, { ref: { workflowId: 'orders-17' }, may: () => true }, aCall())
        return reasons[0]?.action?.path
      }),
    )

    expect(actions).toEqual(['/workflow/orders-17/runs/run-1/activities/1/retry', undefined, undefined])
  })

  test('redacts the messages of failures if the transport cannot carry the name of the catalog', async () => {
    const problem = { kind: 'workflow_task_failing', attempt: 2, since: null, message: 'card 4242' } as const
    const fixture = explained({ problem })
    const rejectWith = (error: ServiceError) => {
      const { describe: read } = fixture.engine
      fixture.engine.describe = (ref, call) =>
        ref.workflowId === 'orders-17' ? read(ref, call) : Promise.reject(error)
    }

    rejectWith(new ServiceError('NotSupportedError', 'a/b is not supported'))
    expect((await fixture.explain()).reasons).toMatchObject([{ message: '[redacted]' }, { signals: null }])

    rejectWith(new ServiceError('EngineError', 'no'))
    expect(await rejection(fixture.explain())).toMatchObject({ error: 'EngineError' })
  })

  test('does not need the signals and updates', async () => {
    const fixture = explained()
    fixture.publish('catalog-run', [{ name: 'order', signals: [{ name: 'approve' }] }])
    const error = new ServiceError('EngineUnavailableError', 'no')
    fixture.engine.input = () => Promise.reject(error)
    const call = aCall()

    const { verdict, reasons } = await explain(fixture, { ref: { workflowId: 'orders-17' } }, call)

    expect([verdict, reasons]).toMatchObject(['waiting_handler', [{ signals: null, updates: null }]])
    expect(call.notes.handlersUnread).toMatchObject({ error: 'EngineUnavailableError' })
  })

  test('redacts the messages of failures if the worker has its own redact function', async () => {
    const problem = { kind: 'workflow_task_failing', attempt: 2, since: null, message: 'card 4242' } as const
    const fixture = explained({
      problem,
      activities: [
        { ...waiting, state: 'started', attempt: 2, lastFailure: { name: 'Declined', message: 'card 4242' } },
      ],
    })
    fixture.publish('catalog-run', [{ name: 'order' }], { redacted: true })

    const explanation = await fixture.explain()

    expect(JSON.stringify(explanation)).not.toContain('4242')
    expect(explanation.reasons).toMatchObject([
      { message: '[redacted]', advice: expect.stringContaining('worker reports: [redacted]; ') },
      { lastFailure: { name: 'Declined', message: '[redacted]' } },
    ])
    expect(explanation.run.problem).toEqual({ ...problem, message: '[redacted]' })
  })

  test('names the signals and updates that the catalog publishes for the workflow', async () => {
    const fixture = explained()
    fixture.publish('catalog-run', [{ name: 'order', signals: [{ name: 'approve' }], updates: [] }])

    expect((await fixture.explain()).reasons).toEqual([
      {
        kind: 'waiting_handler',
        since: new Date(2000),
        signals: ['approve'],
        updates: [],
        advice: 'send signal approve',
        action: null,
      },
    ])
  })
})
