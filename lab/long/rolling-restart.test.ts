/** Two replicas behind a proxy are replaced one by one, under load. */
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { createClient, type PorticoError } from '../../src/client/index.ts'
import type * as workflows from '../../test/support/workflows.ts'
import { PUBLIC_URL, TOKEN, test } from './rolling-fixture.ts'

type Retry = { error: PorticoError }
type Workflows = Pick<typeof workflows, 'echo' | 'manySteps' | 'messages' | 'streamSignals' | 'waitForSignal'>

const CLIENTS = 4
const ROUNDS_BETWEEN = 8
const WAITS = 20
const READERS = 10
const ITEMS_BETWEEN = 20
const REFUSED = 5

/** What a client has received that it must not, and the requests that have received nothing. */
function createRecord() {
  const unexpected: string[] = []
  const lost: string[] = []
  return {
    unexpected,
    lost,
    onRetry({ error: { status, message } }: Retry) {
      if (status === null) lost.push(message)
    },
    async fetch(url: string, init: RequestInit): Promise<Response> {
      const response = await fetch(url, init)
      const { status, headers } = response
      // A wait that has not ended in time is a 424, also at the end of a replica.
      const isExpected = status < 400 || status === 424 || (status === 503 && headers.has('Retry-After'))
      if (!isExpected) unexpected.push(`${init.method} ${new URL(url).pathname} ${status}`)
      return response
    },
  }
}

/** Reads in the background. */
function collect<Item>(items: AsyncIterable<Item>): { read: Item[]; ended: Promise<void> } {
  const read: Item[] = []
  const ended = (async () => {
    for await (const item of items) read.push(item)
  })()
  ended.catch(() => {}) // reported by `ended`
  return { read, ended }
}

test('rolling restart: under load nothing is lost, done twice or a 5xx without Retry-After', async ({
  startFront,
  catalog,
  client: engineClient,
}) => {
  const front = await startFront()
  const record = createRecord()
  const { workflow, list } = createClient<Workflows>({ url: front.url, token: TOKEN, ...record })
  const waits = Array.from({ length: WAITS }, (_, number) =>
    workflow('waitForSignal').run({ workflowId: `${catalog}-wait-${number}` }),
  )
  const allResults = Promise.all(waits)
  allResults.catch(() => {}) // reported by `allResults`
  const streaming = await workflow('streamSignals').start({ input: {} })
  const stream = collect(streaming.stream<number>())
  const history = collect(streaming.history({ follow: true }))
  const listed = ['1', '2', '3'].map((number) => `${catalog}-listed-${number}`)
  for (const workflowId of listed) await workflow('manySteps').run({ workflowId, input: { n: 1 } })
  async function listIds(): Promise<string[]> {
    const ids: string[] = []
    for await (const { workflowId } of list({ catalog, workflowName: 'manySteps', pageSize: 2 })) ids.push(workflowId)
    return ids.toSorted()
  }
  await until('the runs are listed', async () => (await listIds()).length === listed.length)
  let isOver = false
  let rounds = 0

  async function round(): Promise<void> {
    const number = rounds++
    const idempotencyKey = crypto.randomUUID()
    const started = await workflow('messages').start({ idempotencyKey })
    const repeated = await workflow('messages').start({ idempotencyKey })
    expect(repeated.runId).toBe(started.runId)
    const { url } = await started.link({ title: 'Go on?', update: 'set', choices: [{ label: 'Yes', payload: number }] })
    await streaming.publish({ topic: 'rounds', data: number })
    for (const part of ['a', 'b']) await started.signal('add', { payload: part })
    const link = front.url + url.slice(PUBLIC_URL.length)
    const answer = { method: 'POST', headers: { Accept: 'application/json' }, body: new URLSearchParams('choice=Yes') }
    await until('the link is answered', async () => (await record.fetch(link, answer)).status === 200)
    expect(await listIds()).toEqual(listed)
    await started.signal('finish')
    expect(await started.result()).toEqual({ gathered: ['a', 'b'], value: number })
    expect(await workflow('echo').run({ input: number })).toBe(number)
  }
  const load = Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      while (!isOver) await round()
    }),
  )
  load.catch(() => {}) // reported by `load`
  const moreRounds = () => {
    const enough = rounds + ROUNDS_BETWEEN
    return Promise.race([load, until('the load continues', () => rounds >= enough)])
  }

  await moreRounds()
  await front.replaceEach(moreRounds)
  isOver = true
  await load
  await streaming.signal('finish')
  const ids = waits.map((_, number) => `${catalog}-wait-${number}`)
  for (const [number, id] of ids.entries())
    await workflow('waitForSignal').get(id).signal('finish', { payload: number })
  const results = await allResults
  await Promise.all([stream.ended, history.ended])

  const count = async (workflowType: string) =>
    (await engineClient.workflow.count(`TaskQueue = "${catalog}" AND WorkflowType = "${workflowType}"`)).count
  const counts = await until('every start is counted', async () => {
    const counted = await Promise.all(['echo', 'messages'].map(count))
    return counted.every((starts) => starts >= rounds) && counted
  })
  expect(counts).toEqual([rounds, rounds])
  expect(results).toEqual(waits.map((_, number) => [number]))
  const offsets = stream.read.map(({ offset }) => offset)
  expect(offsets).toEqual(Array.from({ length: rounds }, (_, offset) => offset))
  expect(stream.read.map(({ data }) => data).toSorted((one, other) => one - other)).toEqual(offsets)
  expect(history.read.map(({ eventId }) => eventId)).toEqual(history.read.map((_, index) => index + 1))
  expect(record.unexpected).toEqual([])
  // A replica that ends closes its streams, which clients continue at another one.
  expect(record.lost.filter((message) => !message.endsWith('/stream: the connection was closed'))).toEqual([])
})

