import { mkdir, mkdtemp, open, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { traceDestinations } from '../../../../../src/worker/closed-runs/archive/destinations.ts'

const RUN = { namespace: 'a/b', runId: 'r1' }
const NAME = 'a%2Fb/r1.json'

let directory: string

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'portico-destination-'))
})

afterEach(async () => {
  await rm(directory, { recursive: true, force: true })
})

test('folder destination: a reader sees either the old or the new trace, never a part', async () => {
  const { read, write } = destination()
  await write(RUN, 'old'.repeat(100_000), null, call())
  const reader = await open(join(directory, NAME))

  const stored = await read(RUN, 1 << 20, call())
  expect(await write(RUN, 'new', stored?.version ?? null, call())).toBe(true)

  expect(await reader.readFile('utf8')).toBe('old'.repeat(100_000))
  expect(await readFile(join(directory, NAME), 'utf8')).toBe('new')
  expect(await readdir(directory)).toEqual(['a%2Fb'])
  await reader.close()
})

test('folder destination: creates a trace or replaces the version that was read, but no other version', async () => {
  const { has, read, write } = destination()
  expect(await has(RUN, call())).toBe(false)
  expect(await write(RUN, 'first', null, call())).toBe(true)
  const first = await read(RUN, 1000, call())

  expect(await write(RUN, 'second', null, call())).toBe(false)
  expect(await write(RUN, 'second', first?.version ?? null, call())).toBe(true)
  expect(await write(RUN, 'third', first?.version ?? null, call())).toBe(false)

  expect((await read(RUN, 1000, call()))?.text).toBe('second')
  expect(await has(RUN, call())).toBe(true)
})

test('folder destination: a failed write leaves no file behind', async () => {
  const { write } = destination()
  await mkdir(join(directory, NAME, 'in the way'), { recursive: true })

  expect(await write(RUN, 'new', null, call())).toBe(false)
  await expect(write(RUN, 'new', 'another version', call())).resolves.toBe(false)

  expect(await readdir(directory)).toEqual(['a%2Fb'])
})

function call() {
  return { signal: new AbortController().signal, deadlineAt: Date.now() + 3000 }
}

function destination() {
  const [only] = traceDestinations({ remote: null, local: { directory, writes: true }, maxBytes: 1 << 20 })
  if (only === undefined) throw new Error('no destination')
  return only
}
