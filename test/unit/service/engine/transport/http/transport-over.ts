/** The HTTP transport over a fetch that answers as a test says. */
import { httpApiTransport } from '../../../../../../src/service/engine/transport/http/transport.ts'
import type { Method, Request as RpcRequest } from '../../../../../../src/service/engine/transport/transport.ts'

export function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(new Error('aborted'))
    signal.addEventListener('abort', () => reject(new Error('aborted')))
  })
}

interface Sent {
  method: string
  url: string
  headers: Headers
  body: string
  redirect: string
}

export interface SendOptions {
  timeoutMs?: number
  signal?: AbortSignal
}

export function transportOver(
  answer: (signal: AbortSignal) => Response | Promise<Response>,
  { url = 'http://engine.test', apiKey = null }: { url?: string; apiKey?: string | null } = {},
) {
  const all: Sent[] = []
  const transport = httpApiTransport({
    url,
    apiKey,
    async fetch(input, init) {
      const request = new Request(input, init)
      const { method, headers, redirect } = request
      all.push({ method, url: request.url, headers, redirect, body: await request.clone().text() })
      // Not the request's own, which follows it only until the next garbage collection.
      return answer(init?.signal ?? request.signal)
    },
  })
  return {
    count: () => all.length,
    sent() {
      const last = all.at(-1)
      if (last === undefined) throw new Error('nothing was sent')
      return last
    },
    send: <M extends Method>(
      method: M,
      request: RpcRequest<M>,
      { timeoutMs = 1000, signal = new AbortController().signal }: SendOptions = {},
    ) => transport.call(method, request, { deadlineAt: Date.now() + timeoutMs, signal }),
  }
}
