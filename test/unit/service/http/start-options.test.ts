import { expect, test } from 'vitest'
import type { Call } from '../../../../src/service/model/call.ts'
import type { StartCommand } from '../../../../src/service/model/commands.ts'
import { makeApi } from './api.ts'

function makeStartApi() {
  const commands: StartCommand[] = []
  const calls: Call[] = []
  const { call } = makeApi({
    workflows: {
      start: async (command, context) => {
        commands.push(command)
        calls.push(context)
        return { workflowId: 'w', runId: 'r' }
      },
    },
  })
  const start = (options: object, headers?: Record<string, string>) =>
    call('POST', '/workflow/start', { workflowName: 'greet', input: 1, ...options }, headers)
  return { commands, calls, start }
}

const attribute = (type: string, value: unknown) => ({ searchAttributes: { A: { type, value } } })

test.for<[path: string, options: object]>([
  ['/memo', { memo: [] }],
  ['/memo/trace', { memo: { trace: { local: '/a.json' } } }],
  ['/memo/trace', { memo: { trace: { destinations: { remote: 's3://b/a.json' } } } }],
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
  ['/searchAttributes/A/value', attribute('datetime', '2026-02-30T00:00:00Z')],
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
  ['/versioningOverride', { versioningOverride: {} }],
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

test('start options: a memo field trace is the user’s unless it is the location of a trace', async () => {
  const { commands, start } = makeStartApi()
  const values = ['abc123', 1, null, {}, { traceId: 'abc' }, { local: true }, { destinations: { id: 'x' } }]

  for (const trace of values) await start({ memo: { trace } })

  expect(commands.map(({ options }) => options?.memo)).toEqual(values.map((trace) => ({ trace })))
})

test('start options: a datetime is sent as the engine reads it', async () => {
  const { commands, start } = makeStartApi()

  await start(attribute('datetime', '2026-11-28 07:50+0100'))

  expect(commands[0]?.options?.searchAttributes).toEqual({
    A: { type: 'datetime', value: '2026-11-28T07:50:00+01:00' },
  })
})

test('start options: a fairness key has at most 64 bytes', async () => {
  const { commands, start } = makeStartApi()

  await start({ priority: { fairnessKey: 'é'.repeat(32) } })

  expect(commands[0]?.options?.priority).toEqual({ fairnessKey: 'é'.repeat(32) })
})

test('start options: a key __proto__ is rejected, because it would be lost (threat 50)', async () => {
  const { start } = makeStartApi()

  const response = await start(JSON.parse('{"memo": {"__proto__": 1}}'))

  expect((await response.json()).issues).toMatchObject([{ path: '/memo/__proto__' }])
})

test('trace context: a valid traceparent is passed on with its tracestate, an invalid one is not (threat 52)', async () => {
  const { calls, start } = makeStartApi()
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

  await start({}, { traceparent, tracestate: 'a=b' })
  await start({}, { traceparent: 'nonsense', tracestate: 'a=b' })

  expect(calls.map(({ traceContext }) => traceContext)).toEqual([{ traceparent, tracestate: 'a=b' }, undefined])
})
