/** The life cycle of a service as a process, which the API suite does not cover. */

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, expect, inject } from 'vitest'
import { hasExited } from '../../dev/servers/process.ts'
import { freePort, isTaken } from '../../src/cli/dev/servers/ports.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { makeApi } from '../support/api.ts'
import { POLL } from '../support/call-log.ts'
import type { ServedEntry, ServeEntry } from '../support/entries.ts'
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts'
import { startFirstRun } from '../support/first-run.ts'
import { test } from '../support/fixtures.ts'
import { readiness } from '../support/readiness.ts'
import { timedOutAtShutdown } from '../support/timed-out.ts'
import { mcpMessages } from './api/mcp-messages.ts'

export interface RuntimeTraits {
  /** False where no process of ours ends: the platform drains. */
  drains: boolean
  /** False where a client that closes its connection in order is not noticed, only one that resets it. */
  noticesFin: boolean
  /**
   * False where requests that do not wait for an answer are dropped, connection and all,
   * when that answer takes its time.
   */
  pipelines: boolean
}

const MEBIBYTE = 1 << 20

export function describeProcessLifecycle(
  runtime: string,
  serve: ServeEntry,
  { drains, noticesFin, pipelines }: RuntimeTraits,
): void {
  describe.concurrent(`process lifecycle on ${runtime}`, () => {
    const catalog = `lifecycle-${crypto.randomUUID()}`
    const env = { PATH: process.env.PATH ?? '', SERVICE_CATALOG_ID: catalog, SERVICE_PORT: '0' }
    let proxy: FaultProxy
    let service: ServedEntry
    let behindProxy: ServedEntry
    let quiet: { wait: Promise<Response>; events: Promise<string> }

    test.beforeAll(async ({ engine: { address, httpUrl }, startWorker, cleanup }) => {
      proxy = await startFaultProxy(address, httpUrl)
      cleanup.defer(() => proxy.stop())
      ;[service, behindProxy] = await Promise.all([
        serve({ ...env, ENGINE_ADDRESS: address }),
        serve({ ...env, ENGINE_ADDRESS: proxy.address, ENGINE_HTTP_URL: proxy.httpUrl ?? '' }),
        startWorker({ taskQueue: catalog }),
      ])
      cleanup.defer(async () => void (await Promise.all([service.stop(), behindProxy.stop()])))
      for (const { url } of [service, behindProxy]) await startFirstRun(makeApi({ url }), 'nothing')
      // They take their time while the rest is tested.
      const body = { workflowName: 'sleepFor', input: { ms: 40_000 }, timeout: 60_000 }
      quiet = {
        wait: run(service, body),
        events: run(service, body, { Accept: 'text/event-stream' }).then((response) => response.text()),
      }
      // How they end is for their tests to say.
      void Promise.allSettled([quiet.wait, quiet.events])
    })

    test('a client that disconnects ends the engine’s long poll, also from a stream of events', async () => {
      const workflowId = crypto.randomUUID()
      proxy.on({ method: 'GetWorkflowExecutionHistory', containing: workflowId, fault: 'hang' })
      const body = JSON.stringify({ workflowName: 'neverEnds', input: null, workflowId })
      const head = `POST /workflow/run HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n`
      const leave = async (accept: string) => {
        const client = await open(behindProxy)
        client.write(`${head}Accept: ${accept}\r\n\r\n${body}`)
        await until('the engine is polled', () => proxy.calls.open(POLL, workflowId) === 1)
        if (noticesFin) client.destroy()
        else client.resetAndDestroy()
        await until('it is polled no more', () => proxy.calls.open(POLL, workflowId) === 0)
      }

      await leave('application/json')
      await terminate(behindProxy, workflowId)
      await leave('text/event-stream')
    })

    test('a body of 2 MiB and a byte is rejected before it is sent', async () => {
      const answer = await exchange(service, [
        `POST /workflow/run HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${2 * MEBIBYTE + 1}\r\n\r\n`,
      ])

      expect(answer).toMatch(/^HTTP\/1\.1 413 /)
    })

    test('a body in chunks, and a hundred headers', async () => {
      const headers = Array.from({ length: 100 }, (_, index) => `X-Header-${index}: ${'v'.repeat(50)}\r\n`).join('')
      const body = JSON.stringify({ workflowName: 'echo', input: 'chunked' })
      const chunks = [...body].map((character) => `1\r\n${character}\r\n`)

      const answer = await exchange(service, [
        `POST /workflow/run HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n${headers}\r\n`,
        ...chunks,
        '0\r\n\r\n',
      ])

      expect(answer).toMatch(/^HTTP\/1\.1 200 .*"output":"chunked"/s)
    })

    test('Expect: 100-continue is answered, then the body is read', async () => {
      const body = JSON.stringify({ workflowName: 'echo', input: 'expected' })
      const socket = await open(service)
      socket.write(
        `POST /workflow/run HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`,
      )
      const interim = await read(socket, /^HTTP\/1\.1 100 .*\r\n\r\n/s)
      socket.write(body)

      expect(interim).toMatch(/^HTTP\/1\.1 100 Continue\r\n/)
      expect(await read(socket, /"errorDetails"/)).toMatch(/^HTTP\/1\.1 200 .*"output":"expected"/s)
      socket.destroy()
    })

    test(`requests in a pipeline are ${pipelines ? 'answered in their order' : 'dropped with their connection'}`, async () => {
      const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`

      const answer = await exchange(
        service,
        [get('/workflow/nobody/status') + get('/health')],
        /HTTP.*HTTP.*\{"status":"ok"\}/s,
      )

      expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(pipelines ? ['HTTP/1.1 404', 'HTTP/1.1 200'] : null)
    })

    // These are Cloudflare's own on workerd: it speaks HTTP/1.0 to clients,
    // and lets requests end before an isolate goes.
    if (drains) describeEnd()

    test('a quiet wait of 40 s is not cut', async () => {
      const response = await quiet.wait

      expect([response.status, ((await response.json()) as { status: string }).status]).toEqual([200, 'completed'])
    })

    test('nor are quiet events', async () => {
      const text = await quiet.events

      expect(text).toMatch(/^event: started\n.*^event: result\n.*"status":"completed"/ms)
      expect(text.match(/^: /gm)?.length).toBeGreaterThanOrEqual(3)
    })

    async function serveConnected(shutdownTimeout: string): Promise<ServedEntry> {
      const { address } = inject('engine')
      const ending = await serve({ ...env, ENGINE_ADDRESS: address, SERVICE_SHUTDOWN_TIMEOUT: shutdownTimeout })
      await readiness(makeApi({ url: ending.url }))
      return ending
    }

    async function startRun(ending: ServedEntry, workflowName: string, headers: Record<string, string> = {}) {
      const workflowId = crypto.randomUUID()
      const running = run(ending, { workflowName, input: null, workflowId }, headers)
      await until('the run has begun', async () => (await fetch(`${ending.url}/workflow/${workflowId}/status`)).ok)
      return { workflowId, running }
    }

    function describeEnd() {
      test('HTTP/1.0 without a Host, as simple health checks send it', async () => {
        expect(await exchange(service, ['GET /health HTTP/1.0\r\n\r\n'])).toMatch(/^HTTP\/1\.[01] 200 .*"ok"/s)
      })

      test('SIGTERM: open requests get their response, idle connections are closed, new ones are rejected, and the exit code is 0', async () => {
        const ending = await serveConnected('20s')
        const idle = await open(ending)
        idle.write('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n')
        await read(idle, /"ok"/)
        const idleClosed = once(idle, 'close')
        const { workflowId, running } = await startRun(ending, 'waitForSignal')
        const order: string[] = []
        const both = Promise.all([
          running.finally(() => order.push('response')),
          idleClosed.then(() => order.push('idle connection closed')),
        ])

        process.kill(ending.pid, 'SIGTERM')
        await until('nothing new is taken', async () => !(await isTaken(Number(new URL(ending.url).port))))
        await idleClosed
        await makeApi({ url: service.url }).post(`${workflowId}/signal/finish`)

        const [answer] = await both
        expect(order).toEqual(['idle connection closed', 'response'])
        expect([answer.status, answer.headers.get('Connection')]).toEqual([200, 'close'])
        expect(await ending.ended).toEqual({ code: 0, signal: null })
      })

      test('SIGTERM: unfinished requests delay neither the shutdown nor other responses', async () => {
        const ending = await serveConnected('20s')
        const [half, rejected] = [await open(ending), await open(ending), await open(ending)]
        half.write('GET /health HTTP/1.1\r\nHo')
        rejected.write(
          `POST /workflow/run HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${2 * MEBIBYTE + 1}\r\n\r\n`,
        )
        await read(rejected, / 413 .*\}/s)
        const { workflowId, running } = await startRun(ending, 'waitForSignal')

        process.kill(ending.pid, 'SIGTERM')
        await makeApi({ url: service.url }).post(`${workflowId}/signal/finish`)

        expect((await running).status).toBe(200)
        // After 20 s it would be 1.
        expect(await ending.ended).toEqual({ code: 0, signal: null })
      })

      test('SIGTERM: waiting clients learn a second before the shutdown ends where to continue, and which of them may repeat', async () => {
        const ending = await serveConnected('3s')
        const { workflowId, running } = await startRun(ending, 'neverEnds')
        const keyed = await startRun(ending, 'neverEnds', { 'Idempotency-Key': crypto.randomUUID() })

        process.kill(ending.pid, 'SIGTERM')

        const expected = [
          { id: workflowId, answer: await running, retryAfter: null },
          { id: keyed.workflowId, answer: await keyed.running, retryAfter: '1' },
        ]
        for (const { id, answer, retryAfter } of expected) {
          const body = (await answer.json()) as object
          expect([answer.status, body]).toEqual([424, timedOutAtShutdown(id, body)])
          const header = (name: string) => answer.headers.get(name)
          expect([header('Location'), header('Retry-After')]).toEqual([`/workflow/${id}/result`, retryAfter])
        }
        expect(await ending.ended).toEqual({ code: 0, signal: null })
      })

      test('SIGTERM: the subscription of an agent ends with its result', async () => {
        const ending = await serve({ ...env, ENGINE_ADDRESS: inject('engine').address, SERVICE_SHUTDOWN_TIMEOUT: '3s' })
        const { sendWithTasks, messagesOf } = mcpMessages(() => ({ service: ending }))
        const response = await sendWithTasks('subscriptions/listen', { notifications: {} })

        process.kill(ending.pid, 'SIGTERM')

        expect((await messagesOf(response)).messages).toMatchObject([
          { method: 'notifications/subscriptions/acknowledged' },
          { id: 1, result: { resultType: 'complete' } },
        ])
        expect(await ending.ended).toEqual({ code: 0, signal: null })
      })

      test('SIGTERM, and again: ends at once', async () => {
        const ending = await serveConnected('30s')
        const { running } = await startRun(ending, 'neverEnds')

        const telling = setInterval(() => hasExited(ending.pid) || process.kill(ending.pid, 'SIGTERM'), 200)
        const lost = running.catch((error: Error) => error)
        const ended = await ending.ended.finally(() => clearInterval(telling))

        expect(ended).toEqual({ code: 1, signal: null })
        expect(await lost).toBeInstanceOf(Error)
      })

      test('SIGTERM before the engine was first called: it is not called any more', async () => {
        const ending = await serve({
          ...env,
          ENGINE_ADDRESS: `127.0.0.1:${await freePort()}`,
          SERVICE_SHUTDOWN_TIMEOUT: '2s',
        })

        process.kill(ending.pid, 'SIGTERM')

        // After 2 s it would be 1.
        expect(await ending.ended).toEqual({ code: 0, signal: null })
        expect(ending.output()).not.toContain('the engine can')
      })
    }
  })
}

function run({ url }: ServedEntry, body: object, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${url}/workflow/run`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
}

async function terminate({ url }: ServedEntry, workflowId: string): Promise<void> {
  await fetch(`${url}/workflow/${workflowId}/terminate`, { method: 'POST' })
}

async function open({ url }: ServedEntry): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.on('error', () => {}) // of a connection that is cut while we write
  await once(socket, 'connect')
  return socket
}

/** Sends the parts and reads until the answer is there. */
async function exchange(service: ServedEntry, parts: string[], whole = /\r\n\r\n.*\}/s): Promise<string> {
  const socket = await open(service)
  for (const part of parts) socket.write(part)
  const answer = await read(socket, whole)
  socket.destroy()
  return answer
}

/** What comes until it is as `whole` says, or the connection ends. */
function read(socket: Socket, whole: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const settle = () => {
      socket.off('data', take)
      resolve(text)
    }
    const take = (chunk: Buffer) => {
      text += chunk
      if (whole.test(text)) settle()
    }
    socket.on('data', take)
    socket.once('close', settle)
    setTimeout(() => reject(new Error(`No answer within 20 s, only: ${text}`)), 20_000).unref()
  })
}
