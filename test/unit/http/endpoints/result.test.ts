import { expect, test } from 'vitest'
import { type ErrorName, ServiceError } from '../../../../src/domain/model/errors.ts'
import type { ResultCommand } from '../../../../src/domain/model/workflows.ts'
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

test('result: a timeout may be repeated at the same URL', async () => {
  const details = { ...RUN, retryAfterSeconds: 1 }
  const error = new ServiceError('WorkflowExecutionTimedOutError', 'did not complete', { details })

  const { status, headers } = await makeWaitApi({ error }).get(`/workflow/w%2F1/result?wait=1`)

  expect([status, headers.get('Location'), headers.get('Retry-After')]).toEqual([408, '/workflow/w%2F1/result', '1'])
})

test('result: with wait, Last-Event-ID names the run to wait for', async () => {
  const { get, commands } = makeWaitApi()

  await get(`${PATH}?wait=1`, { 'Last-Event-ID': `w/${RUN_ID}` })
  const ofAnother = await get(`${PATH}?wait=1`, { 'Last-Event-ID': `x/${RUN_ID}` })

  expect(commands).toEqual([{ ref: RUN, followsChain: true, waitMs: 1 }])
  expect(await rejection(ofAnother)).toEqual([404, 'WorkflowNotFoundError'])
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

test('result as events: Last-Event-ID names the run, in any case, and an empty one is ignored', async () => {
  const { get, commands } = makeWaitApi()

  await get(PATH, { ...EVENTS, 'Last-Event-ID': `w/${RUN_ID.toUpperCase()}` })
  await get(PATH, { ...EVENTS, 'Last-Event-ID': '' })
  await get(`/workflow/w/runs/${RUN_ID}/result`, { ...EVENTS, 'Last-Event-ID': `w/${RUN_ID}` })

  expect(commands.map(({ ref, followsChain }) => [ref, followsChain])).toEqual([
    [RUN, true],
    [{ workflowId: 'w' }, true],
    [RUN, false],
  ])
})

test('result as events: a client that has the result gets 204 without a wait', async () => {
  const { get, commands, checked } = makeWaitApi()

  const response = await get(PATH, { ...EVENTS, 'Last-Event-ID': `w/${RUN_ID}/end` })

  expect([response.status, await response.text(), commands, checked]).toEqual([204, '', [], [RUN]])
})

test('result as events: a client that may not read the run does not get 204', async () => {
  const { get } = makeWaitApi({ error: new ServiceError('ForbiddenError', 'no') })

  expect((await get(PATH, { ...EVENTS, 'Last-Event-ID': `w/${RUN_ID}/end` })).status).toBe(403)
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
  expect(await lastIds('NotSupportedError')).toEqual([started, 'w/later/end'])
  expect(await lastIds('WorkflowNotFoundError')).toEqual([started, 'w/later/end'])
})
