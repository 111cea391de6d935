/**
 * Each operation, once over HTTP and once with Temporal's own CLI, each time read from both sides. What is not here:
 * the CLI changes no priority of a run, reports no cancellation of a step, and has no bulk.
 */
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { aSchedule } from '../conformance/schedules.ts'
import { test } from '../support/fixtures.ts'
import {
  type Act,
  activityIs,
  type Operation,
  resultIs,
  runIs,
  runsAre,
  type Subject,
  scheduleIs,
  stateIs,
  stepIs,
  subjectOf,
} from './temporal-cli-fixture.ts'

/** The third hour of two days. */
const PAST = { from: '2026-11-01T00:00:00Z', until: '2026-11-02T23:00:00Z' }

const step = (id: string) => `${id}/activities/approval`
const startMessages: Act = ({ id, service }) => service.start('messages', { a: 1 }, { workflowId: id })
const startSteps: Act = async ({ id, service }) => {
  await service.start('completesOutside', { retryInterval: '1h' }, { workflowId: id })
  await until('the step waits', async () => (await service.post(`${step(id)}/heartbeat`)).status === 200)
}
const startBackingOff: Act = async (subject) => {
  await startSteps(subject)
  await subject.service.post(`${step(subject.id)}/fail`, { message: 'later' })
}
const putSchedule: Act = ({ schedule }) => schedule.put(aSchedule({ when: { calendars: [{ hour: '3' }] } }))
const putPaused: Act = ({ schedule }) => schedule.put(aSchedule({ paused: true }))
const startActivity: Act = async ({ activity }) => {
  await activity.start('outside', { retry: { maximumAttempts: 1 } })
  await until('it has begun', async () => (await activity.post('heartbeat')).status === 200)
}
const ofMessages = ({ id, catalog }: Subject) => ['-w', id, '--type', 'messages', '-t', catalog, '-i', '{"a":1}']
const ofStep = ({ id }: Subject) => ['-w', id, '-a', 'approval']

