/** Every variable marked: what is ours to keep shows nowhere, whatever goes wrong. */
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { type Answer, makeApi } from '../support/api.ts'
import { makeCertificates } from '../support/certificates.ts'
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts'
import { freePort } from '../support/ports.ts'
import { type RunningProcess, startProcess } from '../support/process.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { testCatalog } from '../support/test-catalog.ts'
import { until } from '../support/until.ts'
import { startWorker } from '../support/worker.ts'
import { CATALOG_ENDPOINTS, callEach, runEndpoints } from './endpoints.ts'

const ENTRY = fileURLToPath(new URL('../../src/runtime/node.ts', import.meta.url))
const CATALOG = `secrets-${randomUUID()}`
const TOKEN = 'MARKED-token'

/** In no log line, answer or header. */
const SECRETS = {
  SERVICE_API_AUTH_TOKEN: `${TOKEN},MARKED-second-token`,
  ENGINE_API_KEY: 'MARKED-api-key',
  SERVICE_KVSTORE_URL: 'redis://user:MARKED-password@127.0.0.1:1',
  SERVICE_KVSTORE_TOKEN: 'MARKED-kvstore-token',
  SERVICE_STORAGE_ACCESS_KEY_ID: 'MARKED-access-key',
  SERVICE_STORAGE_SECRET_ACCESS_KEY: 'MARKED-secret-key',
}

/** In no answer or header; an operator may need them in the log. */
const INTERNALS = {
  SERVICE_STORAGE_REGION: 'internal-region',
  SERVICE_STORAGE_BUCKET: 'internal-bucket',
  SERVICE_STORAGE_ENDPOINT: 'http://internal-storage.test',
  SERVICE_TRACE_LOCAL_DIR: '/internal-folder',
}

/** Of the worker's machine and ours: stacks, paths, identities, addresses. */
const FOREIGN = [hostname(), process.cwd(), `${process.pid}@`, 'node_modules', '    at ', 'stackTrace', '127.0.0.1', 'Error: ']

interface Marked extends Pick<RunningProcess, 'ended'> {
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  url(): string
  lines: string[]
}

const ends: (() => Promise<unknown>)[] = []
const answers: Answer[] = []
let folder: string
let address: string
let proxy: FaultProxy
let tlsEnv: Record<string, string>
let well: Marked

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'internal-folder-'))
  ends.push(() => rm(folder, { recursive: true, force: true }))
  const { authority, server, client } = await makeCertificates()
  const file = async (name: string, text: string) => {
    await writeFile(join(folder, name), text)
    return join(folder, name)
  }
  const { address: engine } = inject('engine')
  proxy = await startFaultProxy(engine)
  ends.push(() => proxy.stop())
  const tls = await startTcpProxy(proxy.address, { tls: { ...server, ALPNProtocols: ['h2'] } })
  ends.push(() => tls.close())
  address = tls.address
  tlsEnv = {
    ENGINE_TLS_CA: await file('ca.pem', authority.cert),
    ENGINE_TLS_CERT: await file('client.pem', client.cert),
    ENGINE_TLS_KEY: await file('client.key', client.key),
    ENGINE_TLS_SERVER_NAME: 'localhost',
  }
  const worker = await startWorker({ address: engine, taskQueue: CATALOG, catalog: testCatalog })
  ends.push(() => worker.stop())
  well = await launch({ ENGINE_ADDRESS: address, ...tlsEnv })
  await until('the catalog is published', async () => (await well.call('GET', '/workflow/catalog')).status === 200)
})

afterAll(async () => {
  for (const end of ends.reverse()) await end()
})

