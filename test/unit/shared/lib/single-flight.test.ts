import { expect, test } from 'vitest'
import { singleFlight } from '../../../../src/shared/lib/single-flight.ts'
import { isolateRequests } from '../../../support/isolate-requests.ts'

/** Begins one flight for each key. Each fails or succeeds when it is settled. */
function flights() {
  const share = singleFlight<string, string>()
  const begun: PromiseWithResolvers<string>[] = []
  const get = (key: string) =>
    share(key, () => {
      const flight = Promise.withResolvers<string>()
      begun.push(flight)
      return flight.promise
    })
  return { get, begun }
}

test('callers with the same key share one flight and its value', async () => {
  const { get, begun } = flights()
  const values = [get('a'), get('b'), get('a')]
  for (const [at, { resolve }] of begun.entries()) resolve(`flight ${at}`)

  expect(await Promise.all(values)).toEqual(['flight 0', 'flight 1', 'flight 0'])
})

test('all callers get the error of their flight, and the next caller begins another one', async () => {
  const { get, begun } = flights()
  const failing = [get('a'), get('a')]
  begun[0]?.reject(new Error('not now'))
  const settled = await Promise.allSettled(failing)
  const next = get('a')
  begun[1]?.resolve('now')

  expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await next).toBe('now')
})

test('on workerd each caller begins a flight of its own', () => {
  isolateRequests()
  const { get, begun } = flights()
  void get('a')
  void get('a')

  expect(begun).toHaveLength(2)
})
