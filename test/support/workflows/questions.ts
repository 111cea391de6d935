/** A workflow that asks a person. */
import { condition, defineSignal, setHandler, upsertMemo } from '@temporalio/workflow'

interface Answer {
  key: string
  content: unknown
}

/**
 * Asks by the memo alone, as docs/protocol.md says. Returns the contents of all answers that it received. After the
 * signal `withdrawnBy` it does not ask any more, but still waits.
 */
export async function asksPerson({
  key = 'question-1',
  to = ['finance'],
  withdrawnBy,
  ...more
}: Partial<Asked> & { withdrawnBy?: string } = {}) {
  const contents: unknown[] = []
  setHandler(defineSignal<[Answer]>('answer'), (answer) => void contents.push(answer.content))
  const schema = { type: 'object', properties: { approved: { type: 'boolean' } }, required: ['approved'] }
  const times = { askedAt: '2026-11-28T08:00:00.000Z', due: '2026-12-01T08:00:00Z' }
  upsertMemo({ $asks: { [key]: { signal: 'answer', message: 'Refund 250 EUR?', schema, to, ...times, ...more } } })
  if (withdrawnBy !== undefined) setHandler(defineSignal(withdrawnBy), () => upsertMemo({ $asks: {} }))
  await condition(() => contents.length > 0)
  upsertMemo({ $asks: {} })
  return contents
}

interface Asked {
  key: string
  to: string[]
  signal: string
  schema: object
  askedAt: string
}
