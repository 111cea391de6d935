/** Streams over real connections that are cut. The servers are the test's own. */
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../../src/cli/dev/servers/ports.ts'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { createClient, type StreamItem } from '../../../src/client/index.ts'
import { createStreamLog } from '../../support/stream-replicas.ts'

type Replica = Awaited<ReturnType<ReturnType<typeof createStreamLog>['startReplica']>>

function start(log: ReturnType<typeof createStreamLog>, port = 0): Promise<Replica> {
  return log.startReplica(port).then((replica) => {
    onTestFinished(() => replica.close().catch(() => undefined))
    return replica
  })
}

/** Reads in the background. */
function collect(items: AsyncIterable<StreamItem>) {
  const read: StreamItem[] = []
  const ended = (async () => {
    for await (const item of items) read.push(item)
  })()
  return { read, ended, has: (count: number) => until(`${count} items`, async () => read.length >= count) }
}

const offsetsTo = (end: number) => Array.from({ length: end }, (_, offset) => offset)

test('stream: survives cut connections and the restart of the service', async () => {
  const log = createStreamLog()
  // No connection of another program gets this port while the server is closed.
  const first = await start(log, await freePort())
  const { read, ended, has } = collect(createClient({ url: first.url }).stream('w'))

  log.publish('t', 0, 1, 2)
  await has(3)
  first.cut()
  log.publish('t', 3)
  await has(4)
  await first.close()
  log.publish('t', 4, 5)
  await start(log, first.port)
  await has(6)
  log.publish('t', 6)
  log.finish()
  await ended

  expect(read.map(({ offset }) => offset)).toEqual(offsetsTo(7))
})

test('stream: continues on another replica, with the topics that it reads', async () => {
  const log = createStreamLog()
  const [one, two] = [await start(log), await start(log)]
  let origin = one.url
  const fetch = (url: string, init: RequestInit) => globalThis.fetch(url.replace(one.url, origin), init)
  const { read, ended, has } = collect(createClient({ url: one.url, fetch }).stream('w', { topics: ['t'] }))

  log.publish('t', 'a')
  await has(1)
  log.publish('other', ...offsetsTo(50))
  log.publish('t', 'b')
  await has(2)
  origin = two.url
  await one.close()
  log.publish('t', 'c')
  await has(3)
  log.finish()
  await ended

  expect(read.map(({ data }) => data)).toEqual(['a', 'b', 'c'])
  expect(two.requests.map(({ headers }) => headers['last-event-id'])).toEqual([expect.stringMatching(/@51$/)])
})

test('stream: a reader that leaves closes its connection', async () => {
  const log = createStreamLog()
  const { url } = await start(log)
  log.publish('t', 0)

  for await (const _ of createClient({ url }).stream('w')) break

  await until('the connection is closed', async () => log.readers.size === 0)
})

test('stream: from now leaves out what was published before', async () => {
  const log = createStreamLog()
  const replica = await start(log)
  log.publish('t', 0, 1)
  const { read, ended } = collect(createClient({ url: replica.url }).stream('w', { from: 'now' }))
  await until('the reader is connected', async () => log.readers.size === 1)

  replica.cut()
  log.publish('t', 2)
  log.finish()
  await ended

  expect(read.map(({ offset }) => offset)).toEqual([2])
})
