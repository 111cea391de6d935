import { expect, test } from 'vitest'
import { readiness } from '../../../../../src/service/engine/calls/readiness.ts'
import type { EngineContext } from '../../../../../src/service/engine/context.ts'
import { GrpcCode } from '../../../../../src/shared/temporal/grpc-code.ts'
import { aCall } from '../../../call.ts'
import { answer, LIMITED } from '../rpc-errors.ts'

/** The readiness when the engine rejects with `error`. The real engine tests a missing namespace and a missing run. */
function readinessWhen(error: unknown) {
  const rpc: EngineContext['rpc'] = () => Promise.reject(error)
  return readiness({ rpc, namespace: 'default' } as EngineContext, aCall())
}

test('readiness: an engine that rejects the API key is misconfigured', async () => {
  expect(await readinessWhen(answer(GrpcCode.UNAUTHENTICATED))).toBe('misconfigured')
  expect(await readinessWhen(answer(GrpcCode.PERMISSION_DENIED))).toBe('misconfigured')
})

test('readiness: an engine at its rate limit is reachable', async () => {
  expect(await readinessWhen(LIMITED)).toBe('reachable')
})

test('readiness: a timeout, another server or a bug is unreachable', async () => {
  const answers = [
    answer(GrpcCode.UNAVAILABLE),
    answer(GrpcCode.UNIMPLEMENTED, 'Received HTTP status code 404'),
    new TypeError('a bug'),
  ]

  expect(await Promise.all(answers.map(readinessWhen))).toEqual(answers.map(() => 'unreachable'))
})
