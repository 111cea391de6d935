import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../../../src/cli/dev/servers/ports.ts'
import { wasNotSent } from '../../../../src/shared/lib/not-sent.ts'
import { makeCertificates } from '../../../support/certificates.ts'

test('wasNotSent: there was no connection, or no valid certificate', async () => {
  const { server } = await makeCertificates()
  const errors = await Promise.all([
    failureOf(`http://127.0.0.1:${await freePort()}`),
    failureOf(`http://localhost:${await freePort()}`),
    // No name of DNS.
    failureOf('http://a..b'),
    // Of X11: fetch sends nothing there.
    failureOf('http://127.0.0.1:6000'),
    failureOf(`https://127.0.0.1:${await portOf(createServer())}`),
    failureOf(`https://127.0.0.1:${await portOf(createHttpsServer(server))}`),
  ])

  expect(errors.map(wasNotSent)).toEqual(errors.map(() => true))
})

test('wasNotSent: a connection that was cut may have carried the request', async () => {
  const cut: RequestListener = (request) => void request.resume().once('end', () => request.socket.destroy())
  const reset: RequestListener = (request) => void request.resume().once('end', () => request.socket.resetAndDestroy())
  const errors = await Promise.all([
    failureOf(`http://127.0.0.1:${await portOf(createServer(cut))}`),
    failureOf(`http://127.0.0.1:${await portOf(createServer(reset))}`),
    failureOf(`http://127.0.0.1:${await portOf(createServer(() => {}))}`, AbortSignal.timeout(100)),
  ])
  // Of a connection over which a request was sent.
  const unreachable = Object.assign(new Error('read EHOSTUNREACH'), { code: 'EHOSTUNREACH', syscall: 'read' })
  const several = new AggregateError([Object.assign(new Error(), { syscall: 'connect' }), unreachable])

  expect([...errors, unreachable, several, null].map(wasNotSent)).toEqual([false, false, false, false, false, false])
})

/** What `fetch` rejects with. */
async function failureOf(url: string, signal: AbortSignal | null = null): Promise<unknown> {
  return fetch(url, { method: 'POST', body: '{}', signal }).then(
    () => null,
    (error) => error,
  )
}

async function portOf(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  onTestFinished(() => void server.close().closeAllConnections())
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}