const OPERATIONS: Record<string, Operation> = {
  start: {
    http: startMessages,
    cli: (subject) => subject.temporal('workflow start', ...ofMessages(subject)),
    seen: runIs('running'),
  },
  signal: {
    before: startMessages,
    http: ({ id, service }) => service.post(`${id}/signal/add`, { payload: 1 }),
    cli: ({ id, temporal }) => temporal('workflow signal', '-w', id, '--name', 'add', '-i', '1'),
    seen: stateIs('gathered', [1]),
  },
  'signal with start': {
    http: ({ id, service }) =>
      service.post('signal-with-start/add', { workflowName: 'messages', workflowId: id, input: null, payload: 1 }),
    cli: (subject) =>
      subject.temporal('workflow signal-with-start', ...ofMessages(subject), '--signal-name=add', '--signal-input=1'),
    seen: stateIs('gathered', [1]),
  },
  update: {
    before: startMessages,
    http: ({ id, service }) => service.post(`${id}/update/set`, { payload: 7 }),
    cli: ({ id, temporal }) => temporal('workflow update execute', '-w', id, '--name', 'set', '-i', '7'),
    seen: stateIs('value', 7),
  },
  'update with start': {
    http: ({ id, service }) =>
      service.post('update-with-start/set', { workflowName: 'messages', workflowId: id, input: null, payload: 7 }),
    cli: (subject) => {
      const update = ['--update-name=set', '--update-input=7', '--id-conflict-policy=Fail']
      return subject.temporal('workflow execute-update-with-start', ...ofMessages(subject), ...update)
    },
    seen: stateIs('value', 7),
  },
  stop: {
    before: startMessages,
    http: ({ id, service }) => service.call('PATCH', `/workflow/${id}/stop`),
    cli: ({ id, temporal }) => temporal('workflow cancel', '-w', id),
    seen: runIs('canceled'),
  },
  terminate: {
    before: startMessages,
    http: ({ id, service }) => service.post(`${id}/terminate`),
    cli: ({ id, temporal }) => temporal('workflow terminate', '-w', id),
    seen: runIs('terminated'),
  },
  pause: {
    before: startMessages,
    http: ({ id, service }) => service.post(`${id}/pause`),
    cli: ({ id, temporal }) => temporal('workflow pause', '-w', id),
    seen: runIs('paused'),
  },
  unpause: {
    before: async ({ id, service }) => {
      await service.start('messages', { a: 1 }, { workflowId: id })
      await service.post(`${id}/pause`)
    },
    http: ({ id, service }) => service.post(`${id}/unpause`),
    cli: ({ id, temporal }) => temporal('workflow unpause', '-w', id),
    seen: runIs('running'),
  },
  reset: {
    before: startSteps,
    http: ({ id, service }) => service.post(`${id}/reset`, { eventId: 4 }),
    cli: ({ id, temporal }) => temporal('workflow reset', '-w', id, '-e', '4', '--reason', 'again'),
    seen: runsAre('running', 'terminated'),
  },
  'complete a step': {
    before: startSteps,
    http: ({ id, service }) => service.post(`${step(id)}/complete`, { output: 'x' }),
    cli: (subject) => subject.temporal('activity complete', ...ofStep(subject), '--result', '"x"'),
    seen: resultIs('completed', ['x']),
  },
  'fail a step': {
    before: startSteps,
    http: ({ id, service }) => service.post(`${step(id)}/fail`, { message: 'no', retryable: false }),
    cli: (subject) => subject.temporal('activity fail', ...ofStep(subject), '--reason', 'no'),
    seen: resultIs('failed', null),
  },
  'pause a step': {
    before: startBackingOff,
    http: ({ id, service }) => service.post(`${step(id)}/pause`),
    cli: (subject) => subject.temporal('activity pause', ...ofStep(subject)),
    seen: stepIs(2, 3, true),
  },
  'unpause a step': {
    before: async (subject) => {
      await startBackingOff(subject)
      await subject.service.post(`${step(subject.id)}/pause`)
    },
    http: ({ id, service }) => service.post(`${step(id)}/unpause`),
    cli: (subject) => subject.temporal('activity unpause', ...ofStep(subject)),
    seen: stepIs(2, 3, false),
  },
  'retry a step': {
    before: startBackingOff,
    http: ({ id, service }) => service.post(`${step(id)}/retry`),
    cli: (subject) => subject.temporal('activity reset', ...ofStep(subject)),
    seen: stepIs(1, 3, false),
  },
  'options of a step': {
    before: startSteps,
    http: ({ id, service }) => service.call('PATCH', `/workflow/${step(id)}`, { retry: { maximumAttempts: 9 } }),
    cli: (subject) => subject.temporal('activity update-options', ...ofStep(subject), '--retry-maximum-attempts=9'),
    seen: stepIs(1, 9, false),
  },
  'create a schedule': {
    http: ({ schedule }) => schedule.put(aSchedule({ when: { calendars: [{ hour: '3' }] }, note: 'one' })),
    cli: ({ id, catalog, temporal }) => {
      const action = ['--type', 'nothing', '-t', catalog, '-w', id]
      return temporal('schedule create', '-s', id, '--calendar', '{"hour":"3"}', '--notes', 'one', ...action)
    },
    seen: scheduleIs(['3', 'one', false]),
  },
  'replace a schedule': {
    before: putSchedule,
    http: ({ schedule }) => schedule.put(aSchedule({ when: { calendars: [{ hour: '4' }] } })),
    cli: ({ id, catalog, temporal }) => {
      const action = ['--type', 'nothing', '-t', catalog, '-w', id]
      return temporal('schedule update', '-s', id, '--calendar', '{"hour":"4"}', ...action)
    },
    seen: scheduleIs(['4', '', false]),
  },
  'pause a schedule': {
    before: putSchedule,
    http: ({ schedule }) => schedule.post('pause', { reason: 'closed' }),
    cli: ({ id, temporal }) => temporal('schedule toggle', '-s', id, '--pause', '--reason', 'closed'),
    seen: scheduleIs(['3', 'closed', true]),
  },
  'unpause a schedule': {
    before: async ({ schedule }) => {
      await schedule.put(aSchedule({ when: { calendars: [{ hour: '3' }] }, paused: true }))
    },
    http: ({ schedule }) => schedule.post('unpause', { reason: 'open' }),
    cli: ({ id, temporal }) => temporal('schedule toggle', '-s', id, '--unpause', '--reason', 'open'),
    seen: scheduleIs(['3', 'open', false]),
  },
  'trigger a schedule': {
    before: putPaused,
    http: ({ schedule }) => schedule.post('trigger'),
    cli: ({ id, temporal }) => temporal('schedule trigger', '-s', id),
    seen: runsAre('completed'),
  },
  'backfill a schedule': {
    before: ({ schedule }) => schedule.put(aSchedule({ paused: true, when: { calendars: [{ hour: '3' }] } })),
    http: ({ schedule }) => schedule.post('backfill', { ...PAST, overlap: 'allow-all' }),
    cli: ({ id, temporal }) => {
      const times = ['--start-time', PAST.from, '--end-time', PAST.until]
      return temporal('schedule backfill', '-s', id, ...times, '--overlap-policy', 'AllowAll')
    },
    seen: runsAre('completed', 'completed'),
  },
  'delete a schedule': {
    before: putSchedule,
    http: ({ schedule }) => schedule.remove(),
    cli: ({ id, temporal }) => temporal('schedule delete', '-s', id),
    seen: scheduleIs(null),
  },
  'start an activity': {
    http: ({ activity }) => activity.start('echoBack', { input: { a: 1 } }),
    cli: ({ id, catalog, temporal }) => {
      const options = ['--type', 'echoBack', '-t', catalog, '--start-to-close-timeout', '1m', '-i', '{"a":1}']
      return temporal('activity start', '-a', id, ...options)
    },
    seen: activityIs('completed', 'echoBack'),
  },
  'complete an activity': {
    before: startActivity,
    http: ({ activity }) => activity.post('complete', { output: 'x' }),
    cli: ({ id, temporal }) => temporal('activity complete', '-a', id, '--result', '"x"'),
    seen: activityIs('completed'),
  },
  'fail an activity': {
    before: startActivity,
    http: ({ activity }) => activity.post('fail', { message: 'no', retryable: false }),
    cli: ({ id, temporal }) => temporal('activity fail', '-a', id, '--reason', 'no'),
    seen: activityIs('failed'),
  },
  'stop an activity': {
    before: ({ activity }) => activity.start('outside', { startDelay: '1h' }),
    http: ({ activity }) => activity.stop(),
    cli: ({ id, temporal }) => temporal('activity cancel', '-a', id),
    seen: activityIs('canceled'),
  },
  'terminate an activity': {
    before: startActivity,
    http: ({ activity }) => activity.post('terminate'),
    cli: ({ id, temporal }) => temporal('activity terminate', '-a', id),
    seen: activityIs('terminated'),
  },
}

