import { expect, test } from 'vitest'
import { createHistoryReader } from '../../../../../src/shared/temporal/history/reader.ts'
import type { TemporalEvent } from '../../../../../src/shared/temporal/outcome.ts'
import { createPayloadReader, toPayload } from '../../../../../src/shared/temporal/payload.ts'
import type { TraceEntry } from '../../../../../src/shared/wire/trace/entry.ts'
import { maskEntry } from '../../../../../src/shared/wire/trace/mask-entry.ts'
import { type TraceNode, toTraceTree } from '../../../../../src/shared/wire/trace/tree.ts'
import { recorded } from '../../../../fixtures/histories/recorded.ts'
import { nodesIn } from '../../../../support/trace-nodes.ts'
import { event, number } from './event.ts'

const payloads = createPayloadReader(null)

/** The whole trace of a recorded story: the links of its chain below one node, and each child below its own. */
async function storyTree(sdk: 'typescript' | 'python'): Promise<TraceNode> {
  const runs = recorded(sdk)
  const entries: TraceEntry[] = [
    { id: 'story', parentId: null, kind: 'workflow', name: 'story', at: 0, phase: 'began' },
  ]
  for (const run of runs) entries.push(...(await createHistoryReader(run, payloads).entriesOf(run.events)))
  const parents = new Map(
    entries.flatMap(({ id, kind, attributes }) => (kind === 'child_workflow' ? [[attributes?.runId, id]] : [])),
  )
  const isRun = ({ id }: TraceEntry) => runs.some(({ runId }) => runId === id)
  return treeOf(
    entries.map((entry) => (isRun(entry) ? { ...entry, parentId: String(parents.get(entry.id) ?? 'story') } : entry)),
  )
}

function treeOf(entries: TraceEntry[]): TraceNode {
  const tree = toTraceTree(entries)
  if (tree === null) throw new Error('no tree')
  return tree
}

function outline(node: TraceNode): unknown {
  const line = `${node.kind} ${node.name}${node.error === null ? '' : ` ! ${node.error.name}`}${node.endedAt === null ? ' …' : ''}`
  return node.children.length === 0 ? line : [line, ...node.children.map(outline)]
}

/** Names of timers are the SDK's own numbers; equal times leave their order to their ids. */
const sorted = (lines: unknown): unknown =>
  Array.isArray(lines)
    ? [
        lines[0],
        ...lines
          .slice(1)
          .map(sorted)
          .toSorted((a, b) => (String(a) < String(b) ? -1 : 1)),
      ]
    : lines

const NESTED = [
  'child_workflow nest',
  [
    'workflow nest',
    [
      'child_workflow nest',
      [
        'workflow nest',
        [
          'child_workflow nest',
          ['workflow nest', ['child_workflow nest', ['workflow nest', 'step shout']], 'step shout'],
        ],
        'step shout',
      ],
    ],
    'step shout',
  ],
]