/** A service with every variable marked; resolves when it listens or has ended. */
async function launch(env: Record<string, string>): Promise<Marked> {
  const lines: string[] = []
  const own = {
    PATH: process.env.PATH,
    SERVICE_PORT: '0',
    SERVICE_HOST: '127.0.0.1',
    SERVICE_CATALOG_ID: CATALOG,
    SERVICE_LOG_LEVEL: 'debug',
  }
  const child = await startProcess({
    command: process.execPath,
    args: [ENTRY],
    env: { ...own, SERVICE_TRACE_REMOTE_ON: 'true', SERVICE_TRACE_LOCAL_ON: 'true', ...SECRETS, ...INTERNALS, ...env },
    onLine: (line) => void lines.push(line),
  })
  ends.push(() => child.kill())
  let over = false
  void child.ended.then(() => {
    over = true
  })
  const url = () => String(/"url":"([^"]+)"/.exec(lines.join('\n'))?.[1])
  await until('it listens or ends', () => over || url() !== 'undefined')
  const marked: Marked = {
    ended: child.ended,
    lines,
    url,
    async call(method, path, body, headers) {
      const answer = await makeApi({ url: url(), token: TOKEN, engine: 'faulty' }).call(method, path, body, headers)
      answers.push(answer)
      return answer
    },
  }
  return marked
}

/** Names of the variables whose value shows in a text: the marked part of it, and of a file what is in it. */
function leaksIn(text: string, marked: Record<string, string>): string[] {
  return Object.entries(marked)
    .filter(([, value]) => (value.match(/MARKED-[\w-]+|internal-[\w-]+/g) ?? [value]).some((part) => text.includes(part)))
    .map(([name]) => name)
}

function expectNothingToldOf(service: Marked): void {
  const told = answers.map(({ headers, text }) => `${JSON.stringify([...headers])}\n${text}`).join('\n')
  expect(leaksIn(told, { ...SECRETS, ...INTERNALS, folder: 'internal-folder', key: 'PRIVATE KEY' })).toEqual([])
  expect(FOREIGN.filter((word) => told.includes(word))).toEqual([])
  const log = service.lines.join('\n')
  expect(leaksIn(log, { ...SECRETS, key: 'PRIVATE KEY' })).toEqual([])
}

async function run(workflowName: string, input: unknown = null) {
  return (await well.call('POST', '/workflow/run', { workflowName, input })).body
}

test('secrets: nothing is told by failing workflows, activities, queries and updates, nor by their traces', async () => {
  const names = ['failWithCauses', 'failRetryable', 'failInActivity', 'failInChild', 'failCancelledUnasked']
  const failed = await Promise.all(names.map((name) => run(name)))
  expect(failed.map(({ status, errorDetails }) => [status, typeof errorDetails?.message])).toEqual(names.map(() => ['failed', 'string']))
  await Promise.all(
    failed.flatMap(({ workflowId }) =>
      ['result', 'trace-log', 'status'].map((what) => well.call('GET', `/workflow/${workflowId}/${what}`)),
    ),
  )
  const { workflowId, runId } = (await well.call('POST', '/workflow/start', { workflowName: 'messages', input: null })).body
  await callEach(well, runEndpoints({ workflowId, runId }).slice(2, 6))
  const paths = ['query/throws', 'query/throwsFailure', 'update/fails', 'update/validated', 'query/none', 'update/none']
  const statuses: number[] = []
  // One after the other: a run holds one waiting query.
  for (const path of paths) statuses.push((await well.call('POST', `/workflow/${workflowId}/${path}`, { payload: -1 })).status)
  expect(statuses).toEqual([422, 422, 422, 422, 404, 404])

  expectNothingToldOf(well)
})

test('secrets: nothing is told by refusals', async () => {
  const refused = await Promise.all([
    well.call('GET', '/workflow/x/status', undefined, { Authorization: 'Basic MARKED' }),
    well.call('GET', '/workflow/x/status', undefined, { Authorization: `Digest ${TOKEN}x` }),
    well.call('POST', '/workflow/run', '{"workflowName":'),
    well.call('POST', '/workflow/run', { workflowName: 'none', input: null }),
    well.call('POST', '/workflow/run', { workflowName: 'sleepFor', input: 'x' }),
    well.call('POST', '/workflow/run', { workflowName: 'echo', input: 1, catalog: `none-${randomUUID()}` }),
    well.call('GET', `/workflow/${randomUUID()}/status`),
    well.call('DELETE', '/workflow/run'),
    well.call('GET', '/none'),
    well.call('GET', '/ready'),
  ])

  expect(refused.map(({ status }) => status)).toEqual([401, 401, 400, 424, 400, 503, 404, 405, 404, 200])
  expectNothingToldOf(well)
})

