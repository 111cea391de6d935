import { expect, test } from 'vitest'
import type { RunCommand } from '../../../../src/service/model/commands.ts'
import { makeApi } from './api.ts'
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

test('run: the response does not grow with the number of unknown fields (threat 104)', async () => {
  const { run } = makeRunApi()
  const keys = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`${at}${'x'.repeat(300)}`, at]))

  const response = await run({ workflowName: 'greet', input: 1, ...keys })

  expect(response.status).toBe(400)
  expect((await response.text()).length).toBeLessThan(15_000)
})
