import proto from '@temporalio/proto'
import { expect, inject, test } from 'vitest'
import { GrpcCode } from '../../../src/shared/temporal/grpc-code.ts'
import type { Fault } from '../../support/fault-proxy.ts'
import { announceErrors } from '../../support/invariants.ts'
import { readiness } from '../../support/readiness.ts'
import {
  type ApiFixture,
  anId,
  operatorApi,
  type Serve,
  startDirectly,
  startMessages,
  untilStatus,
} from './api-fixture.ts'

const { google, temporal } = proto
const { RESOURCE_EXHAUSTED_CAUSE_RPS_LIMIT } = temporal.api.enums.v1.ResourceExhaustedCause

const GONE = { code: GrpcCode.UNAVAILABLE, message: 'gone' }

/** Responses when the engine is unreachable or returns unexpected errors. */
export function faults(api: () => ApiFixture, serve: Serve): void {
  test('faults: an unreachable engine is reported, with Retry-After, because nothing was sent', async () => {
    const { serviceWithoutEngine, hasGap } = api()
    const unavailable = [503, 'EngineUnavailableError', '1']
    const onWrites = hasGap('what-was-sent') ? [424, 'OutcomeUnknownError', null] : unavailable

    const answers = await Promise.all([
      serviceWithoutEngine.get(`${anId()}/status`),
      serviceWithoutEngine.get(`${anId()}/result`),
      serviceWithoutEngine.start('echo', 1),
      serviceWithoutEngine.run('echo', 1),
      serviceWithoutEngine.post(`${anId()}/signal/add`),
      serviceWithoutEngine.post(`${anId()}/query/state`),
      serviceWithoutEngine.post(`${anId()}/update/set`),
    ])

    expect(answers.map(({ body }) => body.source)).toEqual(answers.map(() => 'engine'))
    // status, result, start, run, signal, query, update:
    // before a start or a run the catalog is read, and more is not sent.
    expect(answers.map(({ status, body, headers }) => [status, body.error, headers.get('Retry-After')])).toEqual([
      ...Array.from({ length: 4 }, () => unavailable),
      onWrites,
      unavailable,
      onWrites,
    ])
  })

  test('faults: the error of a start that may have arrived has the workflow id and no Retry-After', async () => {
    const { service, workflowId } = broken(api(), 'StartWorkflowExecution', GONE)

    const { status, body, headers } = await service.start('echo', 1, { workflowId })

    const facts = [status, body.error, body.workflowId, headers.get('Retry-After')]
    expect(facts).toEqual([424, 'OutcomeUnknownError', workflowId, null])
  })

  test('faults: a start with a transient error is retried', async () => {
    const { service, workflowId } = broken(api(), 'StartWorkflowExecution', GONE, 2)

    const { status, body } = await service.run('echo', 1, { workflowId })

    expect([status, body.output]).toEqual([200, 1])
  })

  test('faults: a hanging read ends with an error', async () => {
    const { service, workflowId } = broken(api(), 'DescribeWorkflowExecution', 'hang')

    const { status, body, headers } = await service.get(`${workflowId}/status`)

    expect([status, body.error, headers.get('Retry-After')]).toEqual([503, 'EngineUnavailableError', '1'])
  })

  test('faults: the wait for a started run survives every transient error', async () => {
    const { serviceBehindFaultProxy, faultProxy } = api()
    const workflowId = anId()
    const method = 'GetWorkflowExecutionHistory'
    faultProxy.on({ method, containing: workflowId, fault: GONE, times: 5 })
    faultProxy.on({ method, containing: workflowId, fault: 'close', times: 1 })
    faultProxy.on({ method, containing: workflowId, fault: rpsLimit(), times: 1 })

    const { status, body } = await serviceBehindFaultProxy.run('echo', 'patient', { workflowId })

    expect([status, body.output]).toEqual([200, 'patient'])
  })

  test('faults: a message fails when the engine stops responding, long before the deadline for the worker', async () => {
    const { serviceBehindFaultProxy, faultProxy } = api()
    const { workflowId } = await startMessages(api())
    faultProxy.on({ method: 'QueryWorkflow', containing: workflowId, fault: 'hang' })
    faultProxy.on({ method: 'UpdateWorkflowExecution', containing: workflowId, fault: 'hang' })
    const heal = faultProxy.on({ method: 'GetSystemInfo', containing: '', fault: 'hang' })

    const [query, update] = await Promise.all([
      serviceBehindFaultProxy.post(`${workflowId}/query/state`),
      serviceBehindFaultProxy.post(`${workflowId}/update/set`),
    ])
    heal()

    const ofQuery = [query.status, query.body.error, query.headers.get('Retry-After')]
    expect(ofQuery).toEqual([503, 'EngineUnavailableError', '1'])
    const ofUpdate = [update.status, update.body.error, update.headers.get('Retry-After')]
    expect(ofUpdate).toEqual([424, 'OutcomeUnknownError', null])
    expect(update.body).toMatchObject({ workflowId, updateId: expect.stringMatching(/./) })
    await api().service.post(`${workflowId}/signal/finish`)
  })

  test('faults: the engine’s rate limit', async () => {
    const { service, workflowId } = broken(api(), 'DescribeWorkflowExecution', rpsLimit())

    const { status, body, headers } = await service.get(`${workflowId}/status`)

    const facts = [status, body.error, body.source, headers.get('Retry-After')]
    expect(facts).toEqual([429, 'ResourceExhaustedError', 'engine', '1'])
  })

  test('faults: a missing namespace is an EngineError without the engine’s message (threat 77)', async () => {
    announceErrors(/check ENGINE_NAMESPACE/)
    const { catalog } = api()
    const env = { PATH: process.env.PATH ?? '', SERVICE_CATALOG_ID: catalog, SERVICE_PORT: '0' }
    const { address, httpUrl } = inject('engine')
    const engine = { ENGINE_ADDRESS: address, ENGINE_HTTP_URL: httpUrl ?? '', ENGINE_NAMESPACE: 'no-such-namespace' }
    const server = await serve({ ...env, ...engine })

    const { call } = operatorApi({ url: server.url })
    const ready = await readiness({ call })
    const { status, body, text } = await call('GET', `/workflow/${anId()}/status`)
    await server.stop()

    expect([status, body.error, body.source]).toEqual([502, 'EngineError', 'engine'])
    expect(body.message).toContain('rejected the configuration of this service; the log names the setting to check')
    expect(text).not.toContain('no-such-namespace')
    expect([ready.status, ready.body]).toEqual([503, { status: 'unavailable', engine: 'misconfigured' }])
  })

  test('faults: an API key that the engine rejects is an error without details', async () => {
    announceErrors(/check ENGINE_API_KEY: .*key k3y is void/)
    const { service, workflowId } = broken(api(), 'DescribeWorkflowExecution', {
      code: GrpcCode.UNAUTHENTICATED,
      message: 'key k3y is void',
    })

    const { status, body, text } = await service.get(`${workflowId}/status`)

    expect([status, body.error]).toEqual([502, 'EngineError'])
    expect(text).not.toContain('k3y')
  })

  test('faults: an operation that the engine does not support is a 501', async () => {
    const { service, workflowId } = broken(api(), 'QueryWorkflow', {
      code: GrpcCode.UNIMPLEMENTED,
      message: 'unknown method',
    })

    const { status, body } = await service.post(`${workflowId}/query/state`)

    expect([status, body.error]).toEqual([501, 'NotSupportedError'])
  })

  test('faults: a bug is a 500 without details, with a request id that is in the log (threat 77)', async () => {
    announceErrors(/"requestId":"look-for-me"/)
    const { serviceBehindFaultProxy, faultProxy } = api()
    const { workflowId } = await startDirectly(api(), 'nothing')
    await untilStatus(api(), workflowId, 'completed')
    // An engine never returns a history without a first event.
    faultProxy.on({
      method: 'GetWorkflowExecutionHistory',
      containing: workflowId,
      fault: { answer: new Uint8Array() },
    })

    const { status, body } = await serviceBehindFaultProxy.get(`${workflowId}/result`, {
      'X-Request-Id': 'look-for-me',
    })

    expect([status, body]).toEqual([
      500,
      {
        type: 'https://github.com/portico/portico/blob/main/docs/errors.md#internalerror',
        title: 'Internal error',
        status: 500,
        detail: expect.any(String),
        error: 'InternalError',
        message: body.detail,
        source: 'gateway',
        requestId: 'look-for-me',
      },
    ])
  })

  test('faults: a trace that no source has', async () => {
    const { serviceBehindFaultProxy, faultProxy } = api()
    const { workflowId } = await startDirectly(api(), 'nothing')
    faultProxy.on({
      method: 'GetWorkflowExecutionHistory',
      containing: workflowId,
      fault: { code: GrpcCode.INTERNAL, message: 'lost on disk 7' },
    })

    const { status, body, text } = await serviceBehindFaultProxy.get(`${workflowId}/trace-log`)

    expect([status, body.error, body.workflowId]).toEqual([404, 'TraceNotAvailableError', workflowId])
    expect(text).not.toContain('disk')
  })

  test('faults: a trace that is temporarily unavailable', async () => {
    const { serviceBehindFaultProxy, faultProxy } = api()
    const { workflowId } = await startDirectly(api(), 'nothing')
    const method = 'GetWorkflowExecutionHistory'
    const reading = (fault: Fault) => {
      faultProxy.on({ method, containing: workflowId, fault, times: 1 })
      return serviceBehindFaultProxy.get(`${workflowId}/trace-log`)
    }

    const answers = [await reading(rpsLimit()), await reading('hang')]

    expect(
      answers.map(({ status, body, headers }) => [status, body.error, body.workflowId, headers.get('Retry-After')]),
    ).toEqual([
      [429, 'ResourceExhaustedError', workflowId, '1'],
      [503, 'EngineUnavailableError', workflowId, '1'],
    ])
  })
}

/** A workflow id for whose calls of this method the engine fails, and a service that uses that engine. */
function broken({ serviceBehindFaultProxy, faultProxy }: ApiFixture, method: string, fault: Fault, times?: number) {
  const workflowId = anId()
  faultProxy.on({ method, containing: workflowId, fault, ...(times !== undefined && { times }) })
  return { service: serviceBehindFaultProxy, workflowId }
}

function rpsLimit() {
  const failure = temporal.api.errordetails.v1.ResourceExhaustedFailure.encode({
    cause: RESOURCE_EXHAUSTED_CAUSE_RPS_LIMIT,
  }).finish()
  const type_url = 'type.googleapis.com/temporal.api.errordetails.v1.ResourceExhaustedFailure'
  const message = 'namespace rate limit exceeded'
  const details = google.rpc.Status.encode({
    code: GrpcCode.RESOURCE_EXHAUSTED,
    message,
    details: [{ type_url, value: failure }],
  }).finish()
  return { code: GrpcCode.RESOURCE_EXHAUSTED, message, details }
}