test('secrets: nothing is told by bugs and by what the engine should never answer', async () => {
  const { workflowId } = await run('nothing')
  const leaky = `unknown: dial tcp 127.0.0.1:7234, ${process.pid}@${hostname()} at ${process.cwd()}`
  const codes = [2, 3, 5, 7, 8, 9, 10, 12, 13, 14, 15, 16]
  proxy.on({ method: 'GetWorkflowExecutionHistory', containing: workflowId, fault: { answer: new Uint8Array() }, times: 1 })
  for (const code of codes) proxy.on({ method: 'DescribeWorkflowExecution', containing: `leaky-${code}-`, fault: { code, message: leaky } })

  const bug = await well.call('GET', `/workflow/${workflowId}/result`)
  const told = await Promise.all(codes.map((code) => well.call('GET', `/workflow/leaky-${code}-/status`)))

  expect(bug.status).toBe(500)
  expect(told.map(({ status }) => status).filter((status) => status < 500)).toEqual([])
  expectNothingToldOf(well)
})

test('secrets: nothing is told while the engine can not be reached, by name, by port, or by its certificate', async () => {
  const { server } = await makeCertificates()
  const untrusted = await startTcpProxy(inject('engine').address, { tls: { ...server, ALPNProtocols: ['h2'] } })
  ends.push(() => untrusted.close())
  const run = { workflowId: 'any', runId: randomUUID() }

  const unreachable = ['internal-host.invalid:7233', `127.0.0.1:${await freePort()}`, untrusted.address]
  const services = await Promise.all(unreachable.map((ENGINE_ADDRESS) => launch({ ENGINE_ADDRESS, ...tlsEnv })))
  const told = await Promise.all(services.map((service) => callEach(service, [...runEndpoints(run), ...CATALOG_ENDPOINTS])))

  expect(told.flat().map(({ status }) => status)).toEqual(told.flat().map(() => 503))
  for (const service of services) expectNothingToldOf(service)
  expect(leaksIn(answers.map(({ text }) => text).join('\n'), { ENGINE_ADDRESS: 'internal-host' })).toEqual([])
})

test('secrets: faults of the configuration name the variable and never show its value', async () => {
  const faulty = {
    ENGINE_ADDRESS: 'https://MARKED-address',
    ENGINE_API_KEY: 'MARKED key',
    ENGINE_TRANSPORT: 'MARKED-transport',
    ENGINE_HTTP_URL: 'ftp://MARKED-url',
    ENGINE_TLS: 'MARKED-flag',
    SERVICE_API_AUTH_TOKEN: 'MARKED-tökén',
    SERVICE_PORT: 'MARKED-port',
    SERVICE_KVSTORE_URL: 'ftp://user:MARKED-password@host',
    SERVICE_STORAGE_REGION: 'MARKED-region',
    SERVICE_STORAGE_BUCKET: 'MARKED-bucket',
    SERVICE_STORAGE_ENDPOINT: 'MARKED-endpoint',
    SERVICE_CORS_ORIGINS: 'MARKED-origin',
    SERVICE_LOG_LEVEL: 'MARKED-level',
    SERVICE_MESSAGE_TIMEOUT: 'MARKED-time',
  }

  const [wrong, missing] = await Promise.all([launch(faulty), launch({ ENGINE_ADDRESS: address, ENGINE_TLS_CA: '/MARKED-folder/ca.pem' })])

  expect([await wrong.ended, await missing.ended].map(({ code }) => code)).toEqual([1, 1])
  const printed = [...wrong.lines, ...missing.lines].join('\n')
  for (const name of [...Object.keys(faulty), 'ENGINE_TLS_CA']) expect(printed).toContain(name)
  expect(printed).not.toMatch(/MARKED|tökén/)
})
