/** Every variable has a recognizable value, which shows nowhere whatever fails. `VARIABLES` lists the exceptions. */
import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { RunningEngine } from '../../dev/servers/engine.ts'
import type { RunningRedis } from '../../dev/servers/redis.ts'
import { startTcpProxy, type TcpProxy } from '../../dev/servers/tcp-proxy.ts'
import { freePort } from '../../src/cli/dev/servers/ports.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { type Answer, besideTrace } from '../support/api.ts'
import { POLL } from '../support/call-log.ts'
import { type Certificate, makeCertificates } from '../support/certificates.ts'
import { type CodecServer, startCodec } from '../support/codec.ts'
import type { FaultProxy } from '../support/fault-proxy.ts'
import { testWithOwnEngine } from '../support/fixtures.ts'
import { ENGINE_ERROR_TEXT } from '../support/internal-strings.ts'
import { announceErrors } from '../support/invariants.ts'
import { readiness } from '../support/readiness.ts'
import { textOf } from '../support/repository.ts'
import { testCatalog } from '../support/test-catalog.ts'
import { leaksIn, VARIABLES } from '../support/variables.ts'
import { CATALOG_ENDPOINTS, callEach, runEndpoints } from './endpoints.ts'
import { MARKS, type ServiceWithSecrets, startServiceWithSecrets, TOKEN } from './service-with-secrets.ts'

const NAMESPACE = MARKS.ENGINE_NAMESPACE ?? ''
const CATALOG = MARKS.SERVICE_CATALOG_ID ?? ''

/** Of the worker's machine and ours: stacks, paths, identities. */
const FOREIGN = [hostname(), process.cwd(), `${process.pid}@`, 'node_modules', '    at ', 'stackTrace']

const test = testWithOwnEngine({ namespaces: [NAMESPACE] })
test.override('catalog', () => CATALOG)

let engine: RunningEngine
let proxy: FaultProxy
let tls: TcpProxy
let redis: RunningRedis
let codec: CodecServer
let cleanup: AsyncDisposableStack
let env: Record<string, string>
let healthy: ServiceWithSecrets

test.beforeAll(async ({ engine: ownEngine, redis: ownRedis, faultProxy, s3, cleanup: stack }) => {
  engine = ownEngine
  redis = ownRedis
  proxy = faultProxy
  cleanup = stack
  codec = await startCodec()
  cleanup.defer(() => codec.close())

  const { authority, server, client } = await makeCertificates({ name: MARKS.ENGINE_TLS_SERVER_NAME })
  tls = await startTlsProxy(proxy.address, server)
  // Not below `folder`, which the worker names in its destinations.
  const ownFolder = await mkdtemp(join(tmpdir(), 'marked-folder-'))
  cleanup.defer(() => rm(ownFolder, { recursive: true, force: true }))
  const file = async (name: string, text: string) => {
    await writeFile(join(ownFolder, name), text)
    return join(ownFolder, name)
  }
  const traces = join(ownFolder, 'marked-traces')
  await mkdir(traces)
  env = {
    ENGINE_ADDRESS: tls.address,
    ENGINE_TLS_CA: await file('marked-ca.pem', authority.cert),
    ENGINE_TLS_CERT: await file('marked-cert.pem', client.cert),
    ENGINE_TLS_KEY: await file('marked-key.pem', client.key),
    ENGINE_CODEC_ENDPOINT: `${codec.url}/marked-codec`,
    SERVICE_POLICY_FILE: await file('marked-policy.json', '{"version":1,"rules":[]}'),
    // A wrong password and wrong keys: each store rejects them.
    SERVICE_KVSTORE_URL: `redis://:marked-kv-password@127.0.0.1:${redis.port}`,
    SERVICE_STORAGE_ENDPOINT: s3.endpoint,
    SERVICE_TRACE_LOCAL_DIR: traces,
  }
})

test.beforeAll(async ({ startTracedWorker, s3, folder }) => {
  const storage = {
    accessKeyId: 'marked-access-key',
    secretAccessKey: 'marked-secret-key',
    region: MARKS.SERVICE_STORAGE_REGION ?? '',
    bucket: MARKS.SERVICE_STORAGE_BUCKET ?? '',
    endpoint: s3.endpoint,
  }
  // The worker names its own destinations and stores nothing there: the API is rejected by the stores, and the folder
  // is outside the API's own.
  const local = { directory: folder, writes: true }
  const traces = { remote: { storage, kvstore: null }, local, maxBytes: 1 << 20 }
  await startTracedWorker({ namespace: NAMESPACE, plugin: { catalog: testCatalog, traces } })
  healthy = await launch({})
  await until('the catalog is published', async () => (await healthy.call('GET', '/workflow/catalog')).status === 200)
})

