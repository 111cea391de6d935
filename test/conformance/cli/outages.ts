/** A service, an engine or a response that is missing. */
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'vitest'
import { freePort } from '../../../src/cli/dev/servers/ports.ts'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { type CliEnd, CTRL_C, cliOnTerminal } from '../../support/cli.ts'
import { announceErrors } from '../../support/invariants.ts'
import { cliTest } from './cli-fixture.ts'

const RUN = { workflowId: 'x', runId: '01a1fc08-30b4-7d52-a1f7-52c1b1d0e96a', status: 'running' }

const test = cliTest
  /** A service whose engine does not exist. */
  .extend('withoutEngine', async ({ startService }, { onCleanup }) => {
    announceErrors(/engine/)
    const service = await startService({ address: `127.0.0.1:${await freePort()}` })
    // It would check the engine again and again.
    onCleanup(async () => void (await service.kill()))
    return { PORTICO_URL: service.url, PORTICO_TOKEN: '' }
  })
  /** Starts something that is not Portico. Returns its URL. */
  .extend('serveHttp', { scope: 'file' }, ({ cleanup }) => async (listener: RequestListener) => {
    const server = createServer(listener)
    cleanup.defer(() => void server.close().closeAllConnections())
    await once(server.listen(0, '127.0.0.1'), 'listening')
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })

export function cliOutages(): void {
  test('portico: exits with 3 at once if there is no service, or another one', async ({ portico, serveHttp }) => {
    const other = await serveHttp((_, response) => void response.end('<html>'))

    const nobody = await portico(['status', 'x', '--url', `http://127.0.0.1:${await freePort()}`])
    const proxy = await portico(['status', 'x', '--url', other])

    expect([nobody.code, proxy.code]).toEqual([3, 3])
    expect(nobody.stderr).toMatch(/cannot be reached: connect ECONNREFUSED .*\nStart the service with "portico dev"/)
    expect(JSON.parse(nobody.stdout)).toMatchObject({ error: 'ConnectionError' })
    expect(proxy.stderr).toContain('Check --url, PORTICO_URL or .portico.json')
  })

  test('portico run, start: without an engine they end with its error, the attempts and 3', async ({
    portico,
    withoutEngine: env,
  }) => {
    // On a busy machine there may be time for one attempt only.
    const repeated = (command: string[]) =>
      until('the command has tried twice', async () => {
        const ended = await portico(command, { env })
        return / attempts\)$/m.test(ended.stderr) && ended
      })
    const ended: CliEnd[] = [
      await repeated(['run', 'nothing', '--timeout', '8s']),
      await repeated(['start', 'nothing']),
    ]

    for (const { code, stdout, stderr } of ended) {
      expect(code).toBe(3)
      expect(JSON.parse(stdout)).toMatchObject({ error: 'EngineUnavailableError' })
      expect(stderr).toMatch(/^error: .*engine.*\(EngineUnavailableError, \d+ attempts\)$/m)
    }
  })

  test('portico run: without an engine the line on the terminal says why it is repeated', async ({
    withoutEngine: env,
  }) => {
    const seen = { text: ' s): The workflow engine', act: (type: (keys: string) => void) => type(CTRL_C) }

    const { code, output } = await cliOnTerminal(['run', 'nothing'], { env, seen })

    expect(code).toBe(130)
    expect(output).toMatch(/starting nothing \(\d+ s\): The workflow engine is not responding/)
  })

  test('portico status, explain, validate: without an engine they do not say that something may have been carried out', async ({
    portico,
    withoutEngine: env,
  }) => {
    const reads = await Promise.all([
      portico(['status', 'nope'], { env }),
      portico(['explain', 'nope'], { env }),
      portico(['validate', 'nothing'], { env }),
    ])

    for (const { code, stderr } of reads) {
      expect(code).toBe(3)
      expect(stderr).not.toMatch(/carried out/)
    }
  })

  test('portico: after a request without a response it says how to repeat it, on the same run', async ({
    portico,
    serveHttp,
  }) => {
    const url = await serveHttp(({ method, url }, response) => {
      response.setHeader('Content-Type', 'application/json')
      if (method === 'GET') response.end(JSON.stringify(RUN))
      else if (url?.endsWith('/signal/y')) response.writeHead(500).end('{"error":"Bad","message":"of the gateway"}')
      // It is silent for all others.
    })
    const timeout = ['--timeout', '300ms', '--url', url] as const

    const query = await portico(['query', 'x', 'y', ...timeout])
    const run = await portico(['run', 'nothing', ...timeout])
    const update = await until('the update was sent', async () => {
      const ended = await portico(['update', 'x', 'y', '--key', 'k 1', ...timeout])
      return ended.stderr.includes('carried out') && ended
    })
    const signal = await portico(['signal', 'x', 'y', '--key', 'k3', '--url', url])
    const seen = { text: 'starting nothing', act: (type: (keys: string) => void) => type(CTRL_C) }
    const interrupted = await cliOnTerminal(['start', 'nothing', '--key', 'k2', '--url', url], { seen })

    // Whether the start was carried out is not known, so the workflow may not run.
    expect([query.code, run.code, update.code, signal.code, interrupted.code]).toEqual([4, 3, 4, 3, 130])
    expect(JSON.parse(query.stdout)).toMatchObject({ error: 'DeadlineExceededError' })
    expect(query.stderr).not.toContain('Repeat')
    expect(run.stderr).toContain(`Repeat the command with --key ${JSON.parse(run.stdout).idempotencyKey}, so`)
    expect(update.stderr).toContain(
      `Repeat the command with --run ${RUN.runId} --key 'k 1', so that nothing is done twice.`,
    )
    expect(signal.stderr).toMatch(
      /\nCheck --url, .*\nIt may have been carried out. Repeat the command with --run \S+ --key k3/,
    )
    expect(JSON.parse(signal.stdout)).toMatchObject({ error: 'UnexpectedResponseError', idempotencyKey: 'k3' })
    expect(interrupted.output).toContain('It may have been carried out. Repeat the command with --key k2, so')
  })

  test('portico signal: is repeated only to the run that was the latest before the first attempt', async ({
    portico,
    serveHttp,
  }) => {
    const requests: string[] = []
    const url = await serveHttp(({ method, url }, response) => {
      requests.push(`${method} ${url}`)
      if (method === 'GET') response.setHeader('Content-Type', 'application/json').end(JSON.stringify(RUN))
      else if (requests.length < 4) response.destroy()
      else response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ ...RUN, accepted: true }))
    })

    const { code } = await portico(['signal', 'x', 'y', '--url', url])

    expect(code).toBe(0)
    const sent = `POST /workflow/x/runs/${RUN.runId}/signal/y`
    expect(requests).toEqual(['GET /workflow/x/status', sent, sent, sent])
  })

  test('portico: a redirect is followed to the same origin only (threat 99)', async ({ portico, serveHttp }) => {
    const reached: string[] = []
    const other = await serveHttp(({ url = '' }, response) => {
      reached.push(url)
      response.end('{}')
    })
    const url = await serveHttp(({ url = '' }, response) => {
      if (url.startsWith('/moved')) response.setHeader('Content-Type', 'application/json').end(JSON.stringify(RUN))
      else response.writeHead(307, { Location: url.includes('/away/') ? `${other}${url}` : `/moved${url}` }).end()
    })

    const same = await portico(['status', 'x', '--url', url])
    const away = await portico(['status', 'away', '--url', url])

    expect([same.code, JSON.parse(same.stdout)]).toEqual([0, RUN])
    expect([away.code, reached]).toEqual([3, []])
    expect(away.stderr).toContain('is not followed')
  })
}
