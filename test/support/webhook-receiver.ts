/** Receives webhooks, and verifies them with the published library. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'

export interface Received {
  path: string
  /** `webhook-id`. */
  id: string
  headers: Record<string, string>
  body: string
  /** The status of the response; null while it is open, or when the sender has left. */
  status: number | null
}

export interface WebhookReceiver {
  /** Its endpoints are the paths below. */
  url: string
  /** All requests, in order. */
  received: readonly Received[]
  /** Those to this path. */
  at(path: string): Received[]
  /** How many requests to this path are open, and the highest number so far. */
  open(path: string): { now: number; most: number }
  /** Answers requests to this path: a status, with headers if need be; `null` never answers. Default: 200. */
  answer(path: string, reply: Reply): void
  close(): Promise<void>
}

interface Answer {
  status: number
  location?: string
  retryAfter?: string
}

type Reply = (attempt: number) => Answer | null | Promise<Answer>

const accept: Reply = () => ({ status: 200 })

/** Listens on a free port, unless `port` is set. */
export async function startWebhookReceiver(port = 0): Promise<WebhookReceiver> {
  const received: Received[] = []
  const replies = new Map<string, Reply>()
  const openRequests = new Map<string, { now: number; most: number }>()
  const open = (path: string) => openRequests.get(path) ?? { now: 0, most: 0 }

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? ''
    const { now, most } = open(path)
    openRequests.set(path, { now: now + 1, most: Math.max(most, now + 1) })
    response.once('close', () => openRequests.set(path, { ...open(path), now: open(path).now - 1 }))
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
    const body = await text(request)
    const id = headers['webhook-id'] ?? ''
    const attempt = received.filter((other) => other.path === path && other.id === id).length + 1
    const message: Received = { path, id, headers, body, status: null }
    received.push(message)
    const reply = await (replies.get(path) ?? accept)(attempt)
    if (reply === null) return
    const { status, location, retryAfter } = reply
    response.once('finish', () => {
      message.status = status
    })
    response.writeHead(status, { ...(location && { location }), ...(retryAfter && { 'retry-after': retryAfter }) })
    response.end('a body that nobody reads')
  }

  const server = createServer((request, response) => void receive(request, response).catch(() => response.destroy()))
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    at: (path) => received.filter((message) => message.path === path),
    open,
    answer: (path, reply) => void replies.set(path, reply),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

export function newSecret(): string {
  return `whsec_${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64')}`
}

/** The verified message. Throws if the signature is not of this secret. */
export function verified({ body, headers }: Received, secret: string): Record<string, unknown> & { data: MessageData } {
  return new Webhook(secret).verify(body, headers) as ReturnType<typeof verified>
}

type MessageData = Record<string, unknown>
