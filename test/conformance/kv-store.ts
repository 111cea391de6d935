import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { KvStore } from '../../src/store/kv.ts'
import type { StoreCall } from '../../src/store/store-call.ts'
import { until } from '../support/until.ts'

export function storeCall(timeoutMs = 3000, signal: AbortSignal = new AbortController().signal): StoreCall {
  return { signal, deadlineAt: Date.now() + timeoutMs }
}

const DAY_MS = 24 * 3_600_000

/** What the trace protocol asks of a key-value store. `make` gives the store, and a way to send it any command. */
export function describeKvStore(
  name: string,
  make: () => Promise<{ kv: KvStore; command: (...words: string[]) => Promise<unknown> }>,
): void {
  describe.concurrent(`key-value store over ${name}`, () => {
    let kv: KvStore
    let command: (...words: string[]) => Promise<unknown>

    beforeAll(async () => {
      const made = await make()
      kv = made.kv
      command = made.command
    })
    afterAll(() => kv.close())

    const unique = () => crypto.randomUUID()
    const aMember = () => ({ outbox: `outbox-${unique()}`, member: '["orders, \\"17\\" ü","run-1"]' })
    const append = (list: string, values: string[], open: { outbox: string; member: string; delayMs: number } | null = null) =>
      kv.append({ list, values, ttlMs: DAY_MS, open }, storeCall())

    const read = async (list: string) => (await kv.readList(list, { left: 1000 }, storeCall())).values

    test('readList: the values in the order of their addition, whatever they hold', async () => {
      const list = unique()
      const values = ['{"a":1}', 'ünï\u0001"\\ \u{1F680}', '', '9007199254740993', 'null']

      await append(list, values.slice(0, 2))
      await append(list, values.slice(2))

      expect(await read(list)).toEqual(values)
    })

    test('readList: a list that is not there is empty', async () => {
      expect(await read(unique())).toEqual([])
    })

    test('readList: a long list is read whole, or as far as there is room', async () => {
      const list = unique()
      const values = Array.from({ length: 1234 }, (_, index) => `ü${index}`.padStart(10, '0'))
      await append(list, values)
      const [enough, short, none] = [{ left: 13_574 }, { left: 13_573 - 11 }, { left: -1 }]

      expect(await kv.readList(list, enough, storeCall())).toEqual({ values, length: 1234 })
      expect(await kv.readList(list, short, storeCall())).toEqual({ values: values.slice(0, 1232), length: 1234 })
      expect(await kv.readList(list, none, storeCall())).toEqual({ values: [], length: 1234 })
      expect([enough.left, short.left]).toEqual([0, 10])
    })

    test('readList: lists that share a room have no more of it together', async () => {
      const [one, two, room] = [unique(), unique(), { left: 25 }]
      for (const list of [one, two]) await append(list, ['0123456789', '0123456789'])

      expect((await kv.readList(one, room, storeCall())).values).toHaveLength(2)
      expect((await kv.readList(two, room, storeCall())).values).toHaveLength(0)
    })

    test('readList: elements that are large are read a few at a time, the largest too', async () => {
      const list = unique()
      const values = [100, 700, 300, 300].map((kilobytes) => 'x'.repeat(kilobytes * 1000))
      for (const value of values) await append(list, [value])

      expect((await kv.readList(list, { left: 1_400_000 }, storeCall())).values.map(({ length }) => length)).toEqual(
        values.map(({ length }) => length),
      )
    })

    test('append: a list lives as long as was said, from its last addition on', async () => {
      const list = unique()
      await append(list, ['a'])
      await command('PEXPIRE', list, '1000')

      await append(list, ['b'])

      expect(Number(await command('PTTL', list))).toBeGreaterThan(DAY_MS - 60_000)
    })

    test('append: makes sure of the outbox, and leaves a member its time', async () => {
      const member = aMember()
      await append(unique(), ['a'], { ...member, delayMs: 0 })
      const dueAt = await command('ZSCORE', member.outbox, member.member)

      await append(unique(), [], { ...member, delayMs: 60_000 })

      expect(await command('ZSCORE', member.outbox, member.member)).toBe(dueAt)
      expect(Math.abs(Number(dueAt) - Date.now())).toBeLessThan(5000)
    })

    test('isWaiting: while the list exists or the outbox has the member', async () => {
      const list = unique()
      const member = aMember()
      expect(await kv.isWaiting(list, member, storeCall())).toBe(false)

      await append(list, ['a'])
      expect(await kv.isWaiting(list, aMember(), storeCall())).toBe(true)

      await append(unique(), [], { ...member, delayMs: 60_000 })
      expect(await kv.isWaiting(unique(), member, storeCall())).toBe(true)
    })

    test('due: what has come due, oldest first, no more than asked for', async () => {
      const { outbox } = aMember()
      for (const [member, score] of [
        ['late', '3'],
        ['early', '1'],
        ['middle', '2'],
        ['future', `${Date.now() + 60_000}`],
      ])
        await command('ZADD', outbox, `${score}`, `${member}`)

      expect(await kv.due(outbox, 2, storeCall())).toEqual(['early', 'middle'])
      expect(await kv.due(outbox, 100, storeCall())).toEqual(['early', 'middle', 'late'])
    })

    test('claim: of many who try at once one gets it, until its time has come again', async () => {
      const member = aMember()
      await command('ZADD', member.outbox, '1', member.member)

      const claims = await Promise.all(Array.from({ length: 10 }, () => kv.claim(member, 300, storeCall())))

      expect(claims.filter(Boolean)).toHaveLength(1)
      expect(await kv.due(member.outbox, 10, storeCall())).toEqual([])
      await until('it is due again', () => kv.claim(member, 300, storeCall()))
      expect(await kv.claim(aMember(), 300, storeCall())).toBe(false)
    })

    test('take: claims what is there, due or not, until somebody has it', async () => {
      const member = aMember()
      expect(await kv.take(member, 60_000, storeCall())).toBe('gone')
      await append(unique(), [], { ...member, delayMs: 60_000 })

      const taken = await Promise.all(Array.from({ length: 10 }, () => kv.take(member, 60_000, storeCall())))

      expect(taken.toSorted()).toEqual([...Array(9).fill('held'), 'taken'])
      await kv.postpone(member, 60_000, storeCall())
      expect(await kv.take(member, 60_000, storeCall())).toBe('taken')
    })

    test('take: not what somebody has claimed, before that claim has run out', async () => {
      const member = aMember()
      await command('ZADD', member.outbox, '1', member.member)
      expect(await kv.claim(member, 300, storeCall())).toBe(true)

      expect(await kv.take(member, 60_000, storeCall())).toBe('held')
      await until('the claim has run out', async () => (await kv.take(member, 60_000, storeCall())) === 'taken')
    })

    test('postpone: moves what is there, due or not', async () => {
      const member = aMember()
      await append(unique(), [], { ...member, delayMs: 60_000 })

      expect(await kv.postpone(member, 0, storeCall())).toBe(true)
      expect(await kv.due(member.outbox, 10, storeCall())).toEqual([member.member])
      expect(await kv.postpone(aMember(), 0, storeCall())).toBe(false)
    })

    test('settle: deletes lists and member in one step, unless a list has grown', async () => {
      const [one, two] = [unique(), unique()]
      const member = aMember()
      await append(one, ['a'], { ...member, delayMs: 0 })
      await append(two, ['b', 'c'])
      const asRead = [
        { key: one, length: 1 },
        { key: two, length: 2 },
        { key: unique(), length: 0 },
      ]

      await append(two, ['d'])
      expect(await kv.settle(member, asRead, storeCall())).toBe(false)
      expect(await read(one)).toEqual(['a'])
      expect(await kv.due(member.outbox, 10, storeCall())).toEqual([member.member])

      expect(
        await kv.settle(
          member,
          asRead.map(({ key, length }) => ({ key, length: key === two ? 3 : length })),
          storeCall(),
        ),
      ).toBe(true)
      expect(await command('EXISTS', one, two, member.outbox)).toBe(0)
    })

    test('settle: a list that has expired meanwhile is no reason to keep the member', async () => {
      const member = aMember()
      await append(unique(), [], { ...member, delayMs: 0 })

      expect(await kv.settle(member, [{ key: unique(), length: 5 }], storeCall())).toBe(true)
    })

    test('keep: gives lists their time again, and makes none', async () => {
      const [there, gone] = [unique(), unique()]
      await append(there, ['a'])
      await command('PEXPIRE', there, '1000')

      await kv.keep([there, gone], DAY_MS, storeCall())

      expect(Number(await command('PTTL', there))).toBeGreaterThan(DAY_MS - 60_000)
      expect(await command('EXISTS', gone)).toBe(0)
    })

    test('a refusal says the kind of fault, and nothing of what was sent', async () => {
      const list = unique()
      await command('SET', list, 'no list')

      const refused = await append(list, ['a-secret-value']).catch((error: unknown) => error)

      expect(String(refused)).toMatch(/^StoreError: The key-value store (refused|answered 400)/)
      expect(JSON.stringify(refused, Object.getOwnPropertyNames(refused))).not.toContain('a-secret-value')
    })

    test('a caller who has left ends the waiting with their own reason', async () => {
      const leaving = new AbortController()
      leaving.abort(new Error('left'))

      await expect(kv.readList(unique(), { left: 1000 }, storeCall(3000, leaving.signal))).rejects.toThrow('left')
    })
  })
}
