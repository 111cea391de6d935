import { mkdir, mkdtemp, open, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { traceTargets } from '../../../src/worker/trace-targets.ts'

const ROOT = { workflowId: 'orders/17', rootRunId: 'r1' }
const NAME = 'orders%2F17_r1.json'
const { signal } = new AbortController()

let directory: string

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'portico-target-'))
})

afterEach(async () => {
  await rm(directory, { recursive: true, force: true })
})

test('file target: who reads while a trace is written anew reads the whole old one, later ones the whole new one', async () => {
  const { write } = target()
  await write(ROOT, 'old'.repeat(100_000), signal)
  const reader = await open(join(directory, NAME))

  await write(ROOT, 'new', signal)

  expect(await reader.readFile('utf8')).toBe('old'.repeat(100_000))
  expect(await readFile(join(directory, NAME), 'utf8')).toBe('new')
  expect(await readdir(directory)).toEqual([NAME])
  await reader.close()
})

test('file target: what can not be written leaves nothing behind', async () => {
  const { write } = target()
  await mkdir(join(directory, NAME, 'in the way'), { recursive: true })

  await expect(write(ROOT, 'new', signal)).rejects.toThrow()

  expect(await readdir(directory)).toEqual([NAME])
})

function target() {
  const [only] = traceTargets({ remote: null, local: { directory, writes: true }, maxBytes: 1 << 20 })
  if (only === undefined) throw new Error('no target')
  return only
}