test('rolling restart: the readers of a stream get each item once and in order (failure 34)', async ({
  startFront,
}) => {
  const front = await startFront()
  const client = createClient({ url: front.url, token: TOKEN })
  const run = await client.workflow<Workflows['streamSignals']>('streamSignals').start({ input: {} })
  const readers = Array.from({ length: READERS }, () => collect(run.stream<number>()))
  let published = 0
  let isOver = false
  const publishing = (async () => {
    while (!isOver) {
      await run.publish({ topic: 'numbers', data: published })
      published++
    }
  })()
  publishing.catch(() => {}) // reported by `publishing`
  const moreItems = () => {
    const enough = published + ITEMS_BETWEEN
    const haveRead = () => readers.every(({ read }) => read.length >= enough)
    return Promise.race([publishing, until('all readers get more items', haveRead)])
  }

  await moreItems()
  await front.replaceEach(moreItems)
  isOver = true
  await publishing
  await run.signal('finish')
  await Promise.all(readers.map(({ ended }) => ended))

  const all = Array.from({ length: published }, (_, number) => ({ offset: number, data: number }))
  expect(readers.map(({ read }) => read.map(({ offset, data }) => ({ offset, data })))).toEqual(readers.map(() => all))
})

test('rolling restart: while a proxy still sends to a replica that ends, clients lose nothing and do nothing twice (failure 34)', async ({
  startFront,
}) => {
  const front = await startFront()
  const record = createRecord()
  const { workflow } = createClient<Workflows>({ url: front.url, token: TOKEN, ...record })
  const run = await workflow('messages').start({})
  let sent = 0
  let isOver = false
  const load = Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      while (!isOver) {
        const number = sent++
        await run.signal('add', { payload: number })
        expect(await workflow('echo').run({ input: number })).toBe(number)
      }
    }),
  )
  load.catch(() => {}) // reported by `load`
  const more = (what: string, count: () => number, by: number) => {
    const enough = count() + by
    return Promise.race([load, until(what, () => count() >= enough)])
  }
  const moreMessages = () => more('the load continues', () => sent, ROUNDS_BETWEEN)
  const moreRefused = () => more('connections are refused', () => record.lost.length, REFUSED)

  await moreMessages()
  await front.replaceEach(moreMessages, moreRefused)
  isOver = true
  await load
  await run.signal('finish')

  const { gathered } = await run.result()
  expect(gathered.map(Number).toSorted((one, other) => one - other)).toEqual(
    Array.from({ length: sent }, (_, number) => number),
  )
  expect(record.unexpected).toEqual([])
})
