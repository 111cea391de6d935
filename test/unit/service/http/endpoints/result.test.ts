import { expect, test } from 'vitest'
import type { ResultCommand } from '../../../../../src/service/model/commands.ts'
import { type ErrorName, ServiceError } from '../../../../../src/service/model/errors.ts'
import { makeApi, rejection } from '../api.ts'
import { RUN_ID, result } from '../run-api.ts'

const EVENTS = { Accept: 'text/event-stream' }
const PATH = '/workflow/w/result'
const RUN = { workflowId: 'w', runId: RUN_ID }

/** Its waits end with `error` if there is one. */
function makeWaitApi({ error, maxTimeoutMs }: { error?: ServiceError; maxTimeoutMs?: number } = {}) {
  const commands: ResultCommand[] = []
  const checked: object[] = []
  const api = makeApi({
    ...(maxTimeoutMs !== undefined && { maxTimeoutMs }),
    workflows: {
      async checkRead(ref) {
        checked.push(ref)
        if (error !== undefined) throw error
      },
      async result({ onFound, ...command }) {
        commands.push(command)
        onFound?.(RUN)
        if (error !== undefined) throw error
        return result
      },
    },
  })
  const get = (path: string, headers?: Record<string, string>) => api.call('GET', path, undefined, headers)
  return { ...api, get, commands, checked }
}

const waitsOf = (commands: ResultCommand[]) => commands.map(({ waitMs }) => waitMs)

test('result: waits only if the query has wait, and then knows no other parameter', async () => {
  const { get, commands } = makeWaitApi()

  const plain = await get(`${PATH}?x=1&x=2&%zz`)
  const waited = await get(`${PATH}?wait=1.5s`)
  const pinned = await get(`/workflow/w/runs/${RUN_ID}/result?wait=0`)
  const wrong = await get(`${PATH}?wait=1&x=1`)

  expect([plain, waited, pinned, wrong].map(({ status }) => status)).toEqual([200, 200, 200, 400])
  expect(commands).toEqual([
    { ref: { workflowId: 'w' }, followsChain: true, waitMs: null },
    { ref: { workflowId: 'w' }, followsChain: true, waitMs: 1500 },
    { ref: RUN, followsChain: false, waitMs: 0 },
  ])
})

test('result: HEAD with Accept: text/event-stream waits for nothing', async () => {
  const { call, commands } = makeWaitApi()

  const { status, body } = await call('HEAD', PATH, undefined, EVENTS)

  expect([status, body, waitsOf(commands)]).toEqual([200, null, [null]])
})

test('result as events: waits 5 minutes by default, or the maximum if that is less', async () => {
  const normal = makeWaitApi()
  const strict = makeWaitApi({ maxTimeoutMs: 60_000 })

  await normal.get(PATH, EVENTS)
  await normal.get(`${PATH}?wait=10m`, EVENTS)
  await strict.get(PATH, EVENTS)
  const tooLong = await strict.get(`${PATH}?wait=61s`, EVENTS)

  expect(waitsOf(normal.commands)).toEqual([300_000, 600_000])
  expect(waitsOf(strict.commands)).toEqual([60_000])
  expect((await rejection(tooLong))[0]).toBe(400)
})

test('result as events: a client that may not read the run does not get 204', async () => {
  const { get } = makeWaitApi({ error: new ServiceError('ForbiddenError', 'no') })

  expect((await get(PATH, { ...EVENTS, 'Last-Event-ID': `w/${RUN_ID}@end` })).status).toBe(403)
})

test('result as events: after a timeout and a transient error a client may reconnect, at the current run', async () => {
  const lastIds = async (name: ErrorName) => {
    const error = new ServiceError(name, 'no', { details: { ...RUN, runId: 'later' } })
    const text = await (await makeWaitApi({ error }).get(PATH, EVENTS)).text()
    return [...text.matchAll(/^id: (.*)$/gm)].map(([, id]) => id)
  }
  const started = `w/${RUN_ID}`

  expect(await lastIds('WorkflowExecutionTimedOutError')).toEqual([started, 'w/later'])
  expect(await lastIds('EngineUnavailableError')).toEqual([started, 'w/later'])
  expect(await lastIds('PayloadCodecError')).toEqual([started, 'w/later'])
  expect(await lastIds('NotSupportedError')).toEqual([started, 'w/later@end'])
  expect(await lastIds('WorkflowNotFoundError')).toEqual([started, 'w/later@end'])
})

test('result: with pending=202 an open run is a 202 with its ids, with or without wait, pinned too', async () => {
  const open = { ...RUN, workflowStatus: 'running' as const }
  const notCompleted = new ServiceError('WorkflowNotCompletedError', 'open', { details: open })
  const timedOut = new ServiceError('WorkflowExecutionTimedOutError', 'open', {
    details: { ...open, retryAfterSeconds: 1 },
  })
  const path = '/workflow/w%2F1/result'
  const pinned = `/workflow/w/runs/${RUN_ID}/result`

  const answers = [
    await makeWaitApi({ error: notCompleted }).get(`${path}?pending=202`),
    await makeWaitApi({ error: timedOut }).get(`${path}?wait=1&pending=202`),
    await makeWaitApi({ error: notCompleted }).get(`${pinned}?pending=202`),
    await makeWaitApi({ error: notCompleted }).get(`${path}?pending=202&body=output`),
  ]

  expect(answers.map(({ status, headers }) => [status, headers.get('Location'), headers.get('Retry-After')])).toEqual([
    [202, `${path}?pending=202`, '1'],
    [202, `${path}?pending=202`, '1'],
    [202, `${pinned}?pending=202`, '1'],
    [202, `${path}?pending=202&body=output`, '1'],
  ])
  for (const answer of answers)
    expect(await answer.json()).toEqual({ workflowId: RUN.workflowId, runId: RUN.runId, status: 'running' })
})

test('result: with pending=202 a wait that the end of the credential has ended is a 424, and other values are a 400', async () => {
  const expired = new ServiceError('WorkflowExecutionTimedOutError', 'expired', { details: RUN })
  const { get } = makeWaitApi({ error: expired })

  const answers = [await get('/workflow/w/result?wait=1&pending=202'), await get('/workflow/w/result?pending=200')]

  expect(answers.map(({ status, headers }) => [status, headers.get('Location')])).toEqual([
    [424, '/workflow/w/result'],
    [400, null],
  ])
})
