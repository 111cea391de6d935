/**
 * Reads an event stream over many connections: `sse-readers.ts <url> <count>`. Bare sockets, and only as much parsing
 * as is needed to find items, so that the readers take little of the processors that they share with the service.
 */
import { connect } from 'node:net'
import { mapConcurrent } from '../../../src/shared/lib/map-concurrent.ts'
import { now, record } from './latencies.ts'
import { serveReports } from './reader-process.ts'

const [, , url = '', count = '0'] = process.argv
const { hostname, port, host, pathname } = new URL(url)
const reports = serveReports()

// The service accepts 64 requests in flight.
const CONNECTS_AT_ONCE = 25
const REPORTED_EVERY = 500

const ITEM = /"offset":(\d+),"topic":"tokens","data":\{"at":([\d.]+)\}\}\n\n/g
const FRAME_END = '\n\n'
// After a frame in a chunked body.
const CHUNK_END = '\r\n'

// All sockets read into the same memory: a read is handled before the next.
const shared = Buffer.allocUnsafe(64 * 1024)

let connected = 0
mapConcurrent(Array.from({ length: Number(count) }), CONNECTS_AT_ONCE, async () => {
  await open()
  connected++
  if (connected % REPORTED_EVERY === 0 || connected === Number(count)) reports.connected(connected)
}).catch(reports.fail)

/** Resolves with the first event. */
function open(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let isOpen = false
  let rest = ''
  let next: number | null = null
  function receive(text: string): void {
    if (!isOpen && !text.startsWith('HTTP/1.1 200 ')) reports.fail(text.slice(0, 500))
    isOpen = true
    resolve()
    const receivedAt = now()
    for (const [, offsetText, at] of text.matchAll(ITEM)) {
      const offset = Number(offsetText)
      const latencies = reports.latencies()
      if (next !== null && offset !== next) latencies.gaps++
      next = offset + 1
      record(latencies, { at: Number(at) }, receivedAt)
    }
  }
  const callback = (size: number) => {
    const text = rest + shared.toString('latin1', 0, size)
    const end = text.lastIndexOf(FRAME_END)
    rest = end === -1 ? text : text.slice(end + FRAME_END.length)
    if (rest === CHUNK_END) rest = ''
    if (end !== -1) receive(text)
    return true
  }
  const socket = connect({ host: hostname, port: Number(port), onread: { buffer: shared, callback } })
  socket.on('error', reports.fail)
  socket.on('end', () => reports.fail('the server has closed a connection'))
  socket.write(`GET ${pathname} HTTP/1.1\r\nHost: ${host}\r\nAccept: text/event-stream\r\n\r\n`)
  return promise
}
