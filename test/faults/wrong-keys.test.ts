/** An engine that is reachable but rejects our key or namespace, or has an expired certificate. */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { generate } from 'selfsigned'
import { beforeAll, describe, expect, inject } from 'vitest'
import type { LogEvent } from '../../dev/servers/service.ts'
import { startTcpProxy } from '../../dev/servers/tcp-proxy.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { GrpcCode } from '../../src/shared/temporal/grpc-code.ts'
import { startFaultProxy } from '../support/fault-proxy.ts'
import { test } from '../support/fixtures.ts'
import { announceErrors } from '../support/invariants.ts'
import { promisedError } from '../support/promises.ts'
import { readiness } from '../support/readiness.ts'
import { NO_RESPONSE, type Service, startService } from '../support/service.ts'
import { CATALOG_ENDPOINTS, callEach, runEndpoints, toStatusLines } from './endpoints.ts'

const METHODS = [
  'GetSystemInfo',
  'StartWorkflowExecution',
  'DescribeWorkflowExecution',
  'DescribeTaskQueue',
  'ListWorkflowExecutions',
  'CountWorkflowExecutions',
  'GetWorkflowExecutionHistory',
  'GetWorkflowExecutionHistoryReverse',
  'SignalWorkflowExecution',
  'QueryWorkflow',
  'UpdateWorkflowExecution',
  'RequestCancelWorkflowExecution',
  'TerminateWorkflowExecution',
]
const API_KEY = 'not-the-right-key'
const REJECTED = promisedError(12, '502 EngineError').join(' ')
const UNREADY = promisedError(12, '503')
const NOBODY = { workflowId: 'nobody', runId: crypto.randomUUID() }

let folder: string
let rejected: Service
let missing: Service
let expired: Service
let cleanup: AsyncDisposableStack

test.beforeAll(async ({ folder: ownFolder, cleanup: stack }) => {
  cleanup = stack
  folder = ownFolder
  const { address } = inject('engine')
  const untrusted = await expiredEngine()
  ;[rejected, missing, expired] = await Promise.all([
    started(await rejectingEngine(), { ENGINE_API_KEY: API_KEY, ENGINE_TLS: 'false' }),
    started(address, { ENGINE_NAMESPACE: 'missing' }),
    started(untrusted, { ENGINE_TLS_CA: join(folder, 'ca.pem'), ENGINE_TLS_SERVER_NAME: 'localhost' }),
  ])
})

async function started(address: string, env: Record<string, string>): Promise<Service> {
  const service = await startService({ address, catalog: 'keys', env, engine: 'disturbed' })
  cleanup.defer(async () => void (await service.kill()))
  return service
}

/** Its log lines other than requests, after it has called its engine and received a request on every endpoint. */
async function warningsOf(service: Service): Promise<LogEvent[]> {
  const isExpected = (message: string) => message === 'request' || message === NO_RESPONSE
  const warnings = () => service.events.filter(({ level, message }) => level !== 'info' && !isExpected(message))
  await until('it has tried its engine', () => warnings().length > 0)
  await callEach(service, [...runEndpoints(NOBODY), ...CATALOG_ENDPOINTS])
  return warnings()
}

/** Behind it each call is rejected, as one with a wrong key is by an engine that looks at keys. */
async function rejectingEngine(): Promise<string> {
  const proxy = await startFaultProxy(inject('engine').address)
  cleanup.defer(async () => void (await proxy.stop()))
  for (const method of METHODS)
    proxy.on({ method, containing: '', fault: { code: GrpcCode.UNAUTHENTICATED, message: 'Request unauthorized.' } })
  return proxy.address
}

/** Its certificate was good once, for clients that know the authority in `ca.pem`. */
async function expiredEngine(): Promise<string> {
  const { authority, server } = await expiredCertificate()
  await writeFile(join(folder, 'ca.pem'), authority)
  const proxy = await startTcpProxy(inject('engine').address, { tls: server })
  cleanup.defer(async () => void (await proxy.close()))
  return proxy.address
}

describe('an API key that is rejected', () => {
  beforeAll(() => announceErrors(/check ENGINE_API_KEY/))

  test('wrong keys: is logged once, with the variable to check and without its value (threat 76) (failure 12)', async () => {
    expect((await warningsOf(rejected)).map(({ message }) => message)).toEqual([
      expect.stringContaining('ENGINE_API_KEY'),
    ])
    expect(JSON.stringify(rejected.events)).not.toContain(API_KEY)
  })

  test('wrong keys: is a 502 on every endpoint, without the reason (threat 76) (failure 12)', async () => {
    const answers = await callEach(rejected, [...runEndpoints(NOBODY), ...CATALOG_ENDPOINTS])

    expect(toStatusLines(answers)).toEqual(answers.map(({ endpoint }) => `${endpoint} ${REJECTED}`))
    expect(answers.map(({ text }) => text).join()).not.toMatch(/key|unauthorized/i)
  })

  test('wrong keys: is not ready (failure 12)', async () => {
    const { status, body } = await readiness(rejected)

    expect([status, body.engine]).toEqual([...UNREADY, 'misconfigured'])
  })
})

describe('a namespace that is missing', () => {
  beforeAll(() => announceErrors(/check ENGINE_NAMESPACE/))

  test('wrong keys: is logged once, with the variable to check', async () => {
    expect((await warningsOf(missing)).map(({ message }) => message)).toEqual([
      expect.stringContaining('ENGINE_NAMESPACE'),
    ])
  })

  test('wrong keys: is a 502 on every endpoint, without the reason (threat 76) (failure 12)', async () => {
    const answers = await callEach(missing, [...runEndpoints(NOBODY), ...CATALOG_ENDPOINTS])

    expect(toStatusLines(answers)).toEqual(answers.map(({ endpoint }) => `${endpoint} ${REJECTED}`))
    expect(answers.map(({ text }) => text).join()).not.toMatch(/namespace/i)
  })

  test('wrong keys: is not ready (failure 12)', async () => {
    const { status, body } = await readiness(missing)

    expect([status, body.engine]).toEqual([...UNREADY, 'misconfigured'])
  })

  test('wrong keys: is in the log of each request too, with the variable', async () => {
    const { body } = await missing.get('nobody/status')

    const event = await until('it is logged', () =>
      missing.events.find(({ message, requestId }) => message === 'request' && requestId === body.requestId),
    )

    expect(event.level).toBe('error')
    expect(JSON.stringify(event)).toContain('ENGINE_NAMESPACE')
  })
})

describe('a certificate that has expired', () => {
  test('wrong keys: is logged once, with the variable to check', async () => {
    const warnings = await warningsOf(expired)

    expect(warnings.map(({ message }) => message)).toEqual([
      expect.stringMatching(/the TLS handshake failed \(certificate has expired\); check ENGINE_TLS_CA\b/),
    ])
    expect(JSON.stringify(warnings)).not.toMatch(/127\.0\.0\.1| {4}at /)
  })

  test('wrong keys: is a 503 on every endpoint, for nothing was sent (failure 16)', async () => {
    const answers = await callEach(expired, [...runEndpoints(NOBODY), ...CATALOG_ENDPOINTS])

    expect(toStatusLines(answers)).toEqual(answers.map(({ endpoint }) => `${endpoint} 503 EngineUnavailableError`))
    expect(answers.map(({ text }) => text).join()).not.toMatch(/certificate/i)
    expect([(await expired.call('GET', '/ready')).status]).toEqual(promisedError(16, '503'))
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
