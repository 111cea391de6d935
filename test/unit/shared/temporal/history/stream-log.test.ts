import { expect, test } from 'vitest'
import { createStreamLog } from '../../../../../src/shared/temporal/history/stream-log.ts'
import type { TemporalEvent } from '../../../../../src/shared/temporal/outcome.ts'
import { fromPayload, type Payload, toPayload } from '../../../../../src/shared/temporal/payload.ts'
import { pollUpdateId, STREAM_PUBLISH } from '../../../../../src/shared/wire/stream.ts'
import { event } from './event.ts'

const signal = (argument: unknown, signalName = STREAM_PUBLISH): TemporalEvent => ({
  workflowExecutionSignaledEventAttributes: { signalName, input: { payloads: [toPayload(argument)] } },
})

const publish = (topics: string[], publisher_id = '', sequence = 0): TemporalEvent =>
  signal({ items: topics.map((topic) => ({ topic, data: '' })), publisher_id, sequence })

const completed = (updateId: string, outcome: object): TemporalEvent => ({
  workflowExecutionUpdateCompletedEventAttributes: { meta: { updateId }, outcome },
})

/** The topics of the items of that log, each event in a page of its own and all in one. */
async function topicsUpTo(from: number, head: number, ...attributes: TemporalEvent[]): Promise<string[] | null> {
  const events = attributes.map((each, index) => event(index + 1, each))
  const decode = async (payloads: Payload[]) => payloads.map(fromPayload)
  const [whole, paged] = [createStreamLog(from), createStreamLog(from)]
  await whole.add(events, decode)
  for (const each of events) await paged.add([each], decode)
  expect(paged.itemsUpTo(head)).toEqual(whole.itemsUpTo(head))
  return whole.itemsUpTo(head)?.map(({ topic }) => topic) ?? null
}

test('stream log: has the items of all signals that publish, in order', async () => {
  const other = signal({ items: [{ topic: 'other', data: '' }] }, 'other')

  expect(
    await topicsUpTo(0, 3, publish(['a', 'b']), other, { workflowTaskStartedEventAttributes: {} }, publish(['c'])),
  ).toEqual(['a', 'b', 'c'])
})

const answered = completed(pollUpdateId(0), { success: {} })

test('stream log: where signals have published all items, begins at the offset, whatever polls have returned', async () => {
  expect(await topicsUpTo(1, 3, publish(['a', 'b']), answered, publish(['c']))).toEqual(['b', 'c'])
  expect(await topicsUpTo(3, 3, publish(['a', 'b', 'c']))).toEqual([])
})

test('stream log: where the workflow has published items too, begins after the last poll that had a result', async () => {
  expect(await topicsUpTo(6, 7, publish(['a']), answered, publish(['b']))).toEqual(['b'])
  expect(await topicsUpTo(6, 6, publish(['a']), answered)).toEqual([])
})

test('stream log: has no items if it cannot be told which offsets they have', async () => {
  expect(await topicsUpTo(1, 3, publish(['a']), answered, publish(['b']))).toBeNull()
})

test('stream log: a failed poll and the updates of others change nothing', async () => {
  const failed = completed(pollUpdateId(0), { failure: { message: 'closed' } })
  const others = completed('of-a-client', { success: {} })

  expect(await topicsUpTo(5, 7, publish(['a']), failed, others, publish(['b']))).toEqual(['a', 'b'])
})

test('stream log: ignores a batch that its publisher has sent before, as the workflow does', async () => {
  expect(
    await topicsUpTo(
      0,
      3,
      publish(['a'], 'p', 1),
      publish(['again'], 'p', 1),
      publish(['b'], 'q', 1),
      publish(['c'], 'p', 2),
      publish(['late'], 'p', 1),
    ),
  ).toEqual(['a', 'b', 'c'])
})

test('stream log: remembers publishers across polls', async () => {
  expect(await topicsUpTo(6, 6, publish(['a'], 'p', 1), answered, publish(['again'], 'p', 1))).toEqual([])
})

test.each([
  ['null', null],
  ['a text', 'x'],
  ['items that are no array', { items: 'x', publisher_id: '', sequence: 0 }],
  ['an item without data', { items: [{ topic: 'x' }], publisher_id: '', sequence: 0 }],
  ['an item without a topic', { items: [{ data: 'x' }], publisher_id: '', sequence: 0 }],
])('stream log: ignores a signal whose argument is %s, and keeps the order of the others', async (_, argument) => {
  expect(await topicsUpTo(0, 2, publish(['a']), signal(argument), publish(['b']))).toEqual(['a', 'b'])
})

test('stream log: a signal without arguments is not one that publishes', async () => {
  const empty: TemporalEvent = { workflowExecutionSignaledEventAttributes: { signalName: STREAM_PUBLISH } }

  expect(await topicsUpTo(0, 1, empty, publish(['a']))).toEqual(['a'])
})

const started = (...args: unknown[]): TemporalEvent => ({
  workflowExecutionStartedEventAttributes: { input: { payloads: args.map(toPayload) } },
})

/** The input of a run whose stream continues with these items. */
const continued = (base_offset: number, topics: string[], publisher_sequences: Record<string, number> = {}) =>
  started({ state: { base_offset, log: topics.map((topic) => ({ topic, data: '' })), publisher_sequences } })

test('stream log: begins with the items that the run got from the run before', async () => {
  expect(await topicsUpTo(3, 6, continued(3, ['a', 'b']), publish(['c']))).toEqual(['a', 'b', 'c'])
  expect(await topicsUpTo(4, 6, continued(3, ['a', 'b']), publish(['c']))).toEqual(['b', 'c'])
  expect(await topicsUpTo(6, 7, continued(3, ['a', 'b']), publish(['c', 'd']))).toEqual(['d'])
})

test('stream log: does not have the items that the run before has dropped', async () => {
  expect(await topicsUpTo(1, 6, continued(3, ['a', 'b']), publish(['c']))).toEqual(['a', 'b', 'c'])
})

test('stream log: ignores a batch that its publisher has sent to the run before', async () => {
  expect(await topicsUpTo(0, 2, continued(0, ['a'], { p: 1 }), publish(['a'], 'p', 1), publish(['b']))).toEqual([
    'a',
    'b',
  ])
})

test('stream log: an input without a state, or with items of another form, changes nothing', async () => {
  const other = started({ base_offset: 0, log: [{ topic: 'a', payload: {} }], publisher_sequences: {} })

  expect(await topicsUpTo(0, 1, started('x', { base_offset: 1 }), publish(['b']))).toEqual(['b'])
  expect(await topicsUpTo(1, 2, other, publish(['b']))).toEqual(['b'])
})
