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

/** Of an engine that answers so: a missing namespace and a missing run are asked of the real one. */
function readinessWhen(error: unknown) {
  const rpc: EngineContext['rpc'] = () => Promise.reject(error)
  return readiness({ rpc, namespace: 'default' } as EngineContext, aCall())
}

test('readiness: an engine that refuses the key is misconfigured', async () => {
  expect(await readinessWhen(new RpcError('no', { code: UNAUTHENTICATED }))).toBe('misconfigured')
  expect(await readinessWhen(new RpcError('no', { code: PERMISSION_DENIED }))).toBe('misconfigured')
})

test('readiness: an engine at its limit is reachable', async () => {
  const details = [{ name: 'ResourceExhaustedFailure', fields: {} }]

  expect(
    await readinessWhen(new RpcError('namespace rate limit exceeded', { code: RESOURCE_EXHAUSTED, details })),
  ).toBe('reachable')
})

test('readiness: what is silent, no engine, or a bug is unreachable', async () => {
  const answers = [
    new RpcError('gone', { code: UNAVAILABLE }),
    new RpcError('Received HTTP status code 404', { code: UNIMPLEMENTED }),
    new TypeError('a bug'),
  ]

  expect(await Promise.all(answers.map(readinessWhen))).toEqual(answers.map(() => 'unreachable'))
})
