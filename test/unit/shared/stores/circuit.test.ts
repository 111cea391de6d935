import { expect, test } from 'vitest'
import { createCircuit } from '../../../../src/shared/stores/circuit.ts'
import { type StoreCall, StoreError } from '../../../../src/shared/stores/store-call.ts'

const START = 1_000_000

/** A circuit whose store responds as the test says, at times that the test sets. */
function aCircuit() {
  let ms = START
  let calls = 0
  const circuit = createCircuit(() => ms)
  return {
    pass(passedMs: number) {
      ms += passedMs
    },
    calls: () => calls,
    use: (act: (call: StoreCall) => Promise<string> = async () => 'value', timeoutMs = 3000) =>
      circuit({ signal: new AbortController().signal, deadlineAt: ms + timeoutMs }, (call) => {
        calls++
        return act(call)
      }).catch((error: Error) => error.message),
  }
}

const fails = () => Promise.reject(new StoreError('The store cannot be reached', { retryable: true }))
const DOWN = 'The store cannot be reached; it is not tried again for 10 s'

test('circuit: after a failure without a response the store is not called for 10 s, and then again', async () => {
  const { use, pass, calls } = aCircuit()

  expect(await use(fails)).toBe('The store cannot be reached')
  expect(await use()).toBe(DOWN)
  pass(9_999)
  expect(await use()).toBe(DOWN)
  expect(calls()).toBe(1)
  pass(1)
  expect(await use()).toBe('value')
  expect(await use()).toBe('value')
  expect(calls()).toBe(3)
})

test('circuit: only one operation at a time finds out whether the store is up again', async () => {
  const { use, pass, calls } = aCircuit()
  await use(fails)
  pass(10_000)
  const { promise, resolve } = Promise.withResolvers<string>()

  const trying = use(() => promise)
  expect(await use()).toBe(DOWN)
  resolve('value')

  expect(await trying).toBe('value')
  expect(await use()).toBe('value')
  expect(calls()).toBe(3)
})

test('circuit: if the store is still down, the next 10 s begin', async () => {
  const { use, pass, calls } = aCircuit()
  await use(fails)
  pass(10_000)
  await use(fails)
  pass(9_999)

  expect(await use()).toBe(DOWN)
  expect(calls()).toBe(2)
})

test('circuit: an operation that is aborted says nothing: the next one finds out', async () => {
  const { use, pass } = aCircuit()
  await use(fails)
  pass(10_000)

  expect(await use(() => Promise.reject(new Error('the client has left')))).toBe('the client has left')

  expect(await use()).toBe('value')
})

test('circuit: a store that rejects, or responds slowly, or had no time is not down', async () => {
  const rejects = () => Promise.reject(new StoreError('The store returned 403'))
  const respondsSlowly = ({ onResponse }: StoreCall) => {
    onResponse?.()
    return fails()
  }
  for (const [act, timeoutMs] of [
    [rejects, 3000],
    [respondsSlowly, 3000],
    [fails, 999],
  ] as const) {
    const { use } = aCircuit()
    await use(act, timeoutMs)

    expect(await use()).toBe('value')
  }
})

test('circuit: a store that has responded to another operation meanwhile is not down', async () => {
  const { use, calls } = aCircuit()
  const { promise: slow, reject } = Promise.withResolvers<string>()

  const failing = use(() => slow)
  expect(await use()).toBe('value')
  reject(new StoreError('The store did not respond in time', { retryable: true }))

  expect(await failing).toBe('The store did not respond in time')
  expect(await use()).toBe('value')
  expect(calls()).toBe(3)
})
