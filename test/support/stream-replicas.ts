/** Servers that send one stream, as several instances of the service do: docs/api/stream.md, without an engine. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { nextOffset, parsePosition, positionAt, positionId } from '../../src/shared/wire/position.ts'

const RUN = { workflowId: 'w', runId: '01a208f4-a730-742e-81e9-92b88320ed51' }

interface Reader {
  response: ServerResponse
  topics: string[]
  next: number
}

export function createStreamLog() {
  const items: { topic: string; data: unknown }[] = []
  const readers = new Set<Reader>()
  let status = 'running'
  let isComplete = true

  function send({ response }: Reader, event: string, data: unknown, id?: string): void {
    response.write(`${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
  }

  function flush(reader: Reader): void {
    let isMoved = false
    while (reader.next < items.length) {
      const offset = reader.next++
      const { topic, data } = items[offset] ?? {}
      isMoved = reader.topics.length > 0 && !reader.topics.includes(topic ?? '')
      if (!isMoved) send(reader, 'item', { offset, topic, data }, idOf(reader.next))
    }
    if (isMoved) reader.response.write(`: still running\nid: ${idOf(reader.next)}\n\n`)
    if (status === 'running') return
    const ended = { ...RUN, status, completedAt: '2026-01-01T00:00:00.000Z', next: items.length, complete: isComplete }
    send(reader, 'done', ended, idOf(reader.next, true))
    reader.response.end()
  }

  function open(request: IncomingMessage, response: ServerResponse): void {
    const { searchParams } = new URL(request.url ?? '', 'http://test')
    const position = parsePosition(String(request.headers['last-event-id'] ?? ''))
    if (position?.last === 'end') return void response.writeHead(204).end()
    const from = searchParams.get('from') ?? '0'
    const start = parsePosition(from)
    const next = from === 'now' ? items.length : start === null ? Number(from) : nextOffset(start)
    const reader = {
      response,
      topics: searchParams.getAll('topic'),
      next: position === null ? next : nextOffset(position),
    }
    readers.add(reader)
    response.once('close', () => readers.delete(reader))
    response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write('retry: 2000\n\n')
    send(reader, 'workflow', { ...RUN, status, from: reader.next })
    flush(reader)
  }

  return {
    readers,
    publish(topic: string, ...data: unknown[]): void {
      for (const value of data) items.push({ topic, data: value })
      for (const reader of readers) flush(reader)
    },
    /** Sends an event to all readers. */
    send(event: string, data: unknown, id?: string): void {
      for (const reader of readers) send(reader, event, data, id)
    },
    finish(as = 'completed', complete = true): void {
      status = as
      isComplete = complete
      for (const reader of readers) flush(reader)
    },
    /** Starts a server. `close` cuts its connections, as a process that is killed does. */
    async startReplica(port = 0) {
      const requests: IncomingMessage[] = []
      const server = createServer((request, response) => {
        requests.push(request)
        open(request, response)
      })
      await once(server.listen(port, '127.0.0.1'), 'listening')
      const at = (server.address() as AddressInfo).port
      return {
        requests,
        port: at,
        url: `http://127.0.0.1:${at}`,
        cut: () => server.closeAllConnections(),
        async close() {
          const closed = once(server, 'close')
          server.close()
          server.closeAllConnections()
          await closed
        },
      }
    },
  }
}

function idOf(next: number, isEnd = false): string {
  const { runId } = RUN
  return positionId(isEnd ? { runId, last: 'end' } : positionAt({ runId }, next))
}