for (const sdk of ['typescript', 'python'] as const) {
  test(`history of ${sdk}: steps, local steps, timers, messages, children four deep and the chain are one tree`, async () => {
    const root = await storyTree(sdk)

    const [line, first, second] = outline(root) as [string, unknown[], unknown]
    expect([line, second]).toEqual(['workflow story …', 'workflow story'])
    expect(
      sorted(first.map((child) => (typeof child === 'string' ? child.replace(/^timer .*?(?= !|$)/, 'timer') : child))),
    ).toEqual(
      sorted([
        'workflow story',
        'update priority',
        'signal approve',
        'step shout',
        'step shout',
        'step flaky',
        'step rejects ! BadInput',
        'step shout',
        'step flaky',
        'step rejects ! BadInput',
        'timer',
        'timer',
        'timer',
        NESTED,
        ['child_workflow nest ! BadInput', ['workflow nest ! BadInput', 'step rejects ! BadInput']],
      ]),
    )
  })

  test(`history of ${sdk}: the attempts of an activity are one step with their count and the last failure`, async () => {
    const steps = nodesIn(await storyTree(sdk)).filter(({ name }) => name === 'flaky')

    expect(steps).toMatchObject([
      {
        output: 3,
        error: null,
        attributes: {
          attempts: 3,
          lastStartedAt: expect.any(Number),
          lastFailure: { message: 'attempt 2 is not enough' },
        },
      },
      { output: 2, error: null, attributes: { attempts: 2, local: true } },
    ])
  })

  test(`history of ${sdk}: values are there, and nothing of the machine`, async () => {
    const root = await storyTree(sdk)
    const nodes = nodesIn(root)
    const find = (kind: string, name: string) => nodes.find((node) => node.kind === kind && node.name === name)

    expect(root.children).toMatchObject([
      { input: { link: 1 }, attributes: { status: 'continued' } },
      { output: { link: 2 }, attributes: { status: 'completed' } },
    ])
    expect(find('signal', 'approve')).toMatchObject({ input: { by: 'Ada' } })
    expect(find('update', 'priority')).toMatchObject({ input: 'high', output: 'now high' })
    expect(find('child_workflow', 'nest')).toMatchObject({ input: { depth: 4 }, output: 4 })
    expect(JSON.stringify(root)).not.toMatch(/stackTrace|identity|core_patch|a-version/)
  })

  test(`history of ${sdk}: every node has ended, none before it began`, async () => {
    for (const { startedAt, endedAt } of (await storyTree(sdk)).children.flatMap(nodesIn))
      expect(endedAt).toBeGreaterThanOrEqual(startedAt)
  })
}

test('history: an activity id that is used again gets a step of its own', async () => {
  const run = recorded('python')[0]
  const [first, second] = nodesIn(await storyTree('python')).filter(
    ({ attributes }) => attributes.activityId === 'same',
  )

  expect(first).toMatchObject({ id: `${run?.runId}:step:same`, output: 'one!' })
  expect(second).toMatchObject({ output: 'two!' })
})

const RUN = { workflowId: 'orders-17', runId: 'run-1' }

async function entriesOf(events: TemporalEvent[]): Promise<TraceEntry[]> {
  const began: TemporalEvent = event(1, {
    workflowExecutionStartedEventAttributes: { workflowType: { name: 'order' } },
  })
  return createHistoryReader(RUN, payloads).entriesOf([began, ...events])
}

/** A marker of a local activity, as SDKs on Core write it. */
function coreMarker(activity: object, result?: object) {
  const data = { payloads: [toPayload({ activity_type: 'pay', ...activity })] }
  return { markerName: 'core_local_activity', details: { data, ...result } }
}

const atSecond = (seconds: number) => ({ seconds, nanos: 0 })

test('history: a Nexus operation is a node with its outcome', async () => {
  const entries = await entriesOf([
    event(2, {
      nexusOperationScheduledEventAttributes: {
        endpoint: 'bank',
        service: 'payments',
        operation: 'pay',
        input: toPayload({ amount: 7 }),
      },
    }),
    event(3, {
      nexusOperationScheduledEventAttributes: { endpoint: 'bank', service: 'payments', operation: 'refund' },
    }),
    event(4, { nexusOperationCompletedEventAttributes: { scheduledEventId: number(2), result: toPayload('paid') } }),
    event(5, {
      nexusOperationFailedEventAttributes: { scheduledEventId: number(3), failure: { message: 'no refund' } },
    }),
  ])

  expect(treeOf(entries).children).toMatchObject([
    {
      kind: 'nexus_operation',
      name: 'payments/pay',
      input: { amount: 7 },
      output: 'paid',
      startedAt: 2000,
      endedAt: 4000,
    },
    { kind: 'nexus_operation', name: 'payments/refund', input: null, error: { message: 'no refund' } },
  ])
})

test('history: a canceled timer has ended without an error, and one that was never needed has not ended', async () => {
  const entries = await entriesOf([
    event(2, { timerStartedEventAttributes: { timerId: '1', startToFireTimeout: { seconds: number(60) } } }),
    event(3, { timerStartedEventAttributes: { timerId: '2', startToFireTimeout: { seconds: number(60) } } }),
    event(4, { timerCanceledEventAttributes: { timerId: '1', startedEventId: number(2) } }),
    event(5, { workflowExecutionCompletedEventAttributes: {} }),
  ])

  expect(treeOf(entries).children).toMatchObject([
    { kind: 'timer', endedAt: 4000, error: null, attributes: { durationMs: 60_000, canceled: true } },
    { kind: 'timer', endedAt: null, error: null, attributes: { durationMs: 60_000 } },
  ])
})

