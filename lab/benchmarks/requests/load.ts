/**
 * Sends one request after the other on each of `concurrency` connections, and measures what the server spends on them.
 */
import { Agent, request } from 'node:http'
import { percentile } from '../../../dev/percentiles.ts'
import { cpuMsOf, residentMiB } from '../../../dev/servers/process-usage.ts'

export interface Target {
  port: number
  pid: number
}

export interface Exchange {
  method: 'GET' | 'POST'
  path: string
  body?: unknown
  token?: string
}

export interface Sample {
  requestsPerSecond: number
  p50Ms: number
  p99Ms: number
  /** Milliseconds of CPU that the server spent on each request. */
  cpuMs: number
  residentMiB: number
}

export interface LoadOptions {
  concurrency: number
  durationMs: number
}

/**
 * New connections, which stay open until `close`.
 * Servers close those that are idle for long, so none is kept for later.
 */
export function connect(): { agent: Agent; close(): void } {
  const agent = new Agent({ keepAlive: true })
  return { agent, close: () => agent.destroy() }
}

/** Rejects at the first answer that is not 2xx. */
export async function measureLoad(
  { port, pid }: Target,
  next: () => Exchange,
  { concurrency, durationMs }: LoadOptions,
): Promise<Sample> {
  const { agent, close } = connect()
  const took: number[] = []
  const cpuBefore = cpuMsOf(pid)
  const startedAt = performance.now()
  const connection = async () => {
    while (performance.now() - startedAt < durationMs) {
      const sentAt = performance.now()
      await exchange(port, next(), agent)
      took.push(performance.now() - sentAt)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, connection))
  close()
  const seconds = (performance.now() - startedAt) / 1000
  return {
    requestsPerSecond: took.length / seconds,
    p50Ms: percentile(took, 0.5),
    p99Ms: percentile(took, 0.99),
    cpuMs: (cpuMsOf(pid) - cpuBefore) / took.length,
    residentMiB: residentMiB(pid),
  }
}

/** The body of the response; rejects unless it is 2xx. */
export async function exchange(port: number, request: Exchange, agent: Agent): Promise<string> {
  const { status, text } = await send(port, request, agent)
  if (status >= 200 && status < 300) return text
  throw new Error(`${request.method} ${request.path} on port ${port} answered ${status}: ${text.slice(0, 500)}`)
}

export function send(
  port: number,
  { method, path, body, token }: Exchange,
  agent: Agent,
): Promise<{ status: number; text: string }> {
  const text = body === undefined ? '' : JSON.stringify(body)
  const headers = {
    ...(text !== '' && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  }
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, method, path, headers, agent }, (response) => {
      const parts: Buffer[] = []
      response.on('data', (part) => parts.push(part))
      response.on('error', reject)
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString() }))
    })
    sent.on('error', reject)
    sent.end(text)
  })
}
