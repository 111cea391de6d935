/** A connection as bytes. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { seen } from '../support/api.ts'

export interface Wire {
  socket: Socket
  /** All that came so far. */
  text(): string
  /** Resolves when the connection has ended. */
  closed: Promise<unknown>
}

export async function dial(url: string): Promise<Wire> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  let received = ''
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1')
  })
  socket.on('error', () => {}) // the server hung up
  const closed = new Promise((resolve) => socket.once('close', resolve))
  await once(socket, 'connect')
  return { socket, text: () => received, closed }
}

/** Sends for as long as the server lets us. */
export async function flood({ socket, closed }: Wire, chunk: string): Promise<void> {
  while (!socket.destroyed && socket.writable) {
    if (!socket.write(chunk)) await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), closed])
  }
}

/**
 * The received responses, each checked for the properties of every response.
 * With several paths, they are those of the responses.
 */
export function answersOf(
  { text }: Wire,
  method: string,
  path: string | readonly string[],
): { status: number; error: string | null; headers: Headers }[] {
  return [...text().matchAll(/HTTP\/1\.1 (\d{3}) [^\r]*\r\n((?:[^\r]+\r\n)*)\r\n(\{.*?\})?(?=HTTP|$)/gs)].map(
    ([, status, head = '', json = ''], at) => {
      const headers = new Headers(
        head
          .trim()
          .split('\r\n')
          .map((line): [string, string] => [line.split(': ', 1)[0] ?? '', line.slice(line.indexOf(': ') + 2)]),
      )
      const body = json === '' ? null : JSON.parse(json)
      const own = typeof path === 'string' ? path : (path[at] ?? '')
      seen(method, own, { status: Number(status), headers, text: json, body }, 'disturbed')
      return { status: Number(status), error: body?.error ?? null, headers }
    },
  )
}
