import { expect, test } from 'vitest'
import type { Call } from '../../../src/domain/call.ts'
import { ServiceError } from '../../../src/domain/errors.ts'
import type { FollowCommand, HistoryCommand, HistoryFeed, HistoryFeedPage } from '../../../src/domain/workflows.ts'
import { makeApi, refusal } from './api.ts'

const RUN = {
  workflowId: 'w',
  runId: 'r',
  status: 'running' as const,
  startedAt: null,
  completedAt: null,
  historyLength: 2,
  catalog: 'orders',
}
const PATH = '/workflow/w/history'

function page(...ids: number[]): HistoryFeedPage {
  return { events: ids.map((eventId) => ({ eventId, eventType: 'Any', eventTime: null })), closed: null }
}

test('history: passes the parameters on, waiting in milliseconds', async () => {
  const commands: HistoryCommand[] = []
  const history = async (command: HistoryCommand) => {
    commands.push(command)
    return { workflow: RUN, events: [], nextPageToken: null }
  }
  const { call } = makeApi({ workflows: { history } })

  await call('GET', PATH)
  await call('GET', `${PATH}?pageSize=7&pageToken=t&wait=1.5s&includePayloads=false`)

  const ref = { workflowId: 'w' }
  expect(commands).toEqual([
    { ref, pageSize: 100, pageToken: null, waitMs: 0, includePayloads: true },
    { ref, pageSize: 7, pageToken: 't', waitMs: 1500, includePayloads: false },
  ])
})

test('history stream: the events have ids, and begin after Last-Event-ID', async () => {
  const commands: FollowCommand[] = []
  async function* pages() {
    yield page(8, 9)
    yield { ...page(10), closed: { ...RUN, status: 'completed' as const } }
  }
  const followHistory = async (command: FollowCommand): Promise<HistoryFeed> => {
    commands.push(command)
    return { workflow: RUN, pages: pages() }
  }
  const { call } = makeApi({ workflows: { followHistory } })

  const response = await call('GET', `${PATH}/stream`, undefined, { 'Last-Event-ID': '7' })

  expect(commands).toEqual([{ ref: { workflowId: 'w' }, after: 7, includePayloads: true }])
  expect(
    [...(await response.text()).matchAll(/(?:^id: (\d+)\n)?^event: (\w+)/gm)].map(([, id, name]) => [name, id]),
  ).toEqual([
    ['workflow', undefined],
    ['history', '8'],
    ['history', '9'],
    ['history', '10'],
    ['done', undefined],
  ])
})

test('history stream: an error between two events is one, and is logged with its status', async () => {
  async function* pages() {
    yield page(1)
    throw new ServiceError('EngineUnavailableError', 'The workflow engine is not responding.')
  }
  const followHistory = async (): Promise<HistoryFeed> => ({ workflow: RUN, pages: pages() })
  const { call, events } = makeApi({ workflows: { followHistory } })

  const text = await (await call('GET', `${PATH}/stream`)).text()

  expect(text).toMatch(/id: 1\n(?:.*\n)*event: server_error\ndata: \{.*"status":503,.*"error":"EngineUnavailableError"/)
  expect(events.at(-1)?.fields).toMatchObject({ route: '/workflow/:id/history/stream', status: 503 })
})

test('history stream: a page is read only after the client has taken the one before', async () => {
  let read = 0
  async function* pages({ signal }: Call) {
    while (!signal.aborted) yield page(++read)
  }
  const followHistory = async (_: FollowCommand, call: Call): Promise<HistoryFeed> => ({
    workflow: RUN,
    pages: pages(call),
  })
  const { call } = makeApi({ workflows: { followHistory } })

  const { body } = await call('GET', `${PATH}/stream`)
  const chunks = body?.getReader()
  for (let taken = 0; taken < 5; taken++) await chunks?.read()
  for (let turns = 0; turns < 100; turns++) await new Promise((resolve) => setImmediate(resolve))
  await chunks?.cancel()

  expect(read).toBeGreaterThanOrEqual(4)
  expect(read).toBeLessThanOrEqual(8)
})

test('history stream: a Last-Event-ID that is not a number is rejected', async () => {
  const { call } = makeApi()

  expect(await refusal(await call('GET', `${PATH}/stream`, undefined, { 'Last-Event-ID': 'last' }))).toEqual([
    400,
    'ValidationError',
  ])
})
