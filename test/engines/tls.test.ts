import { createSecureServer } from 'node:http2'
import type { TlsOptions } from 'node:tls'
import { Connection } from '@temporalio/client'
import Long from 'long'
import { describe, expect, inject } from 'vitest'
import { startTcpProxy } from '../../dev/servers/tcp-proxy.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { createEngine } from '../../src/service/engine/engine.ts'
import type { GrpcTls } from '../../src/service/engine/transport/grpc/options.ts'
import { grpcTransport } from '../../src/service/engine/transport/grpc/transport.ts'
import type { Engine } from '../../src/service/model/engine.ts'
import { call, rejection } from '../conformance/engine/engine-fixture.ts'
import { type Certificates, makeCertificates } from '../support/certificates.ts'
import { test } from '../support/fixtures.ts'
import { startWorker } from '../support/worker.ts'

let certificates: Certificates
let strangers: Certificates
let cleanup: AsyncDisposableStack

test.beforeAll(async ({ cleanup: stack }) => {
  cleanup = stack
  ;[certificates, strangers] = await Promise.all([makeCertificates(), makeCertificates()])
})

interface Reach {
  tls: GrpcTls | null
  apiKey?: string | null
  namespace?: string
}

function anEngine(address: string, { tls, apiKey = null, namespace = 'default' }: Reach): Engine {
  const transport = grpcTransport({ address, apiKey, tls })
  cleanup.defer(async () => void (await transport.close()))
  return createEngine({ transport, namespace, maxPayloadBytes: 1000, codec: null })
}

/** The real engine behind TLS with a certificate for `localhost`, at an address that the certificate does not name. */
async function secured(options: TlsOptions = {}): Promise<string> {
  const tls = { ...certificates.server, ca: certificates.authority.cert, ALPNProtocols: ['h2'], ...options }
  const proxy = await startTcpProxy(inject('engine').address, { tls })
  cleanup.defer(async () => void (await proxy.close()))
  return proxy.address
}

function trusted(more: GrpcTls = {}): GrpcTls {
  return { ca: certificates.authority.cert, serverName: 'localhost', ...more }
}

const MUTUAL: TlsOptions = { requestCert: true, rejectUnauthorized: true }

/** The error of a call, which must not show the engine's address. */
async function unreachable(address: string, tls: GrpcTls | null): Promise<unknown> {
  const rejected = await rejection(anEngine(address, { tls }).describe({ workflowId: 'any' }, call(5000)))
  expect(JSON.stringify(rejected)).not.toMatch(/127\.0\.0\.1|localhost|certificate/)
  return rejected
}

const UNAVAILABLE = {
  error: 'EngineUnavailableError',
  message: 'The workflow engine is not responding.',
  workflowId: 'any',
  retryAfterSeconds: 1,
}