/** Another test may have a batch in the namespace, which has one at a time. */
function untilDone<T>(act: () => Promise<T | false>): Promise<T> {
  return until('the engine takes the batch', act, { timeoutMs: 30_000, everyMs: 300 })
}

function createBatch({ id, service }: Subject, request: object) {
  return untilDone(async () => {
    const filter = { query: `WorkflowId = "${id}"` }
    const created = await service.call('POST', '/batches', { filter, ...request })
    return created.body.matching === 1 && created
  })
}

const BATCHES = {
  signal: { words: ['--name', 'add', '-i', '1'], body: { signal: 'add', payload: 1 }, seen: stateIs('gathered', [1]) },
  stop: { words: [], body: {}, seen: runIs('canceled') },
  terminate: { words: [], body: {}, seen: runIs('terminated') },
}

const startListed: Act = async (subject) => {
  await startMessages(subject)
  await expect.poll(() => runsAre('running')[0](subject)).toEqual(['running'])
}

for (const [operation, { words, body, seen }] of Object.entries(BATCHES))
  OPERATIONS[`${operation} runs in a batch`] = {
    before: startListed,
    http: (subject) => createBatch(subject, { operation, ...body }),
    cli({ id, temporal }) {
      const command = operation === 'stop' ? 'cancel' : operation
      return untilDone(() => temporal(`workflow ${command}`, '-q', `WorkflowId = "${id}"`, '-y', ...words))
    },
    seen,
  }

test.for(Object.entries(OPERATIONS))(
  '%s: what the service does the temporal CLI sees, and the other way round',
  async ([, { before, http, cli, seen }], { service, engine, catalog }) => {
    const [overHttp, overCli, expected] = seen
    const seeEach = async (act: Act) => {
      const subject = await subjectOf(service, engine.address, catalog)
      await before?.(subject)
      const done = (await act(subject)) as { status?: number } | null
      if (act === http) expect(done?.status).toBeLessThan(300)
      const read = async () => ({ http: await overHttp(subject), cli: await overCli(subject) })
      await expect.poll(read, { timeout: 15_000, interval: 200 }).toEqual({ http: expected, cli: expected })
    }

    await Promise.all([http, cli].map(seeEach))
  },
)

test('a batch that the service has created is described by the temporal CLI', async ({ service, engine, catalog }) => {
  const subject = await subjectOf(service, engine.address, catalog)
  await startListed(subject)
  const { body } = await createBatch(subject, { operation: 'terminate' })
  const jobId = `$batch:${body.batchId}`
  const read = async () => {
    const described = await subject.temporal('batch describe', '--job-id', jobId)
    const batch = (await service.call('GET', `/batches/${body.batchId}`)).body
    return [described.operationType, described.state, described.completeOperationCount, batch.state, batch.processed]
  }
  await expect
    .poll(read, { timeout: 15_000 })
    .toEqual(['BATCH_OPERATION_TYPE_TERMINATE_WORKFLOW', 'BATCH_OPERATION_STATE_COMPLETED', '1', 'completed', 1])
})

test('a task queue: its workers are those that the temporal CLI lists', async ({ service, engine, catalog }) => {
  const { temporal } = await subjectOf(service, engine.address, catalog)
  const read = async () => (await service.call('GET', `/task-queues/${catalog}`)).body
  const listed = async (type: string) =>
    (await temporal('task-queue describe', '-t', catalog)).pollers.filter(
      ({ taskQueueType }: { taskQueueType: string }) => taskQueueType === type,
    ).length

  const { workflows, activities } = await read()
  expect([workflows.pollers, activities.pollers]).toEqual([await listed('workflow'), await listed('activity')])
})
