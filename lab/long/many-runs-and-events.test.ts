/** Lists and histories of the size that they have in production. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { mapConcurrent } from '../../src/shared/lib/map-concurrent.ts'
import type { Answer, Api } from '../../test/support/api.ts'
import { testWithOwnEngine } from '../../test/support/fixtures.ts'
import { whenInTime } from './when-in-time.ts'

const RUNS = 10_000
const EVENTS = 10_000
// Fifty at once would take a slow engine longer than a call may take.
const AT_ONCE = 10
// An engine on a busy machine starts 20 runs per second, and accepts as many signals.
const TIMEOUT_MS = 1_800_000

// More than all buffers between the service and a client that does not read: the socket's, and those of the runtime.
const PAYLOAD = 'x'.repeat(3000)
const PAGES_IN_BUFFERS = 50

const test = testWithOwnEngine({
  dynamicConfig: {
    'frontend.namespaceRPS': 100_000,
    'frontend.namespaceRPS.visibility': 100_000,
    'history.maximumSignalsPerExecution': 2 * EVENTS,
  },
})

const numbers = (length: number) => Array.from({ length }, (_, index) => index)

/** Acts for each number, and prints a line after each tenth of them. */
async function actForEach(count: number, what: string, act: (index: number) => Promise<unknown>): Promise<void> {
  let done = 0
  await mapConcurrent(numbers(count), AT_ONCE, async (index) => {
    await act(index)
    done++
    if (done % Math.ceil(count / 10) === 0) console.log(`${done} ${what}`)
  })
}

async function bodyOf(service: Pick<Api, 'call'>, path: string): Promise<Answer['body']> {
  return (await whenInTime(`${path} is read`, () => service.call('GET', path))).body
}

test('10,000 runs: a list has each of them exactly once while new ones start', {
  timeout: TIMEOUT_MS,
}, async ({ client, catalog, serve }) => {
  const service = serve()
  const started = new Set<string>()
  const start = async (workflowId: string, workflowName = 'listed') => {
    const options = { taskQueue: catalog, workflowId, workflowIdConflictPolicy: 'USE_EXISTING' } as const
    // A busy engine may exceed its own deadline, or not find its namespace for a moment.
    const handle = await until('a run is started', () => client.workflow.start(workflowName, options))
    return handle.firstExecutionRunId
  }
  await actForEach(RUNS, 'runs are started', async (index) => void started.add(await start(`listed-${index}`)))
  const list = (parameters: string) => bodyOf(service, `/workflow/runs${parameters}`)
  const filter = `catalog=${catalog}&workflowName=listed`
  const isListed = async () => (await list(`/count?${filter}`)).count === RUNS
  await until('all are listed', isListed, { timeoutMs: 300_000 })

  const seen: string[] = []
  let later = 0
  for (let token: string | null = ''; token !== null; ) {
    const page = await list(`?${filter}&pageSize=250${token && `&pageToken=${token}`}`)
    seen.push(...page.runs.map(({ runId }: { runId: string }) => runId))
    token = page.nextPageToken
    await mapConcurrent(numbers(5), 5, async (index) => void (await start(`later-${later}-${index}`)))
    later++
  }

  const ofThem = seen.filter((runId) => started.has(runId))
  expect(ofThem).toHaveLength(RUNS)
  expect(new Set(ofThem).size).toBe(RUNS)
})

test('10,000 events: a stream is read as fast as its client takes it, and has each event once', {
  timeout: TIMEOUT_MS,
}, async ({ client, catalog, faultProxy, startService }) => {
  const { calls } = faultProxy
  const service = await startService({ address: faultProxy.address })
  const handle = await client.workflow.start('nobody', { taskQueue: `${catalog}-nobody`, workflowId: 'eventful' })
  const sendSignal = () => until('a signal is sent', () => handle.signal('add', PAYLOAD).then(() => true))
  await actForEach(EVENTS - 3, 'signals are sent', sendSignal)
  await handle.terminate()
  const { historyLength } = await bodyOf(service, '/workflow/eventful/status')

  const socket = connect(Number(new URL(service.url).port), new URL(service.url).hostname)
  socket.setEncoding('utf8')
  const request = 'GET /workflow/eventful/history/stream HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'
  const readsDuring = async (act: () => Promise<unknown>) => (await calls.during(act)).GetWorkflowExecutionHistory ?? 0
  let text = ''

  const unread = await readsDuring(async () => {
    socket.write(request)
    await once(socket, 'readable')
  })
  const read = await readsDuring(async () => {
    for await (const chunk of socket) text += chunk
  })

  // Chunks of the transfer coding may interrupt an event, but not the line with its id.
  const ids = [...text.matchAll(/^id: \S*[\da-f-]{36}@(\d+)$/gm)].map(([, id]) => Number(id))
  expect(historyLength).toBeGreaterThanOrEqual(EVENTS - 1)
  expect(ids).toEqual(numbers(historyLength).map((index) => index + 1))
  expect(unread).toBeLessThan(PAGES_IN_BUFFERS)
  expect(unread + read).toBeGreaterThanOrEqual(historyLength / 100)
})
