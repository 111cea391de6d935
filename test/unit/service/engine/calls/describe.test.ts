import { expect, test } from 'vitest'
import { describe } from '../../../../../src/service/engine/calls/describe.ts'
import { createPayloads } from '../../../../../src/service/engine/context.ts'
import { type Codec, toPayload } from '../../../../../src/shared/temporal/payload.ts'
import { aCall } from '../../../call.ts'
import { scriptedContext } from './scripted-context.ts'

const ENCODED = { metadata: { encoding: new TextEncoder().encode('binary/x') }, data: new Uint8Array([1]) }
const ASKS = { k1: { signal: 'answer', message: 'Approve?', schema: {} } }
const REF = { workflowId: 'w' }

/** A run with this status, whose memo has these fields: by default encoded questions. */
function asking(status: number, codec: Codec | null, fields: object = { $asks: ENCODED }) {
  const execution = { workflowId: 'w', runId: 'r1' }
  const memo = { fields }
  const { context } = scriptedContext({ workflowExecutionInfo: { execution, status, memo } })
  return { ...context, payloads: createPayloads({ codec, maxBytes: 1000 }) }
}

function codec(decode: Codec['decode']): Codec {
  return { encode: async (payloads) => payloads, decode }
}

test('describe: decodes what a run asks only when requested, so that nothing else needs the codec', async () => {
  let decoded = 0
  const counting = codec(async (payloads) => {
    decoded++
    return payloads.map(() => toPayload(ASKS))
  })

  const run = await describe(asking(1, counting), REF, aCall())
  const before = decoded

  expect([before, await run.asks?.(), decoded]).toEqual([0, ASKS, 1])
  expect([run.memo.size, run.userValues]).toEqual([0, undefined])
})

test('describe: questions that need a codec are unknown without one, and a closed run has none', async () => {
  const open = await describe(asking(1, null), REF, aCall())

  expect(await open.asks?.()).toBeUndefined()
  expect(await describe(asking(2, null), REF, aCall())).not.toHaveProperty('asks')
})

test('describe: a memo alone is shown, without search attributes', async () => {
  const run = await describe(asking(1, null, { order: toPayload(17) }), REF, aCall())

  expect(run.userValues?.memo.names).toEqual(['order'])
  expect(run.userValues?.searchAttributes).toEqual({})
})
