/** The configurations of deploy/proxies.md, with two replicas of which each is killed once. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { freePort } from '../../src/cli/dev/servers/ports.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { makeCertificates } from '../support/certificates.ts'
import { test } from '../support/fixtures.ts'
import { CALLER_HEADERS } from '../support/policy.ts'
import { textOf } from '../support/repository.ts'
import { CADDY_PROGRAM, daemon, NGINX_PROGRAM } from './proxies.ts'

interface Files {
  tlsPort: number
  cert: string
  key: string
}

/** The configuration of the page, with the addresses and certificates of the test, and a port without TLS. */
const PAGE = [
  {
    name: 'nginx',
    ...NGINX_PROGRAM,
    configWith:
      ({ tlsPort, cert, key }: Files) =>
      (target: string, port: number) =>
        `
daemon off;
master_process off;
pid nginx.pid;
events {}
http {
  access_log off;
  client_body_temp_path body; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi; proxy_temp_path proxy;
  ${blockOf('nginx', target)
    .replace('listen 443 ssl http2;', `listen 127.0.0.1:${port}; listen 127.0.0.1:${tlsPort} ssl http2;`)
    .replace('/etc/ssl/portico.pem', cert)
    .replace('/etc/ssl/portico.key', key)}
}`,
  },
  {
    name: 'Caddy',
    ...CADDY_PROGRAM,
    configWith:
      ({ tlsPort, cert, key }: Files) =>
      (target: string, port: number) =>
        `
{
  admin off
  auto_https off
}
${blockOf('caddyfile', target).replace('portico.example.com {', '(portico) {')}
http://127.0.0.1:${port} {
  import portico
}
https://localhost:${tlsPort} {
  tls ${cert} ${key}
  import portico
}
`,
  },
]

function blockOf(language: string, target: string): string {
  const [, block = ''] =
    new RegExp(`\`\`\`${language}\n([^\`]*(?:\`[^\`]+\`[^\`]*)*?)\`\`\``).exec(textOf('deploy/proxies.md')) ?? []
  const [one = '', two = ''] = target.split(' ')
  return block.replace('10.0.0.1:3001', one).replace('10.0.0.2:3001', two)
}

test.for(PAGE)(
  '$name: bodies up to the limit, HTTP/2 and events pass, and each replica may be killed',
  async ({ configWith, ...program }, { startService, worker: _, cleanup }) => {
    const folder = await mkdtemp(join(tmpdir(), 'world-replicas-'))
    cleanup.defer(() => rm(folder, { recursive: true, force: true }))
    const { server } = await makeCertificates({ name: 'localhost' })
    const files = { tlsPort: await freePort(), cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') }
    await writeFile(files.cert, server.cert)
    await writeFile(files.key, server.key)
    const ports = [await freePort(), await freePort()]
    const start = (port: number) => startService({ env: { SERVICE_PORT: `${port}`, SERVICE_IDLE_TIMEOUT: '130s' } })
    const replicas = await Promise.all(ports.map(start))
    const it = daemon({ compresses: false, ...program, config: configWith(files) })
    const { url, stop } = await it.start(ports.map((port) => `127.0.0.1:${port}`).join(' '))
    cleanup.defer(stop)

    const send = (path: string, body: unknown, headers: Record<string, string> = {}) =>
      fetch(`${url}${path}`, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { ...CALLER_HEADERS, 'Content-Type': 'application/json', ...headers },
      })
    const statusOf = async (response: Promise<Response>) => {
      const { status, body } = await response
      await body?.cancel()
      return status
    }
    const run = { workflowName: 'nothing', input: null }
    const isOnceMore = (status: number) => [502, 503].includes(status)
    /** A POST that a replica may have received is not sent again by the proxy, so its client does it, with a key. */
    async function withKey(): Promise<number> {
      const headers = { 'Idempotency-Key': crypto.randomUUID() }
      return until('it is answered', async () => {
        const status = await statusOf(send('/workflow/run', run, headers))
        return !isOnceMore(status) && status
      })
    }
    const work = async () => [await withKey(), await statusOf(fetch(`${url}/ready`))]
    const large = (bytes: number) => statusOf(send('/workflow/run', { ...run, input: 'x'.repeat(bytes) }))

    expect(await large(1_900_000)).toBe(200)
    expect(await large(3_000_000)).toBe(413)
    expect(await overHttp2(`https://localhost:${files.tlsPort}`)).toBe(200)
    const events = await send(
      '/workflow/run',
      { workflowName: 'neverEnds', input: null },
      { Accept: 'text/event-stream' },
    )
    const first = await events.body?.pipeThrough(new TextDecoderStream()).getReader().read()
    expect(first?.value).toContain('workflowId')

    for (const [index, port] of ports.entries()) {
      await replicas[index]?.kill()
      const statuses = (await Promise.all(Array.from({ length: 10 }, work))).flat()
      expect(statuses).toEqual(statuses.map(() => 200))
      const again = await start(port)
      await until('the proxy uses it again', async () => {
        await statusOf(fetch(`${url}/capabilities`, { headers: CALLER_HEADERS }))
        return again.events.some((event) => event.route === '/capabilities')
      })
    }
  },
)

/** The status of `/health` over HTTP/2 alone. */
async function overHttp2(url: string): Promise<number> {
  const session = connect(url, { rejectUnauthorized: false })
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  session.on('error', reject)
  const request = session.request({ ':path': '/health' })
  request.on('response', (headers) => resolve(Number(headers[':status'])))
  request.on('error', reject)
  request.resume()
  request.end()
  return promise.finally(() => session.close())
}
