import { expect, test } from 'vitest'
import type { RunCommand, StartCommand } from '../../../src/domain/model/workflows.ts'
import { makeApi, rejecting, rejection } from './api.ts'
import { result as completedResult } from './run-api.ts'

const result = { ...completedResult, runId: 'r', output: null }

const EITHER = 'must contain either input (one argument) or args (an array with one element per argument)'

function makeRunApi(options: { maxTimeoutMs?: number; maxBodyBytes?: number } = {}) {
  const commands: RunCommand[] = []
  const api = makeApi({
    ...options,
    workflows: {
      run: async (command) => {
        commands.push(command)
        return { ...result, output: command.args[0] }
      },
    },
  })
  return {
    ...api,
    commands,
    run: (body?: unknown, headers?: Record<string, string>) => api.call('POST', '/workflow/run', body, headers),
  }
}

/** The messages of the issues. */
async function issuesOf(response: Response): Promise<string[]> {
  expect(response.status).toBe(400)
  const body = await response.json()
  expect(body.error).toBe('ValidationError')
  return body.issues.map((issue: { path: string; message: string }) => `${issue.path} ${issue.message}`)
}

test('run: applies the defaults and returns the result', async () => {
  const { run, commands } = makeRunApi()

  const response = await run({ workflowName: 'greet', input: { name: 'Ada' } })

  expect([response.status, response.headers.get('Content-Type')]).toEqual([200, 'application/json'])
  expect(await response.json()).toEqual({ ...result, output: { name: 'Ada' } })
  expect(commands).toEqual([
    {
      workflowName: 'greet',
      args: [{ name: 'Ada' }],
      argumentPointer: '/input',
      catalog: 'orders',
      timeoutMs: 30_000,
    },
  ])
})

test('run: passes on the workflow id', async () => {
  const { run, commands } = makeRunApi()

  await run({ workflowName: 'greet', input: null, workflowId: 'ordérs/17' })

  expect(commands[0]?.workflowId).toBe('ordérs/17')
})

test('run: catalog wins over taskQueue, which wins over the default', async () => {
  const { run, commands } = makeRunApi()

  await run({ workflowName: 'greet', input: 1, catalog: 'a', taskQueue: 'b' })
  await run({ workflowName: 'greet', input: 1, taskQueue: 'b' })
  await run({ workflowName: 'greet', input: 1 })

  expect(commands.map((command) => command.catalog)).toEqual(['a', 'b', 'orders'])
})

test('run: reports that taskQueue is deprecated, in error responses too', async () => {
  const { run } = makeRunApi()
  const { call } = makeApi({ workflows: { run: rejecting('CatalogNotAvailableError') } })

  const responses = [
    await run({ workflowName: 'greet', input: 1, catalog: 'a', taskQueue: 'b' }),
    await call('POST', '/workflow/run', { workflowName: 'greet', input: 1, taskQueue: 'b' }),
    await run({ workflowName: 'greet', input: 1, catalog: 'a' }),
  ]

  const link = '<https://github.com/portico/portico/blob/main/docs/api.md#deprecated-fields>; rel="deprecation"'
  expect(responses.map(({ status, headers }) => [status, headers.get('Deprecation'), headers.get('Link')])).toEqual([
    [200, '@1767225600', link],
    [503, '@1767225600', link],
    [200, null, null],
  ])
})

test('run: accepts a timeout in milliseconds or with a unit', async () => {
  const { run, commands } = makeRunApi()

  for (const timeout of [1, 0.4, 86_400_000, '5s', '1.5m', '24h'])
    await run({ workflowName: 'greet', input: 1, timeout })

  expect(commands.map((command) => command.timeoutMs)).toEqual([1, 1, 86_400_000, 5000, 90_000, 86_400_000])
})

test('run: rejects any other timeout', async () => {
  const { run, commands } = makeRunApi()

  for (const timeout of [
    '0',
    '-1',
    '1e300',
    '1e400',
    '86400001',
    '"x"',
    '"30"',
    '"-5s"',
    '"1e3s"',
    '"0s"',
    '"25h"',
    '""',
    'null',
    '[30]',
    '{}',
    'true',
  ]) {
    const issues = await issuesOf(await run(`{"workflowName":"greet","input":1,"timeout":${timeout}}`))
    expect([timeout, issues.map((issue) => issue.split(' ')[0])]).toEqual([timeout, ['/timeout']])
  }
  expect(commands).toEqual([])
})

