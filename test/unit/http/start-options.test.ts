import { expect, test } from 'vitest'
import type { Call } from '../../../src/domain/model/call.ts'
import type { RunCommand, StartCommand } from '../../../src/domain/model/workflows.ts'
import { makeApi } from './api.ts'
import { result } from './run-api.ts'

function makeStartApi({ isExisting }: { isExisting?: true } = {}) {
  const commands: StartCommand[] = []
  const calls: Call[] = []
  const run = { workflowId: 'w', runId: 'r', ...(isExisting && { isExisting }) }
  const { call } = makeApi({
    workflows: {
      start: async (command, context) => {
        commands.push(command)
        calls.push(context)
        return run
      },
      run: async (command: RunCommand) => {
        command.onStarted?.(run)
        return result
      },
    },
  })
  const send = (verb: string, options: object, headers?: Record<string, string>) =>
    call('POST', `/workflow/${verb}`, { workflowName: 'greet', input: 1, ...options }, headers)
  return { commands, calls, send, start: (options: object) => send('start', options) }
}

test('start options: durations are milliseconds, and everything else is passed on unchanged', async () => {
  const { commands, start } = makeStartApi()
  const unchanged = {
    memo: { a: { b: [1] } },
    searchAttributes: { Customer: { type: 'keyword_list', value: ['a'] } },
    headers: { tenant: 1 },
    cronSchedule: '@every 1h',
    workflowIdConflictPolicy: 'terminate-existing',
    workflowIdReusePolicy: 'allow-duplicate-failed-only',
    priority: { priorityKey: 1, fairnessKey: 'a', fairnessWeight: 0.5 },
    versioningOverride: { pinned: { deploymentName: 'shop', buildId: '1' } },
    summary: 's',
    details: 'd',
  }
  const retry = { initialInterval: '1s', maximumInterval: 5000, backoffCoefficient: 2, maximumAttempts: 0 }

  await start({ ...unchanged, executionTimeout: '1h', runTimeout: '1m', taskTimeout: '10s', retry })
  await start({ startDelay: 0.5, versioningOverride: 'auto-upgrade' })

  expect(commands.map(({ options }) => options)).toEqual([
    {
      ...unchanged,
      executionTimeoutMs: 3_600_000,
      runTimeoutMs: 60_000,
      taskTimeoutMs: 10_000,
      retry: { initialIntervalMs: 1000, maximumIntervalMs: 5000, backoffCoefficient: 2, maximumAttempts: 0 },
    },
    { startDelayMs: 1, versioningOverride: 'auto-upgrade' },
  ])
})

test('start options: a search attribute that is a value alone has no type', async () => {
  const { commands, start } = makeStartApi()

  await start({ searchAttributes: { A: 'x', B: 1.5, C: false, D: ['a', 'b'], E: { type: 'int', value: 1 } } })

  expect(commands[0]?.options?.searchAttributes).toEqual({
    A: { type: null, value: 'x' },
    B: { type: null, value: 1.5 },
    C: { type: null, value: false },
    D: { type: null, value: ['a', 'b'] },
    E: { type: 'int', value: 1 },
  })
})

const attribute = (type: string, value: unknown) => ({ searchAttributes: { A: { type, value } } })