test('history: an update that a reset carried over is one node', async () => {
  const request = { meta: { updateId: 'u1' }, input: { name: 'set', args: { payloads: [toPayload(1)] } } }
  const entries = await entriesOf([
    event(2, { workflowExecutionUpdateAdmittedEventAttributes: { request } }),
    event(3, { workflowExecutionUpdateAcceptedEventAttributes: { protocolInstanceId: 'u1' } }),
    event(4, {
      workflowExecutionUpdateCompletedEventAttributes: {
        acceptedEventId: number(3),
        outcome: { success: { payloads: [toPayload('was 0')] } },
      },
    }),
  ])

  expect(treeOf(entries).children).toMatchObject([
    { kind: 'update', name: 'set', input: 1, output: 'was 0', endedAt: 4000 },
  ])
})

test('history: a local activity that is retried after a backoff is one step', async () => {
  const activityAttempt = (attempt: number, backoff: object | null) => ({
    attempt,
    activity_id: `${attempt}`,
    backoff,
    original_schedule_time: atSecond(2),
    complete_time: atSecond(2 + attempt),
  })
  const failed = { ...coreMarker(activityAttempt(1, atSecond(60))), failure: { message: 'not yet' } }
  const paid = coreMarker(activityAttempt(2, null), { result: { payloads: [toPayload('paid')] } })
  const entries = await entriesOf([
    event(3, { markerRecordedEventAttributes: failed }),
    event(4, { markerRecordedEventAttributes: paid }),
  ])

  expect(treeOf(entries).children).toMatchObject([
    {
      id: 'run-1:step:1',
      output: 'paid',
      error: null,
      attributes: { attempts: 2, local: true, lastFailure: { message: 'not yet' } },
    },
  ])
})

test('history: local activities of the Go and the Java SDK are steps too', async () => {
  const payloadsOf = (details: object) =>
    Object.fromEntries(Object.entries(details).map(([key, value]) => [key, { payloads: [toPayload(value)] }]))
  const marker = (id: number, details: object, failure?: object) =>
    event(id, {
      markerRecordedEventAttributes: {
        markerName: 'LocalActivity',
        details: payloadsOf(details),
        ...(failure && { failure }),
      },
    })
  const ofGo = { ActivityID: '1', ActivityType: 'Pay', ReplayTime: '1970-01-01T00:00:02Z', Attempt: 2, Backoff: 0 }
  const ofJava = { activityId: 'a-1', type: 'Ship', time: 3000, input: 'box' }

  const entries = await entriesOf([
    marker(2, { data: ofGo, result: 'paid' }),
    marker(3, { data: { ...ofGo, ActivityID: '2' } }, { message: 'no money' }),
    marker(4, { ...ofJava, meta: { firstSkd: 2500, atpt: 1, backoff: 60 } }, { message: 'not yet' }),
    marker(5, { ...ofJava, activityId: 'a-2', meta: { firstSkd: 2500, atpt: 2, backoff: null }, result: 'shipped' }),
    marker(6, { data: 'no local activity' }),
  ])

  expect(treeOf(entries).children).toMatchObject([
    {
      id: 'run-1:step:1',
      name: 'Pay',
      endedAt: 2000,
      output: 'paid',
      attributes: { activityId: '1', local: true, attempts: 2 },
    },
    {
      id: 'run-1:step:a-1',
      name: 'Ship',
      startedAt: 2500,
      endedAt: 5000,
      input: 'box',
      output: 'shipped',
      attributes: { attempts: 2, lastFailure: { message: 'not yet' } },
    },
    { id: 'run-1:step:2', error: { message: 'no money' }, endedAt: 3000 },
  ])
})

