import { expect, test } from 'vitest'
import type { Call } from '../../../../../src/service/model/call.ts'
import { ServiceError } from '../../../../../src/service/model/errors.ts'
import type {
  FollowCommand,
  HistoryCommand,
  HistoryFeed,
  HistoryFeedPage,
} from '../../../../../src/service/model/history-page.ts'
import { makeApi, rejection } from '../api.ts'

const RUN = {
  workflowId: 'w',
  runId: 'r',
  status: 'running' as const,
  startedAt: null,
  completedAt: null,
  historyLength: 2,
  catalog: 'orders',
}
const RUN_ID = '0198c0de-0000-7000-8000-00000000000a'
const PATH = '/workflow/w/history'

function page(...ids: number[]): HistoryFeedPage {
  return {
    events: ids.map((eventId) => ({ eventId, eventType: 'Any', eventTime: null })),
    last: ids.at(-1) ?? 0,
    closed: null,
  }
}

/** The app whose history has these pages, and the commands that it gets. */
function makeFeed(pagesOf: (call: Call) => HistoryFeed['pages']) {
  const commands: FollowCommand[] = []
  const api = makeApi({
    workflows: {
      async followHistory(command, call) {
        commands.push(command)
        return { workflow: RUN, pages: pagesOf(call) }
      },
    },
  })
  return { ...api, commands }
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
  for (const size of [1, 1000]) await call('GET', `${PATH}?pageSize=${size}`)

  const ref = { workflowId: 'w' }
  expect(commands).toEqual([
    { ref, pageSize: 100, pageToken: null, waitMs: 0, includePayloads: true },
    { ref, pageSize: 7, pageToken: 't', waitMs: 1500, includePayloads: false },
    ...[1, 1000].map((pageSize) => ({ ref, pageSize, pageToken: null, waitMs: 0, includePayloads: true })),
  ])
})

test('history stream: an error between two events is one, and is logged with its status', async () => {
  const { call, events } = makeFeed(async function* () {
    yield page(1)
    throw new ServiceError('EngineUnavailableError', 'The workflow engine is not responding.')
  })

  const text = await (await call('GET', `${PATH}/stream`)).text()

  expect(text).toMatch(
    /id: r@1\n(?:.*\n)*event: server_error\ndata: \{.*"status":503,.*"error":"EngineUnavailableError"/,
  )
  expect(events.at(-1)?.fields).toMatchObject({ route: '/workflow/:id/history/stream', status: 503 })
})

test('history stream: a page is read only after the client has taken the one before', async () => {
  let read = 0
  const { call } = makeFeed(async function* ({ signal }) {
    while (!signal.aborted) yield page(++read)
  })

  const { body } = await call('GET', `${PATH}/stream`)
  const chunks = body?.getReader()
  for (let taken = 0; taken < 5; taken++) await chunks?.read()
  for (let turns = 0; turns < 100; turns++) await new Promise((resolve) => setImmediate(resolve))
  await chunks?.cancel()

  expect(read).toBeGreaterThanOrEqual(4)
  expect(read).toBeLessThanOrEqual(8)
})

test('history stream: a Last-Event-ID that is not one of an event of this run is rejected (threat 42)', async () => {
  const { call } = makeApi()
  const other = RUN_ID.replace(/.$/, 'b')
  const wrong = [
    [`${PATH}/stream`, 'last'],
    [`${PATH}/stream`, '7'],
    [`${PATH}/stream`, 'run@7'],
    [`${PATH}/stream`, `${RUN_ID}@end`],
    [`${PATH}/stream`, `x/${RUN_ID}@7`],
    [`/workflow/w/runs/${RUN_ID}/history/stream`, `${other}@7`],
  ] as const

  const answers = await Promise.all(wrong.map(([path, id]) => call('GET', path, undefined, { 'Last-Event-ID': id })))

  expect(await Promise.all(answers.map(rejection))).toEqual(wrong.map(() => [400, 'ValidationError']))
})

test('history stream: HEAD has no body, and ends at once', async () => {
  const { call, events } = makeFeed(async function* () {})

  const { headers, body } = await call('HEAD', `${PATH}/stream`)

  expect([headers.get('Content-Type'), body, events.length]).toEqual(['text/event-stream', null, 1])
})