test('run: the default timeout is limited by the maximum', async () => {
  const { run, commands } = makeRunApi({ maxTimeoutMs: 1000 })

  await run({ workflowName: 'greet', input: 1 })

  expect(commands[0]?.timeoutMs).toBe(1000)
})

test('run: reports every issue of a body with its path', async () => {
  const { run } = makeRunApi()

  expect(await issuesOf(await run({ workflowName: 7, workflowId: null, catalog: '', taskQueue: [] }))).toEqual([
    '/workflowName must be a string, not a number',
    '/workflowId must be a string, not null',
    '/catalog must be 1 to 991 bytes of UTF-8, not 0',
    '/taskQueue must be a string, not an array',
    ` ${EITHER}`,
  ])
})

test('run: rejects unknown fields by name, including names of Object.prototype', async () => {
  const { run } = makeRunApi()

  expect(
    await issuesOf(await run('{"workflowName":"greet","input":1,"retires":3,"toString":1,"__proto__":{},"a/b~c":0}')),
  ).toEqual([
    '/retires is not a known field',
    '/toString is not a known field',
    '/__proto__ is not a known field',
    '/a~1b~0c is not a known field',
  ])
})

test('run: the response does not grow with the number of unknown fields', async () => {
  const { run } = makeRunApi()
  const keys = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`${at}${'x'.repeat(300)}`, at]))

  const response = await run({ workflowName: 'greet', input: 1, ...keys })

  expect(response.status).toBe(400)
  expect((await response.text()).length).toBeLessThan(15_000)
})

test('run: rejects a body that is not an object', async () => {
  const { run } = makeRunApi()

  const bodies = { null: 'null', '[1]': 'an array', '"x"': 'a string', '17': 'a number', true: 'a boolean' }
  for (const [body, type] of Object.entries(bodies))
    expect(await issuesOf(await run(body))).toEqual([` must be an object, not ${type}`])
})

test('run: rejects names and ids that must not reach the engine', async () => {
  const { run, commands } = makeRunApi()

  const bad: Record<string, unknown[]> = {
    workflowName: [null, ['echo'], '', '$', '$catalog', '__temporal_x', 'a\0b', '\ud800', 'x'.repeat(1001)],
    workflowId: [
      17,
      '',
      '.',
      '..',
      'catalog',
      'runs',
      'signal-with-start',
      'update-with-start',
      '$catalog:orders',
      '__temporal_x',
      'a\0',
      '\udfff',
      'é'.repeat(501),
    ],
    catalog: [null, '', '/_sys/x', '__temporal_x', '\0', '\ud800', 'x'.repeat(992)],
    taskQueue: [{}, '', '/_sys/x', '__temporal_x', '\0', '\ud800', 'x'.repeat(992)],
  }

  for (const [key, values] of Object.entries(bad)) {
    for (const value of values) {
      const issues = await issuesOf(await run({ workflowName: 'greet', input: 1, [key]: value }))
      expect([key, value, issues.map((issue) => issue.split(' ')[0])]).toEqual([key, value, [`/${key}`]])
    }
  }
  expect(commands).toEqual([])
})

test('run: accepts ids and names of the maximum length', async () => {
  const { run } = makeRunApi()

  const response = await run({
    workflowName: 'é'.repeat(500),
    input: 1,
    workflowId: 'x'.repeat(1000),
    catalog: 'y'.repeat(991),
  })

  expect(response.status).toBe(200)
})

test('run: a timeout is a 408 with the Location of the result, and without Retry-After', async () => {
  const details = { workflowId: 'orders/17 é', runId: 'r', workflowStatus: 'running' as const, retryAfterSeconds: 1 }
  const { call } = makeApi({
    workflows: { run: rejecting('WorkflowExecutionTimedOutError', 'still running', details) },
  })

  const response = await call('POST', '/workflow/run', { workflowName: 'greet', input: 1 })

  const facts = [response.status, response.headers.get('Location'), response.headers.get('Retry-After')]
  expect(facts).toEqual([408, '/workflow/orders%2F17%20%C3%A9/result', null])
  const body = await response.json()
  expect(body).toMatchObject({ workflowId: 'orders/17 é', runId: 'r', workflowStatus: 'running', source: 'gateway' })
})