async function startTlsProxy(target: string, certificate: Certificate): Promise<TcpProxy> {
  const proxy = await startTcpProxy(target, { tls: { ...certificate, ALPNProtocols: ['h2'] } })
  cleanup.defer(() => proxy.close())
  return proxy
}

async function launch(overrides: Record<string, string>): Promise<ServiceWithSecrets> {
  const service = await startServiceWithSecrets({ ...env, ...overrides })
  cleanup.defer(async () => void (await service.kill()))
  return service
}

function expectNoLeaks({ answers, lines, env }: ServiceWithSecrets): void {
  const responses = answers.map((answer) => `${JSON.stringify([...answer.headers])}\n${besideTrace(answer)}`)
  expect(
    responses.flatMap((text) => leaksIn(text, env, 'answers').map((name) => `${name}: ${text}`))[0],
  ).toBeUndefined()
  const destinations = answers.map(({ body }) => JSON.stringify(body?.trace ?? null)).join('\n')
  expect(leaksIn(destinations, env, 'destinations')).toEqual([])
  const words = [...FOREIGN, 'PRIVATE KEY', '127.0.0.1', 'Error: ']
  expect(responses.find((text) => words.some((word) => text.includes(word)))).toBeUndefined()

  expect(lines.flatMap((line) => leaksIn(line, env, 'log').map((name) => `${name}: ${line}`))[0]).toBeUndefined()
  expect(lines.find((line) => line.includes('PRIVATE KEY'))).toBeUndefined()
  // A bug is logged with its stack, an error of the engine with its message (contract §1).
  const expected = lines.filter((line) => !line.includes('"status":500') && !line.includes(ENGINE_ERROR_TEXT))
  expect(expected.find((line) => FOREIGN.some((word) => line.includes(word)))).toBeUndefined()
  const ofEngine = [env.ENGINE_ADDRESS, new URL(env.ENGINE_HTTP_URL || 'http://none').host].map(String)
  const listening = expected.filter((line) =>
    ofEngine.reduce((rest, host) => rest.replaceAll(host, ''), line).includes('127.0.0.1'),
  )
  expect(listening.map((line) => JSON.parse(line).message)).toEqual(['listening'])
}

async function run(workflowName: string, input: unknown = null) {
  return (await healthy.call('POST', '/workflow/run', { workflowName, input })).body
}

async function readOf(workflowId: string): Promise<Answer[]> {
  return Promise.all(
    ['result', 'trace-log', 'status'].map((what) => healthy.call('GET', `/workflow/${workflowId}/${what}`)),
  )
}

test('secrets: failing workflows, activities, queries and updates and their traces reveal nothing (threat 82)', async () => {
  const names = ['failWithCauses', 'failRetryable', 'failInActivity', 'failInChild', 'failCancelledUnasked']
  const failed = await Promise.all(names.map((name) => run(name)))
  expect(failed.map(({ status, errorDetails }) => [status, typeof errorDetails?.message])).toEqual(
    names.map(() => ['failed', 'string']),
  )
  await Promise.all(failed.map(({ workflowId }) => readOf(workflowId)))
  const { workflowId, runId } = (
    await healthy.call('POST', '/workflow/start', { workflowName: 'messages', input: null })
  ).body
  const reads = runEndpoints({ workflowId, runId }).filter(([, path]) =>
    /\/(?:status|explain|result|input)$/.test(path),
  )
  await callEach(healthy, reads)
  const paths = ['query/throws', 'query/throwsFailure', 'update/fails', 'update/validated', 'query/none', 'update/none']
  const statuses: number[] = []
  // One after the other: a run holds one waiting query.
  for (const path of paths)
    statuses.push((await healthy.call('POST', `/workflow/${workflowId}/${path}`, { payload: -1 })).status)
  expect(statuses).toEqual([422, 422, 422, 422, 404, 404])

  expectNoLeaks(healthy)
})

