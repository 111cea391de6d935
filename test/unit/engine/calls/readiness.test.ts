import { expect, test } from 'vitest'
import { readiness } from '../../../../src/engine/calls/readiness.ts'
import type { EngineContext } from '../../../../src/engine/context.ts'
import { RpcError } from '../../../../src/engine/transport/transport.ts'
import { aCall } from '../../call.ts'

// gRPC's.
const PERMISSION_DENIED = 7
const RESOURCE_EXHAUSTED = 8
const UNIMPLEMENTED = 12
const UNAVAILABLE = 14
const UNAUTHENTICATED = 16

/** The readiness when the engine rejects with `error`. The real engine tests a missing namespace and a missing run. */
function readinessWhen(error: unknown) {
  const rpc: EngineContext['rpc'] = () => Promise.reject(error)
  return readiness({ rpc, namespace: 'default' } as EngineContext, aCall())
}

test('readiness: an engine that rejects the API key is misconfigured', async () => {
  expect(await readinessWhen(new RpcError('no', { code: UNAUTHENTICATED }))).toBe('misconfigured')
  expect(await readinessWhen(new RpcError('no', { code: PERMISSION_DENIED }))).toBe('misconfigured')
})

test('readiness: an engine at its rate limit is reachable', async () => {
  const details = [{ name: 'ResourceExhaustedFailure', fields: {} }]

  expect(
    await readinessWhen(new RpcError('namespace rate limit exceeded', { code: RESOURCE_EXHAUSTED, details })),
  ).toBe('reachable')
})

test('readiness: a timeout, another server or a bug is unreachable', async () => {
  const answers = [
    new RpcError('gone', { code: UNAVAILABLE }),
    new RpcError('Received HTTP status code 404', { code: UNIMPLEMENTED }),
    new TypeError('a bug'),
  ]

  expect(await Promise.all(answers.map(readinessWhen))).toEqual(answers.map(() => 'unreachable'))
})