function makeStartApi() {
  const commands: StartCommand[] = []
  const { call } = makeApi({
    workflows: {
      start: async (command) => {
        commands.push(command)
        return { workflowId: command.workflowId ?? 'generated', runId: 'r' }
      },
    },
  })
  return { commands, start: (body: unknown) => call('POST', '/workflow/start', body) }
}

test('start: returns the Location of the result', async () => {
  const { start } = makeStartApi()

  const response = await start({ workflowName: 'greet', input: 1, workflowId: 'a/b' })

  expect([response.status, response.headers.get('Location')]).toEqual([200, '/workflow/a%2Fb/result'])
  expect(await response.json()).toEqual({ workflowId: 'a/b', runId: 'r', status: 'running' })
})

test('start: validates the timeout and ignores it', async () => {
  const { start, commands } = makeStartApi()

  const good = await start({ workflowName: 'greet', input: 1, timeout: 5 })
  const bad = await start({ workflowName: 'greet', input: 1, timeout: -5 })

  expect([good.status, ...(await rejection(bad))]).toEqual([200, 400, 'ValidationError'])
  expect(commands).toEqual([{ workflowName: 'greet', args: [1], argumentPointer: '/input', catalog: 'orders' }])
})

test('input: may be null but not missing', async () => {
  const { run, commands } = makeRunApi()

  expect((await run({ workflowName: 'greet', input: null })).status).toBe(200)
  expect(await issuesOf(await run({ workflowName: 'greet' }))).toEqual([` ${EITHER}`])
  expect(commands.map(({ args }) => args)).toEqual([[null]])
})

test('args: are any number of arguments, instead of input', async () => {
  const { run, commands } = makeRunApi()

  await run({ workflowName: 'greet', args: [] })
  await run({ workflowName: 'greet', args: [['a', 'b'], null] })

  expect(commands.map(({ args, argumentPointer }) => [args, argumentPointer])).toEqual([
    [[], '/input'],
    [[['a', 'b'], null], '/args/0'],
  ])
})

test('args: are rejected together with input, and when they are not an array; startArgs are unknown to run', async () => {
  const { run, commands } = makeRunApi()

  expect(await issuesOf(await run({ workflowName: 'greet', input: 1, args: [1] }))).toEqual([` ${EITHER}`])
  expect(await issuesOf(await run({ workflowName: 'greet', args: { 0: 1 } }))).toEqual([
    '/args must be an array, not an object',
  ])
  expect(await issuesOf(await run({ workflowName: 'greet', startArgs: [1] }))).toEqual([
    '/startArgs is not a known field',
    ` ${EITHER}`,
  ])
  expect(commands).toEqual([])
})

test('input: keeps numbers that a double cannot represent', async () => {
  const { run } = makeRunApi()
  const input = '{"id":9007199254740993,"list":[123456789012345678901234567890,0.1234567890123456789,1e400]}'

  const response = await run(`{"workflowName":"greet","input":${input}}`)

  expect(await response.text()).toContain(`"output":${input}`)
})

test('input: keeps own __proto__ keys and sets no prototype', async () => {
  const { run } = makeRunApi()
  const input = '{"__proto__":{"admin":true},"list":[{"__proto__":1}],"constructor":{"prototype":{"x":1}}}'

  const response = await run(`{"workflowName":"greet","input":${input}}`)

  expect(await response.text()).toContain(`"output":${input}`)
  expect(({} as Record<string, unknown>).admin).toBeUndefined()
})

test('input: may contain NUL and lone surrogates', async () => {
  const { run } = makeRunApi()

  const response = await run({ workflowName: 'greet', input: 'a\0b\ud800' })

  expect(await response.json()).toMatchObject({ output: 'a\0b\ud800' })
})
