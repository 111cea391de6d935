import { expect, test } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { createEngine } from '../../../src/service/engine/engine.ts'
import type { Transport } from '../../../src/service/engine/transport/transport.ts'
import type { WorkflowOptions } from '../../../src/service/model/workflow-options.ts'
import { toDurationMs } from '../../../src/shared/temporal/time.ts'
import { call, type EngineFixture, rejection } from './engine-fixture.ts'

/** The options of a start, as the engine has recorded them, and the headers of starts and messages. */
export function startOptions(fixture: EngineFixture): void {
  const start = (options: WorkflowOptions, workflowId: string = crypto.randomUUID(), workflowName = 'neverEnds') =>
    fixture.engine.start({ workflowId, workflowName, catalog: fixture.taskQueue, args: [], options }, call())

  const end = ({ workflowId, runId }: { workflowId: string; runId: string }) =>
    fixture.engine.terminate({ workflowId, runId }, null, call())

  async function history({ workflowId, runId }: { workflowId: string; runId: string }) {
    const execution = { workflowId, runId }
    const { workflowService } = fixture.connection
    const read = await workflowService.getWorkflowExecutionHistory({ namespace: 'default', execution })
    return read.history?.events ?? []
  }

  /** The first event of a run with these options, which is then terminated. */
  async function started(options: WorkflowOptions) {
    const run = await start(options)
    const [event] = await history(run)
    await end(run)
    const attributes = event?.workflowExecutionStartedEventAttributes
    if (!attributes) throw new Error('the history has no first event')
    return { ...attributes, userMetadata: event?.userMetadata }
  }

  test('start: memo, search attributes, headers, summary and details are recorded with the run', async () => {
    const { memo, searchAttributes, header, userMetadata } = await started({
      memo: { order: { lines: [1, 'two', null] }, note: 'urgent' },
      searchAttributes: {
        OptionKeyword: { type: 'keyword', value: 'gold' },
        OptionText: { type: 'text', value: 'a few words' },
        OptionInt: { type: 'int', value: JSON.rawJSON('9007199254740993') },
        OptionDouble: { type: 'double', value: 1.5 },
        OptionBool: { type: 'bool', value: true },
        OptionDatetime: { type: 'datetime', value: '2026-01-31T12:00:00Z' },
        OptionKeywordList: { type: 'keyword_list', value: ['a', 'b'] },
      },
      headers: { tenant: { id: 7 }, plain: 'text' },
      summary: 'order 17',
      details: 'two lines\nof text',
    })

    expect(texts(memo?.fields)).toEqual({ order: '{"lines":[1,"two",null]}', note: '"urgent"' })
    expect(texts(searchAttributes?.indexedFields)).toMatchObject({
      OptionKeyword: '"gold"',
      OptionText: '"a few words"',
      OptionInt: '9007199254740993',
      OptionDouble: '1.5',
      OptionBool: 'true',
      OptionDatetime: '"2026-01-31T12:00:00Z"',
      OptionKeywordList: '["a","b"]',
    })
    expect(texts(header?.fields)).toEqual({ tenant: '{"id":7}', plain: '"text"' })
    expect(texts(userMetadata ?? {})).toEqual({ summary: '"order 17"', details: '"two lines\\nof text"' })
  })

  test('start: a search attribute without a type gets the registered one', async () => {
    const values = {
      OptionKeyword: 'gold',
      OptionText: 'a few words',
      OptionInt: JSON.rawJSON('9007199254740993'),
      OptionDouble: 1.5,
      OptionBool: true,
      OptionDatetime: '2026-01-31T13:00:00+01:00',
      OptionKeywordList: ['a', 'b'],
    }
    const entries = Object.entries(values).map(([name, value]) => [name, { type: null, value }] as const)

    const { searchAttributes } = await started({ searchAttributes: Object.fromEntries(entries) })

    const fields = searchAttributes?.indexedFields ?? {}
    const types = Object.entries(fields).map(([name, { metadata }]) => [
      name,
      decoder.decode(metadata?.type ?? undefined),
    ])
    expect(texts(fields)).toEqual(
      Object.fromEntries(Object.entries(values).map(([name, value]) => [name, JSON.stringify(value)])),
    )
    expect(Object.fromEntries(types)).toEqual({
      OptionKeyword: 'Keyword',
      OptionText: 'Text',
      OptionInt: 'Int',
      OptionDouble: 'Double',
      OptionBool: 'Bool',
      OptionDatetime: 'Datetime',
      OptionKeywordList: 'KeywordList',
    })
  })

  test('start: timeouts, delay, retry policy, priority and versioning are recorded with the run', async () => {
    const attributes = await started({
      startDelayMs: 3_600_000,
      executionTimeoutMs: 90_500,
      runTimeoutMs: 60_000,
      taskTimeoutMs: 45_000,
      retry: {
        initialIntervalMs: 500,
        backoffCoefficient: 1.5,
        maximumIntervalMs: 10_000,
        maximumAttempts: 3,
        nonRetryableErrorTypes: ['BadInput'],
      },
      priority: { priorityKey: 2, fairnessKey: 'customer-1', fairnessWeight: 2.5 },
      versioningOverride: 'auto-upgrade',
    })

    const { workflowExecutionTimeout, workflowRunTimeout, workflowTaskTimeout, firstWorkflowTaskBackoff } = attributes
    const durations = [workflowExecutionTimeout, workflowRunTimeout, workflowTaskTimeout, firstWorkflowTaskBackoff]
    expect(durations.map(toDurationMs)).toEqual([90_500, 60_000, 45_000, 3_600_000])
    const { initialInterval, maximumInterval, ...policy } = attributes.retryPolicy ?? {}
    expect([initialInterval, maximumInterval].map(toDurationMs)).toEqual([500, 10_000])
    expect(policy).toMatchObject({ backoffCoefficient: 1.5, maximumAttempts: 3, nonRetryableErrorTypes: ['BadInput'] })
    expect(attributes.priority).toMatchObject({ priorityKey: 2, fairnessKey: 'customer-1', fairnessWeight: 2.5 })
    expect(attributes.versioningOverride?.autoUpgrade).toBe(true)
  })

  test('start: a cron schedule is recorded, and each rejected option is a ValidationError before anything starts', async () => {
    const workflowId = crypto.randomUUID()
    const invalid: [path: string, options: WorkflowOptions][] = [
      ['/searchAttributes/Nope', { searchAttributes: { Nope: { type: 'int', value: 1 } } }],
      ['/searchAttributes/Nope', { searchAttributes: { Nope: { type: null, value: 1 } } }],
      ['/searchAttributes/OptionInt', { searchAttributes: { OptionInt: { type: 'keyword', value: 'x' } } }],
      ['/searchAttributes/OptionInt', { searchAttributes: { OptionInt: { type: null, value: 'x of type Bool: y' } } }],
      [
        '/searchAttributes/OptionKeyword',
        { searchAttributes: { OptionKeyword: { type: 'text', value: 'x'.repeat(3000) } } },
      ],
      ['/searchAttributes/WorkflowId', { searchAttributes: { WorkflowId: { type: 'keyword', value: 'x' } } }],
      ['/cronSchedule', { cronSchedule: 'every day' }],
      ['/retry/maximumInterval', { retry: { initialIntervalMs: 2000, maximumIntervalMs: 1000 } }],
      [
        '/versioningOverride/pinned',
        { versioningOverride: { pinned: { deploymentName: 'shop', buildId: 'no-such' } } },
      ],
    ]

    const rejected = await Promise.all(invalid.map(([, options]) => rejection(start(options, workflowId))))
    const { cronSchedule } = await started({ cronSchedule: '@every 1h' })

    expect(rejected.map(({ error, issues }) => [error, issues?.[0]?.path])).toEqual(
      invalid.map(([path]) => ['ValidationError', path]),
    )
    expect(await rejection(fixture.engine.describe({ workflowId }, call()))).toMatchObject({
      error: 'WorkflowNotFoundError',
    })
    expect(cronSchedule).toBe('@every 1h')
  })

  test('start: the conflict policy decides about an open run, and the result says whether the run existed', async () => {
    const first = await start({ workflowIdConflictPolicy: 'use-existing' })
    const { workflowId, runId } = first

    const rejected = await rejection(start({ workflowIdConflictPolicy: 'fail' }, workflowId))
    const existing = await start({ workflowIdConflictPolicy: 'use-existing' }, workflowId)
    const second = await start({ workflowIdConflictPolicy: 'terminate-existing' }, workflowId)

    expect(first.isExisting).toBeUndefined()
    expect(rejected).toMatchObject({ error: 'WorkflowAlreadyStartedError', runId })
    expect(existing).toEqual({ ...first, isExisting: true })
    expect([second.runId === runId, second.isExisting]).toEqual([false, undefined])
    expect((await fixture.closed(first)).outcome.status).toBe('terminated')
    await end(second)
  })

  test('start: the reuse policy decides about the id of a closed run', async () => {
    const first = await start({}, undefined, 'nothing')
    await fixture.closed(first)
    const again = (workflowIdReusePolicy: 'allow-duplicate-failed-only' | 'reject-duplicate') =>
      rejection(start({ workflowIdReusePolicy }, first.workflowId))

    expect(await again('reject-duplicate')).toMatchObject({ error: 'WorkflowAlreadyStartedError' })
    expect(await again('allow-duplicate-failed-only')).toMatchObject({ error: 'WorkflowAlreadyStartedError' })
    const second = await start({ workflowIdReusePolicy: 'allow-duplicate' }, first.workflowId)
    expect(second.runId).not.toBe(first.runId)
    await end(second)
    // A terminated run counts as failed.
    await end(await start({ workflowIdReusePolicy: 'allow-duplicate-failed-only' }, first.workflowId))
  })

  test('headers: start, signal and update carry the trace context, forwarded headers and those of the body', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const withHeaders = {
      ...call(),
      traceContext: { traceparent },
      forwardedHeaders: { 'x-tenant': 'a', both: 'http' },
    }
    const headers = { both: { from: 'body' } }
    const { engine, taskQueue: catalog } = fixture
    const request = {
      workflowId: crypto.randomUUID(),
      workflowName: 'messages',
      catalog,
      args: [],
      options: { headers },
    }

    const run = await engine.start(request, withHeaders)
    await engine.update(run, { name: 'set', args: ['x'], headers }, 'u', withHeaders)
    await engine.signal(run, { name: 'add', args: ['x'], headers }, withHeaders)
    const events = await until('the signal is recorded', async () => {
      const all = await history(run)
      return all.some((event) => event.workflowExecutionSignaledEventAttributes) ? all : null
    })
    await end(run)

    const recorded = events.flatMap((event) => {
      const accepted = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input
      const { header } =
        event.workflowExecutionStartedEventAttributes ??
        accepted ??
        event.workflowExecutionSignaledEventAttributes ??
        {}
      return header ? [texts(header.fields)] : []
    })
    const expected = { '_tracer-data': JSON.stringify({ traceparent }), 'x-tenant': '"a"', both: '{"from":"body"}' }
    expect(recorded).toEqual([expected, expected, expected])
  })

  // The engine records no queries.
  test('headers: a query sends them to the engine', async () => {
    const sent: unknown[] = []
    const { transport } = fixture
    const recording: Transport = {
      ...transport,
      call(method, message, options) {
        if (method === 'queryWorkflow') sent.push(message)
        return transport.call(method, message, options)
      },
    }
    const engine = createEngine({ transport: recording, namespace: 'default', maxPayloadBytes: 100_000, codec: null })
    const run = await fixture.start('messages')

    expect(await engine.query(run, { name: 'echo', args: [1], headers: { a: 'b' } }, call())).toEqual([1])

    await end(run)
    expect(sent).toMatchObject([{ query: { header: { fields: { a: { data: new TextEncoder().encode('"b"') } } } } }])
  })

  test('headers and memo count towards the limit on payloads', async () => {
    const large = 'x'.repeat(2 * 1024 * 1024)

    const rejected = await Promise.all([
      rejection(start({ headers: { large } })),
      rejection(start({ memo: { large } })),
      rejection(fixture.engine.signal({ workflowId: 'w' }, { name: 's', args: [], headers: { large } }, call())),
    ])

    expect(rejected.map(({ error, source }) => [error, source])).toEqual(
      rejected.map(() => ['PayloadTooLargeError', 'gateway']),
    )
  })

  test('checkStart: rejects what is too large to be sent, and starts nothing', async () => {
    const workflowId = crypto.randomUUID()
    const request = { workflowId, workflowName: 'neverEnds', catalog: fixture.taskQueue, args: [1] }
    const memo = { large: 'x'.repeat(2 * 1024 * 1024) }

    const rejected = await rejection(fixture.engine.checkStart({ ...request, options: { memo } }, call()))
    await fixture.engine.checkStart(request, call())

    expect([rejected.error, rejected.source]).toEqual(['PayloadTooLargeError', 'gateway'])
    expect((await rejection(fixture.engine.describe({ workflowId }, call()))).error).toBe('WorkflowNotFoundError')
  })
}

const decoder = new TextDecoder()

/** The JSON of each payload. */
function texts(fields: object | null | undefined): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields ?? {}).flatMap(([key, payload]) =>
      payload?.data ? [[key, decoder.decode(payload.data)]] : [],
    ),
  )
}
