/** A bare server that sends the frames of a stream to all its readers. `POST` publishes the data of an item. */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import '../../../dev/servers/print-inventory.ts'
import { EVENT_STREAM_HEADERS, eventFrame } from '../../../src/service/http/events/events.ts'

const RUN_ID = crypto.randomUUID()
const readers = new Set<ServerResponse>()
let offset = 0

const server = createServer((request, response) => {
  if (request.method === 'POST') {
    void text(request).then((body) => {
      publish(JSON.parse(body))
      response.end()
    })
    return
  }
  readers.add(response)
  response.on('close', () => readers.delete(response))
  response.writeHead(200, EVENT_STREAM_HEADERS).write('retry: 2000\n\n')
})

server.listen({ host: '127.0.0.1', port: 0, backlog: 4096 }, () => {
  const { port } = server.address() as AddressInfo
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}` })}\n`)
})

function publish(data: unknown): void {
  const frame = Buffer.from(eventFrame('item', { offset, topic: 'tokens', data }, `${offset}@${RUN_ID}`))
  offset++
  for (const reader of readers) reader.write(frame)
}
