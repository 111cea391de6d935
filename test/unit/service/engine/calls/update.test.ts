import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { update } from '../../../../../src/service/engine/calls/update.ts'
import type { EngineContext } from '../../../../../src/service/engine/context.ts'
import { aCall, rejection } from '../../../call.ts'
import { LIMITED, UNSENT } from '../rpc-errors.ts'
import { outcome, scriptedContext } from './scripted-context.ts'

const DONE = outcome('r')
const ADMITTED = { ...DONE, outcome: null }

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Sends the update, and lets the time between its retries pass. */
async function send(context: EngineContext): Promise<unknown> {
  const sending = update(context, { workflowId: 'w' }, { name: 'set', args: [] }, 'the-id', aCall())
  await Promise.allSettled([sending, vi.runAllTimersAsync()])
  return sending
}

test('update: an admitted update is polled with the same id, even when the engine is at a limit', async () => {
  const { context, sent } = scriptedContext(ADMITTED, LIMITED, DONE)

  expect(await send(context)).toBe('done')
  expect(sent.map(({ updateId }) => updateId)).toEqual(['the-id', 'the-id', 'the-id'])
})

test('update: a limit that is reached before the update is admitted is returned with Retry-After', async () => {
  const { context, sent } = scriptedContext(LIMITED)

  const rejected = await rejection(send(context))
  expect(rejected).toMatchObject({ error: 'ResourceExhaustedError', retryAfterSeconds: 1, updateId: 'the-id' })
  expect(sent).toHaveLength(1)
})

test('update: after admission, an unreachable engine is reported with the run and without Retry-After', async () => {
  const [before, after] = [scriptedContext(UNSENT), scriptedContext(ADMITTED, UNSENT)]

  expect(await rejection(send(before.context))).toMatchObject({
    error: 'EngineUnavailableError',
    retryAfterSeconds: 1,
    updateId: 'the-id',
  })
  const rejected = await rejection(send(after.context))
  expect(rejected).toMatchObject({ error: 'EngineUnavailableError', workflowId: 'w', runId: 'r', updateId: 'the-id' })
  expect(rejected).not.toHaveProperty('retryAfterSeconds')
  // Five attempts each, and the call that admits the update.
  expect([before.sent.length, after.sent.length]).toEqual([5, 6])
})