test('history: a cancellation has the reason of its request', async () => {
  const [, ended] = await entriesOf([
    event(2, { workflowExecutionCancelRequestedEventAttributes: { cause: 'too late' } }),
    event(3, { workflowExecutionCanceledEventAttributes: {} }),
  ])

  expect(ended).toMatchObject({
    phase: 'ended',
    error: { name: 'CanceledFailure', message: expect.stringContaining('too late') },
  })
})

test('history: markers that are not of local activities are left out', async () => {
  const entries = await entriesOf([
    event(2, {
      markerRecordedEventAttributes: {
        markerName: 'core_local_activity',
        details: { data: { payloads: [{ data: new Uint8Array([1]) }] } },
      },
    }),
    event(3, { markerRecordedEventAttributes: { markerName: 'SideEffect' } }),
  ])

  expect(treeOf(entries).children).toEqual([])
})

test('history: all values are decoded with one call of the codec', async () => {
  let asked = 0
  const decodeEach: typeof payloads.decodeEach = (given) => {
    asked++
    return payloads.decodeEach(given)
  }
  const [run] = recorded('typescript')
  await createHistoryReader(run ?? RUN, { ...payloads, decodeEach }).entriesOf(run?.events.slice(0, -1) ?? [])

  expect(asked).toBe(1)
})

test('history: a local activity has its own duration, however late in its workflow task it began', async () => {
  const marker = (activityId: string, scheduled: number, completed: number) => {
    const times = { original_schedule_time: atSecond(scheduled), complete_time: atSecond(completed) }
    return { markerRecordedEventAttributes: coreMarker({ attempt: 1, activity_id: activityId, ...times }) }
  }
  // Core says the start of the workflow task plus the duration: 2 + 4 and 2 + 3.
  const entries = await entriesOf([
    event(2, { workflowTaskStartedEventAttributes: {} }),
    event(20, marker('1', 2, 6)),
    event(21, marker('2', 6, 5)),
  ])

  expect(treeOf(entries).children.map(({ startedAt, endedAt }) => [startedAt, endedAt])).toEqual([
    [2000, 6000],
    [6000, 9000],
  ])
})

test('history: an activity that never responded to a cancel request is abandoned when its run ends', async () => {
  const entries = await entriesOf([
    event(2, { activityTaskScheduledEventAttributes: { activityId: '1', activityType: { name: 'slow' } } }),
    event(3, { activityTaskCancelRequestedEventAttributes: { scheduledEventId: number(2) } }),
    event(4, { workflowExecutionCompletedEventAttributes: {} }),
  ])

  expect(treeOf(entries).children).toMatchObject([
    { name: 'slow', endedAt: 4000, attributes: { cancelRequested: true, abandoned: true } },
  ])
})

test('history: a step has the queue time of its first attempt', async () => {
  const entries = await entriesOf([
    event(2, { activityTaskScheduledEventAttributes: { activityId: '1', activityType: { name: 'slow' } } }),
    event(5, { activityTaskStartedEventAttributes: { scheduledEventId: number(2), attempt: 1 } }),
    event(6, { activityTaskCompletedEventAttributes: { scheduledEventId: number(2) } }),
  ])

  expect(treeOf(entries).children).toMatchObject([{ startedAt: 2000, endedAt: 6000, attributes: { queueMs: 3000 } }])
})

test('history: what a workflow says about a step and a timer is their summary, unless it is no text', async () => {
  const scheduled = { activityTaskScheduledEventAttributes: { activityId: '1', activityType: { name: 'charge' } } }
  const says = (value: unknown): TemporalEvent => ({ userMetadata: { summary: toPayload(value) } })
  const entries = await entriesOf([
    event(2, { ...scheduled, ...says('card 4242') }),
    event(3, { timerStartedEventAttributes: { timerId: '7' }, ...says('the deadline') }),
    event(4, { timerStartedEventAttributes: { timerId: '8' }, ...says({ password: 's3cret' }) }),
  ])

  const { children } = treeOf(entries)
  expect(children.map(({ attributes }) => attributes.summary)).toEqual(['card 4242', 'the deadline', undefined])
  expect(JSON.stringify(entries.map(maskEntry))).not.toMatch(/4242|deadline/)
})