test('secrets: rejected requests reveal nothing (threat 28)', async () => {
  const rejected = await Promise.all([
    healthy.call('GET', '/workflow/x/status', undefined, { Authorization: 'Basic wrong' }),
    healthy.call('GET', '/workflow/x/status', undefined, { Authorization: `Digest ${TOKEN}x` }),
    healthy.call('POST', '/workflow/run', '{"workflowName":'),
    healthy.call('POST', '/workflow/run', { workflowName: 'none', input: null }),
    healthy.call('POST', '/workflow/run', { workflowName: 'sleepFor', input: 'x' }),
    healthy.call('POST', '/workflow/run', { workflowName: 'echo', input: 1, catalog: `none-${randomUUID()}` }),
    healthy.call('GET', `/workflow/${randomUUID()}/status`),
    healthy.call('DELETE', '/workflow/run'),
    healthy.call('GET', '/none'),
    readiness(healthy),
    healthy.call('OPTIONS', '/workflow/run', undefined, {
      Origin: 'https://another.test',
      'Access-Control-Request-Method': 'POST',
    }),
  ])

  expect(rejected.map(({ status }) => status)).toEqual([401, 401, 400, 424, 400, 503, 404, 405, 404, 200, 204])
  expectNoLeaks(healthy)
})

test('secrets: bugs and unexpected responses of the engine reveal nothing (threat 77)', async () => {
  announceErrors(/does not begin with WorkflowExecutionStarted/, new RegExp(ENGINE_ERROR_TEXT))
  const { workflowId } = await run('nothing')
  const foreign = `127.0.0.1:7234, ${process.pid}@${hostname()} at ${process.cwd()}`
  const leaky = `${ENGINE_ERROR_TEXT} ${foreign}, key marked-api-key of ${NAMESPACE} at ${tls.address}`
  const codes = [2, 3, 5, 7, 8, 9, 10, 12, 13, 14, 15, 16]
  proxy.on({
    method: 'GetWorkflowExecutionHistory',
    containing: workflowId,
    fault: { answer: new Uint8Array() },
    times: 1,
  })
  for (const code of codes)
    proxy.on({ method: 'DescribeWorkflowExecution', containing: `leaky-${code}-`, fault: { code, message: leaky } })

  const bug = await healthy.call('GET', `/workflow/${workflowId}/result`)
  const answers = await Promise.all(codes.map((code) => healthy.call('GET', `/workflow/leaky-${code}-/status`)))

  expect(bug.status).toBe(500)
  expect(answers.map(({ status }) => status).filter((status) => status < 500)).toEqual([])
  const whole = await until('it is logged', () =>
    healthy.lines.find((line) => line.includes(ENGINE_ERROR_TEXT) && line.includes('"status":502')),
  )
  expect(whole).toContain(`key <ENGINE_API_KEY> of ${NAMESPACE} at ${tls.address}`)
  expectNoLeaks(healthy)
})

test('secrets: a connection to the engine that breaks before or during a call reveals nothing (threat 77)', async () => {
  const { workflowId, runId } = (
    await healthy.call('POST', '/workflow/start', { workflowName: 'sleepFor', input: { ms: 60_000 } })
  ).body
  const polled = randomUUID()
  const body = { workflowName: 'neverEnds', input: null, timeout: '15s', workflowId: polled }
  const waiting = healthy.call('POST', '/workflow/run', body)
  await until('it waits', () => proxy.calls.open(POLL, polled) > 0)

  tls.interrupt()
  const answers = await callEach(healthy, runEndpoints({ workflowId, runId }))
  const ended = await waiting
  await until('it is not ready', async () => (await healthy.call('GET', '/ready')).status === 503)
  tls.restore()

  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 503))
  expect([ended.status, typeof ended.body.workflowId, typeof ended.body.runId]).toEqual([424, 'string', 'string'])
  await until('the engine is back', async () => (await healthy.call('GET', '/ready')).status === 200)
  expectNoLeaks(healthy)
})

test('secrets: stores that reject, disconnect or are unreachable reveal nothing (threat 87)', async () => {
  const { workflowId } = await run('nothing')

  const rejected = await healthy.call('GET', `/workflow/${workflowId}/trace-log`)
  await redis.kill()
  const gone = await healthy.call('GET', `/workflow/${workflowId}/trace-log`)

  expect(rejected.body.warnings).toEqual([
    expect.stringMatching(/^remote: The object storage returned 403 .+check the SERVICE_STORAGE_ credentials/),
    expect.stringMatching(/^kvstore: The key-value store/),
    'local: The trace destination is not allowed: it is outside SERVICE_TRACE_LOCAL_DIR',
  ])
  expect(gone.body.warnings[1]).toMatch(/^kvstore: The key-value store/)
  expectNoLeaks(healthy)
})