test.for<[path: string, options: object]>([
  ['/memo', { memo: [] }],
  ['/memo/trace', { memo: { trace: 1 } }],
  ['/memo/$asks', { memo: { $asks: {} } }],
  ['/headers', { headers: 'x' }],
  ['/headers/', { headers: { '': 1 } }],
  ['/searchAttributes/A', { searchAttributes: { A: null } }],
  ['/searchAttributes/A', { searchAttributes: { A: '\u0000' } }],
  ['/searchAttributes/A/1', { searchAttributes: { A: ['x', 1] } }],
  ['/searchAttributes/A/type', { searchAttributes: { A: { value: 'x' } } }],
  ['/searchAttributes/A/value', { searchAttributes: { A: { type: 'int' } } }],
  ['/searchAttributes/A/type', attribute('number', 1)],
  ['/searchAttributes/A/value', attribute('keyword', 1)],
  ['/searchAttributes/A/value', attribute('int', 1.5)],
  ['/searchAttributes/A/value', attribute('double', '1')],
  ['/searchAttributes/A/value', attribute('bool', 'true')],
  ['/searchAttributes/A/value', attribute('datetime', 'today')],
  ['/searchAttributes/A/value/1', attribute('keyword_list', ['a', 1])],
  ['/searchAttributes/A/more', { searchAttributes: { A: { type: 'int', value: 1, more: 1 } } }],
  ['/startDelay', { startDelay: 0 }],
  ['/startDelay', { startDelay: '1s', cronSchedule: '* * * * *' }],
  ['/executionTimeout', { executionTimeout: 'soon' }],
  ['/runTimeout', { runTimeout: null }],
  ['/taskTimeout', { taskTimeout: '3m' }],
  ['/retry', { retry: 3 }],
  ['/retry/attempts', { retry: { attempts: 3 } }],
  ['/retry/initialInterval', { retry: { initialInterval: -1 } }],
  ['/retry/backoffCoefficient', { retry: { backoffCoefficient: 0.5 } }],
  ['/retry/maximumAttempts', { retry: { maximumAttempts: 1.5 } }],
  ['/retry/maximumAttempts', { retry: { maximumAttempts: 2.589e-42 } }],
  ['/retry/nonRetryableErrorTypes/0', { retry: { nonRetryableErrorTypes: [''] } }],
  ['/cronSchedule', { cronSchedule: '' }],
  ['/workflowIdConflictPolicy', { workflowIdConflictPolicy: 'replace' }],
  ['/workflowIdReusePolicy', { workflowIdReusePolicy: 'allow' }],
  [
    '/workflowIdReusePolicy',
    { workflowIdConflictPolicy: 'terminate-existing', workflowIdReusePolicy: 'reject-duplicate' },
  ],
  ['/priority/priorityKey', { priority: { priorityKey: 0 } }],
  ['/priority/fairnessKey', { priority: { fairnessKey: 'é'.repeat(33) } }],
  ['/priority/fairnessWeight', { priority: { fairnessWeight: 0 } }],
  ['/priority/level', { priority: { level: 1 } }],
  ['/versioningOverride', { versioningOverride: 'pinned' }],
  ['/versioningOverride/pinned', { versioningOverride: {} }],
  ['/versioningOverride/pinned/buildId', { versioningOverride: { pinned: { deploymentName: 'a' } } }],
  ['/versioningOverride/pinned/id', { versioningOverride: { pinned: { deploymentName: 'a', buildId: 'b', id: 1 } } }],
  ['/summary', { summary: 1 }],
  ['/details', { details: '\0' }],
])('start options: an invalid option is rejected at %s: %j', async ([path, options]) => {
  const { commands, start } = makeStartApi()

  const response = await start(options)

  expect(response.status).toBe(400)
  expect((await response.json()).issues).toEqual([{ path, message: expect.any(String) }])
  expect(commands).toEqual([])
})

test('start options: a key __proto__ is rejected, because it would be lost', async () => {
  const { start } = makeStartApi()

  const response = await start(JSON.parse('{"memo": {"__proto__": 1}}'))

  expect((await response.json()).issues).toMatchObject([{ path: '/memo/__proto__' }])
})

test('start options: only with use-existing do run and start say whether the run was started', async () => {
  const started = makeStartApi()
  const found = makeStartApi({ isExisting: true })
  const useExisting = { workflowIdConflictPolicy: 'use-existing' }

  const responses = await Promise.all([
    started.send('run', {}),
    started.send('start', {}),
    started.send('run', useExisting),
    started.send('start', useExisting),
    found.send('run', useExisting),
    found.send('start', useExisting),
  ])

  const expected = [null, null, 'true', 'true', 'false', 'false']
  expect(responses.map(({ headers }) => headers.get('Portico-Started'))).toEqual(expected)
})

test('trace context: a valid traceparent is passed on with its tracestate, an invalid one is not', async () => {
  const { calls, send } = makeStartApi()
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

  await send('start', {}, { traceparent, tracestate: 'a=b' })
  await send('start', {}, { traceparent: 'nonsense', tracestate: 'a=b' })

  expect(calls.map(({ traceContext }) => traceContext)).toEqual([{ traceparent, tracestate: 'a=b' }, undefined])
})