describe.concurrent('over gRPC', () => {
  test('TLS: an engine with a trusted authority is reachable', async () => {
    const engine = anEngine(await secured(), { tls: trusted() })

    expect((await rejection(engine.describe({ workflowId: 'none' }, call()))).error).toBe('WorkflowNotFoundError')
  })

  test('TLS: long polls go through it too', async () => {
    const engine = anEngine(await secured(), { tls: trusted() })
    const started = await engine.start(
      { workflowId: crypto.randomUUID(), workflowName: 'any', catalog: `nobody-${crypto.randomUUID()}`, args: [null] },
      call(),
    )
    const ended = engine.wait(started, call())

    await engine.terminate(started, 'seen', call())

    expect(await ended).toMatchObject({ outcome: { status: 'terminated' } })
  })

  test('TLS: an engine with another authority is unreachable (threat 75)', async () => {
    expect(await unreachable(await secured(), trusted({ ca: strangers.authority.cert }))).toEqual(UNAVAILABLE)
  })

  test('TLS: an engine with an authority that the system does not trust is unreachable', async () => {
    expect(await unreachable(await secured(), { serverName: 'localhost' })).toEqual(UNAVAILABLE)
  })

  test('TLS: an engine whose certificate has another name is unreachable unless the name is configured (threat 75)', async () => {
    expect(await unreachable(await secured(), { ca: certificates.authority.cert })).toEqual(UNAVAILABLE)
  })

  test('TLS: an engine that wants TLS is out of reach without (threat 75)', async () => {
    expect(await unreachable(await secured(), null)).toEqual(UNAVAILABLE)
  })

  test('TLS: an engine without TLS is out of reach with', async () => {
    expect(await unreachable(inject('engine').address, trusted())).toEqual(UNAVAILABLE)
  })

  test('mTLS: an engine that requires a client certificate is reachable with one that it trusts', async () => {
    const engine = anEngine(await secured(MUTUAL), { tls: trusted(certificates.client) })

    expect((await rejection(engine.describe({ workflowId: 'none' }, call()))).error).toBe('WorkflowNotFoundError')
  })

  test('mTLS: an engine that requires a client certificate is unreachable without one (threat 75)', async () => {
    expect(await unreachable(await secured(MUTUAL), trusted())).toEqual(UNAVAILABLE)
  })

  test('mTLS: an engine that requires a client certificate is unreachable with one of another authority', async () => {
    expect(await unreachable(await secured(MUTUAL), trusted(strangers.client))).toEqual(UNAVAILABLE)
  })

  test('API key: every call carries it, on both connections', async () => {
    const { address, seen } = await rejectingServer()
    const engine = anEngine(address, { tls: trusted(), apiKey: 'a-key' })

    await rejection(engine.describe({ workflowId: 'any' }, call()))
    await rejection(engine.wait({ workflowId: 'any', runId: crypto.randomUUID() }, call()))

    expect(seen.map(({ path }) => path)).toEqual(['DescribeWorkflowExecution', 'GetWorkflowExecutionHistory'])
    expect(seen.map(({ authorization }) => authorization)).toEqual(['Bearer a-key', 'Bearer a-key'])
  })

  test('API key: a rejected key is an EngineError that shows nothing of the key (threat 76)', async () => {
    const { address } = await rejectingServer()
    const engine = anEngine(address, { tls: trusted(), apiKey: 'a-key' })

    const error = await engine.describe({ workflowId: 'any' }, call()).catch((reason: unknown) => reason)

    expect(error).toMatchObject({ error: 'EngineError', cause: { message: expect.stringContaining('ENGINE_API_KEY') } })
    expect(String(error)).not.toMatch(/a-key|bad token/)
  })

  test('API key: no header is sent without a key', async () => {
    const { address, seen } = await rejectingServer()

    await rejection(anEngine(address, { tls: trusted() }).describe({ workflowId: 'any' }, call()))

    expect(seen.map(({ authorization }) => authorization)).toEqual([undefined])
  })

  test('namespace: runs start in the configured namespace', async () => {
    const namespace = `tls-${crypto.randomUUID()}`
    const { address } = inject('engine')
    await register(namespace)
    const worker = await startWorker({ address, taskQueue: namespace, namespace })
    cleanup.defer(async () => void (await worker.stop()))
    const engine = anEngine(address, { tls: null, namespace })

    const started = await engine.start(
      { workflowId: namespace, workflowName: 'echo', catalog: namespace, args: [{ n: 1 }] },
      call(),
    )

    expect(await engine.wait(started, call(20_000))).toMatchObject({
      outcome: { status: 'completed', output: { n: 1 } },
    })
    expect((await rejection(anEngine(address, { tls: null }).describe(started, call()))).error).toBe(
      'WorkflowNotFoundError',
    )
  })

  test('namespace: one that is not there is EngineError, no unknown workflow', async () => {
    const engine = anEngine(inject('engine').address, { tls: null, namespace: 'nowhere' })

    const error = await engine.describe({ workflowId: 'any' }, call()).catch((reason: unknown) => reason)

    expect(error).toMatchObject({
      error: 'EngineError',
      cause: { message: expect.stringContaining('ENGINE_NAMESPACE') },
    })
  })
})

/** A server that records requests and rejects them as an engine rejects an invalid key. */
async function rejectingServer(): Promise<{
  address: string
  seen: { path: string | undefined; authorization: string | undefined }[]
}> {
  const seen: { path: string | undefined; authorization: string | undefined }[] = []
  const server = createSecureServer(certificates.server, (request, response) => {
    seen.push({ path: request.url.split('/').at(-1), authorization: request.headers.authorization })
    const rejected = { 'grpc-status': '16', 'grpc-message': 'bad token a-key' }
    response.stream.respond({ ':status': 200, 'content-type': 'application/grpc', ...rejected }, { endStream: true })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanup.defer(async () => void (await new Promise((resolve) => server.close(resolve))))
  const address = server.address()
  return { address: `127.0.0.1:${typeof address === 'object' && address?.port}`, seen }
}

/** A new namespace can be used a moment after it was registered. */
async function register(namespace: string): Promise<void> {
  const { address } = inject('engine')
  const connection = await Connection.connect({ address })
  cleanup.defer(async () => void (await connection.close()))
  await connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: { seconds: Long.fromNumber(86_400) },
  })
  const taskQueue = { name: 'any' }
  await until('the namespace can be used', async () => {
    await connection.workflowService.describeTaskQueue({ namespace, taskQueue, taskQueueType: 1 })
    await connection.workflowService.listWorkflowExecutions({ namespace })
    return true
  })
}