test('secrets: a codec that fails or is unreachable reveals nothing (threat 89)', async () => {
  announceErrors(/"error":"PayloadCodecError"/)
  codec.fail(500)
  const failed = await healthy.call('POST', '/workflow/start', { workflowName: 'nothing', input: null })
  await codec.close()
  const gone = await healthy.call('POST', '/workflow/start', { workflowName: 'nothing', input: null })

  expect([failed, gone].map(({ status, body }) => [status, body.error])).toEqual(
    Array(2).fill([502, 'PayloadCodecError']),
  )
  const logged = () => healthy.lines.filter((line) => line.includes('check ENGINE_CODEC_ENDPOINT'))
  await until('it is logged, with the variable to look at', () => logged().length >= 2)
  expectNoLeaks(healthy)
})

test('secrets: an engine that is unreachable by name, by port, by its certificate or over HTTP reveals nothing (threat 77) (failure 1)', async () => {
  const { server } = await makeCertificates({ name: MARKS.ENGINE_TLS_SERVER_NAME })
  const untrusted = await startTlsProxy(engine.address, server)
  const another = await startTlsProxy(engine.address, (await makeCertificates()).server)
  const plain = Object.fromEntries(['CA', 'CERT', 'KEY', 'SERVER_NAME'].map((name) => [`ENGINE_TLS_${name}`, '']))
  const http = { ...plain, ENGINE_TLS: 'false', ENGINE_TRANSPORT: 'http' }
  const run = { workflowId: 'any', runId: randomUUID() }

  const unreachable: Record<string, string>[] = [
    { ENGINE_ADDRESS: MARKS.ENGINE_ADDRESS ?? '' },
    { ENGINE_ADDRESS: `127.0.0.1:${await freePort()}` },
    { ENGINE_ADDRESS: `localhost:${await freePort()}` },
    { ENGINE_ADDRESS: untrusted.address },
    { ENGINE_ADDRESS: another.address },
    { ...http, ENGINE_HTTP_URL: MARKS.ENGINE_HTTP_URL ?? '' },
    { ...http, ENGINE_HTTP_URL: `http://127.0.0.1:${await freePort()}/marked-base` },
  ]
  const services = await Promise.all(unreachable.map((where) => launch({ ...where, ENGINE_CODEC_ENDPOINT: '' })))
  const answers = await Promise.all(
    services.map((service) => callEach(service, [...runEndpoints(run), ...CATALOG_ENDPOINTS])),
  )

  const rejected = answers.flat().filter(({ status }) => status !== 503 && status !== 424)
  // Features that the engine's HTTP API does not support are rejected without the engine.
  const overHttp = unreachable.filter(({ ENGINE_TRANSPORT }) => ENGINE_TRANSPORT === 'http')
  expect(rejected.map(({ endpoint, status }) => `${endpoint} ${status}`)).toEqual(
    overHttp.map(() => 'POST /workflow/update-with-start/set 501'),
  )
  await until('each says so', () =>
    services.every(({ lines }) => lines.some((line) => line.includes('cannot use the engine yet'))),
  )
  for (const service of services) expectNoLeaks(service)
})

test('secrets: configuration errors name the variable and never show its value, even one that may show elsewhere (threat 95)', async () => {
  const invalid = Object.fromEntries(Object.keys(VARIABLES).map((name) => [name, `marked-${name.toLowerCase()} tökén`]))

  const [wrong, missing, taken] = await Promise.all([
    launch({ ...invalid, SERVICE_KVSTORE_URL: 'ftp://user:marked-password@host' }),
    launch({ ENGINE_TLS_CA: MARKS.ENGINE_TLS_CA ?? '' }),
    launch({ SERVICE_HOST: MARKS.SERVICE_HOST ?? '' }),
  ])

  expect([await wrong.ended, await missing.ended, await taken.ended].map(({ code }) => code)).toEqual([1, 1, 1])
  const printed = [...wrong.lines, ...missing.lines].join('\n')
  for (const name of [
    'ENGINE_ADDRESS',
    'ENGINE_API_KEY',
    'SERVICE_PORT',
    'SERVICE_KVSTORE_URL',
    'ENGINE_TLS_CA names a file',
  ])
    expect(printed).toContain(name)
  expect(printed).not.toMatch(/marked|tökén/)
  expect(taken.lines.join('\n')).toContain('check SERVICE_HOST and SERVICE_PORT')
  for (const service of [wrong, missing, taken])
    expect(service.lines.flatMap((line) => leaksIn(line, service.env, 'printed'))).toEqual([])
})

test('secrets: every variable of the configuration is in the table (threat 28)', () => {
  const configuration = textOf('docs/configuration.md')
  const documented = [...configuration.matchAll(/^\| `((?:ENGINE|SERVICE)_\w+)`/gm)].map((match) => match[1])

  expect(Object.keys(VARIABLES).toSorted()).toEqual(documented.toSorted())
})
