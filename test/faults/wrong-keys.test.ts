/** An engine that is there and won't have us, or can't be trusted. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generate } from 'selfsigned'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { startFaultProxy } from '../support/fault-proxy.ts'
import { type LogEvent, type Service, startService } from '../support/service.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { until } from '../support/until.ts'
import { CATALOG_ENDPOINTS, callEach, runEndpoints, told } from './endpoints.ts'

// gRPC's.
const UNAUTHENTICATED = 16
const METHODS = [
  'StartWorkflowExecution',
  'DescribeWorkflowExecution',
  'GetWorkflowExecutionHistory',
  'SignalWorkflowExecution',
  'QueryWorkflow',
  'UpdateWorkflowExecution',
]
const API_KEY = 'not-the-right-key'
const NOBODY = { workflowId: 'nobody', runId: crypto.randomUUID() }

const ends: (() => Promise<unknown>)[] = []

afterAll(async () => {
  for (const end of ends.reverse()) await end()
})

/** Behind it each call is refused, as one with a wrong key is by an engine that looks at keys. */
async function refusingEngine(): Promise<string> {
  const proxy = await startFaultProxy(inject('engine').address)
  ends.push(() => proxy.stop())
  for (const method of METHODS) proxy.on({ method, containing: '', fault: { code: UNAUTHENTICATED, message: 'Request unauthorized.' } })
  return proxy.address
}

/** A service with these variables, and the one line that it logs of its engine before anybody calls. */
async function started(address: string, env: Record<string, string>): Promise<{ service: Service; warnings: LogEvent[] }> {
  const service = await startService({ address, catalog: 'keys', env, engine: 'faulty' })
  ends.push(() => service.kill())
  const warnings = () => service.events.filter(({ level }) => level !== 'info')
  await until('it has tried its engine', () => warnings().length > 0)
  return { service, warnings: warnings() }
}

describe('an API key that is refused', () => {
  let service: Service
  let warnings: LogEvent[]
  beforeAll(async () => {
    ;({ service, warnings } = await started(await refusingEngine(), { ENGINE_API_KEY: API_KEY, ENGINE_TLS: 'false' }))
  })

  test('wrong keys: is told once at start, with the variable to look at, and not itself', () => {
    expect(warnings.map(({ message }) => message)).toEqual([expect.stringContaining('ENGINE_API_KEY')])
    expect(JSON.stringify(service.events)).not.toContain(API_KEY)
  })

  test('wrong keys: is a 502 on every endpoint, which tells nobody why', async () => {
    const answers = await callEach(service, [...runEndpoints(NOBODY), ...CATALOG_ENDPOINTS])

    expect(told(answers)).toEqual(answers.map(({ endpoint }) => `${endpoint} 502 EngineError`))
    expect(answers.map(({ text }) => text).join()).not.toMatch(/key|unauthorized/i)
  })
})

describe('a namespace that is missing', () => {
  let service: Service
  let warnings: LogEvent[]
  beforeAll(async () => {
    ;({ service, warnings } = await started(inject('engine').address, { ENGINE_NAMESPACE: 'missing' }))
  })

  test('wrong keys: is told once at start, with the variable to look at', () => {
    expect(warnings.map(({ message }) => message)).toEqual([expect.stringContaining('ENGINE_NAMESPACE')])
  })

  test('wrong keys: is a 502 on every endpoint, which tells nobody why', async () => {
    const answers = await callEach(service, [...runEndpoints(NOBODY), ...CATALOG_ENDPOINTS])

    expect(told(answers)).toEqual(answers.map(({ endpoint }) => `${endpoint} 502 EngineError`))
    expect(answers.map(({ text }) => text).join()).not.toMatch(/namespace/i)
  })

  test('wrong keys: is in the log of each request too, with the variable', async () => {
    const { body } = await service.call('GET', '/workflow/nobody/status')

    const event = await until('it is logged', () => service.events.find(({ requestId }) => requestId === body.requestId))

    expect(event.level).toBe('error')
    expect(JSON.stringify(event)).toContain('ENGINE_NAMESPACE')
  })
})

describe('a certificate that has expired', () => {
  let folder: string
  let service: Service
  let warnings: LogEvent[]
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'portico-expired-'))
    const { authority, server } = await expiredCertificate()
    await writeFile(join(folder, 'ca.pem'), authority)
    const proxy = await startTcpProxy(inject('engine').address, { tls: server })
    ends.push(() => proxy.close())
    const env = { ENGINE_TLS_CA: join(folder, 'ca.pem'), ENGINE_TLS_SERVER_NAME: 'localhost' }
    ;({ service, warnings } = await started(proxy.address, env))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  test('wrong keys: is told once at start, with the variable to look at', () => {
    expect(warnings.map(({ message }) => message)).toEqual([expect.stringContaining('ENGINE_TLS')])
    expect(JSON.stringify(warnings)).toContain('certificate has expired')
  })

  test('wrong keys: is a 503 on every endpoint, for nothing was sent', async () => {
    const answers = await callEach(service, [...runEndpoints(NOBODY), ...CATALOG_ENDPOINTS])

    expect(told(answers)).toEqual(answers.map(({ endpoint }) => `${endpoint} 503 EngineUnavailableError`))
    expect(answers.map(({ text }) => text).join()).not.toMatch(/certificate/i)
    expect((await service.call('GET', '/ready')).status).toBe(503)
  })
})

async function expiredCertificate() {
  const authority = await generate([{ name: 'commonName', value: 'Test Authority' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [{ name: 'basicConstraints', cA: true, critical: true }],
  })
  const server = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    ca: { key: authority.private, cert: authority.cert },
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] }],
    notBeforeDate: new Date('2020-01-01'),
    notAfterDate: new Date('2020-02-01'),
  })
  return { authority: authority.cert, server: { key: server.private, cert: server.cert } }
}
