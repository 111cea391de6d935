import { describe, expect, inject, test } from 'vitest'
import { freePort } from '../../src/cli/dev/servers/ports.ts'
import { createEngine } from '../../src/service/engine/engine.ts'
import { httpApiTransport } from '../../src/service/engine/transport/http/transport.ts'
import { type Method, type Request, RpcError, type Transport } from '../../src/service/engine/transport/transport.ts'
import { GrpcCode } from '../../src/shared/temporal/grpc-code.ts'
import { call, engineFixture, rejection } from '../conformance/engine/engine-fixture.ts'
import { describeEngine } from '../conformance/engine.ts'

const overHttp = ({ httpUrl }: { httpUrl: string | null }) => httpApiTransport({ url: httpUrl ?? '', apiKey: null })

describeEngine('http', overHttp)

describe.concurrent('engine over http: differences from gRPC', () => {
  const fixture = engineFixture(overHttp)

  test.for(['a/b', '.', '..', '/', 'x/history'])(
    'the id %s is rejected as not supported, by every verb, and nothing is sent',
    async (workflowId) => {
      const { engine, taskQueue } = fixture
      const run = { workflowId, runId: crypto.randomUUID(), firstRunId: crypto.randomUUID() }
      const message = { name: 'x', args: [] }

      const rejected = await Promise.all([
        rejection(engine.start({ workflowId, workflowName: 'nothing', catalog: taskQueue, args: [null] }, call())),
        rejection(engine.wait(run, call())),
        rejection(engine.describe({ workflowId }, call())),
        rejection(engine.read({ workflowId }, call())),
        rejection(engine.signal(run, message, call())),
        rejection(
          engine.signalWithStart({ workflowId, workflowName: 'x', catalog: taskQueue, args: [] }, message, call()),
        ),
        rejection(engine.query(run, message, call())),
        rejection(engine.update(run, message, 'u', call())),
        rejection(engine.cancel(run, { reason: null, pinned: true }, call())),
        rejection(engine.terminate(run, null, call())),
      ])

      for (const { error, message } of rejected) {
        expect(error).toBe('NotSupportedError')
        expect(message).toContain(`"${workflowId}"`)
      }
      await expect(
        fixture.connection.workflowService.describeWorkflowExecution({
          namespace: 'default',
          execution: { workflowId },
        }),
      ).rejects.toThrow('not found')
    },
  )

  test('reading an update has no path: it is rejected as not supported', async () => {
    const update = { name: 'set', updateId: 'u' }

    const rejected = [
      await rejection(fixture.engine.pollUpdate({ workflowId: 'w' }, update, 0, call())),
      await rejection(fixture.engine.pollUpdate({ workflowId: 'w' }, update, 5000, call())),
    ]

    for (const { error, message } of rejected)
      expect([error, message]).toEqual(['NotSupportedError', expect.stringContaining('Asynchronous updates')])
  })

  test('update-with-start has no path: it is rejected as not supported, and nothing is sent', async () => {
    let sent = 0
    const transport = httpApiTransport({
      url: inject('engine').httpUrl ?? '',
      apiKey: null,
      fetch: (...asked) => fetch(...asked).finally(() => sent++),
    })
    const engine = createEngine({ transport, namespace: 'default', maxPayloadBytes: 1000, codec: null })
    const request = {
      workflowId: crypto.randomUUID(),
      workflowName: 'messages',
      catalog: fixture.taskQueue,
      args: [null],
    }

    const rejected = await rejection(engine.updateWithStart(request, { name: 'set', args: [] }, 'u', call()))

    const facts = [rejected.error, transport.features.updateWithStart.supported, sent]
    expect(facts).toEqual(['NotSupportedError', false, 0])
    expect(rejected.message).toContain('ExecuteMultiOperation')
  })

  test('names of handlers and task queues with a slash are rejected as not supported', async () => {
    const { workflowId } = await fixture.start('nothing')
    const message = { name: 'a/b', args: [] }

    const rejected = await Promise.all([
      rejection(fixture.engine.signal({ workflowId }, message, call())),
      rejection(fixture.engine.query({ workflowId }, message, call())),
      rejection(fixture.engine.update({ workflowId }, message, 'u', call())),
      rejection(fixture.engine.lastPolledAt('a/b', call())),
    ])

    expect(rejected.map(({ error }) => error)).toEqual(rejected.map(() => 'NotSupportedError'))
  })

  test('repairs of activities with a slash in their id are rejected as not supported', async () => {
    const { engine } = fixture
    const activity = { ...(await fixture.start('nothing')), activityId: 'a/b' }
    const retry = { dropHeartbeat: false, restoreOptions: false, position: '' }

    const rejected = [
      await rejection(engine.retryActivity(activity, retry, call())),
      await rejection(engine.pauseActivity(activity, null, call())),
      await rejection(engine.unpauseActivity(activity, call())),
      await rejection(engine.setActivity(activity, 'restore', call())),
    ]

    expect(rejected.map(({ error }) => error)).toEqual(rejected.map(() => 'NotSupportedError'))
  })

  test.for(['ünï ✓', 'a?b=c&d', 'a#b', '%2F', '100%', 'a:b', 'a+b;c', 'back\\slash', '...', ' '])(
    'the id %s is carried as it is',
    async (odd) => {
      const workflowId = `${odd}${odd === '...' ? '' : crypto.randomUUID()}`
      const started = await fixture.start('echo', odd, workflowId)

      expect(await fixture.closed(started)).toMatchObject({ outcome: { output: odd } })
      const { execution } = await describeOverGrpc(workflowId)
      expect(execution?.workflowId).toBe(workflowId)
    },
  )

  test('an update that takes longer than the engine holds a call is waited for', async () => {
    const run = await fixture.start('messages')

    const answer = await fixture.engine.update(run, { name: 'wait', args: [23_000] }, crypto.randomUUID(), call(50_000))

    expect(answer).toBe('waited')
    await fixture.engine.terminate(run, null, call())
  })

  test('an engine that is not there: nothing was sent', async () => {
    const error = await rpcRejection(
      httpApiTransport({ url: `http://127.0.0.1:${await freePort()}`, apiKey: null }),
      'getSystemInfo',
      {},
    )

    expect(error).toMatchObject({ code: GrpcCode.UNAVAILABLE, mayHaveBeenSent: false })
  })

  test('the error for a base URL of another server says so', async () => {
    const url = `${inject('engine').httpUrl}/elsewhere`

    expect(await rejection(fixture.engine.describe({ workflowId: 'x' }, call()))).toMatchObject({
      error: 'WorkflowNotFoundError',
    })
    expect(await rpcRejection(httpApiTransport({ url, apiKey: null }), 'getSystemInfo', {})).toMatchObject({
      code: 5,
      details: [],
    })
  })

  test('a call above the size limit has its own error', async () => {
    const transport = overHttp(inject('engine'))
    const engine = createEngine({ transport, namespace: 'default', maxPayloadBytes: 64 << 20, codec: null })

    const rejected = await rejection(
      engine.start(
        {
          workflowId: crypto.randomUUID(),
          workflowName: 'echo',
          catalog: fixture.taskQueue,
          args: ['x'.repeat(5 << 20)],
        },
        call(),
      ),
    )

    expect(rejected).toMatchObject({ error: 'PayloadTooLargeError', source: 'engine' })
  })

  function describeOverGrpc(workflowId: string) {
    return fixture.connection.workflowService
      .describeWorkflowExecution({ namespace: 'default', execution: { workflowId } })
      .then(({ workflowExecutionInfo }) => workflowExecutionInfo ?? {})
  }
})

async function rpcRejection<M extends Method>(transport: Transport, method: M, request: Request<M>): Promise<RpcError> {
  const { deadlineAt, signal } = call()
  const error = await transport.call(method, request, { deadlineAt, signal }).then(
    () => null,
    (reason: unknown) => reason,
  )
  if (!(error instanceof RpcError)) throw error
  return error
}
