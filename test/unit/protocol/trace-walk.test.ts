import { expect, test } from 'vitest'
import type { TraceEntry } from '../../../src/protocol/trace-entry.ts'
import { type TraceNode, toTraceTree } from '../../../src/protocol/trace-tree.ts'
import { type WalkOptions, walkRuns } from '../../../src/protocol/trace-walk.ts'

interface Told {
  previous?: string
  next?: string
  children?: string[]
  /** What is thrown after the first entry, or at once. */
  fails?: 'at once' | 'half way'
  open?: boolean
}

/** Histories of runs by their ids; the id of the workflow is always `w`. */
function walk(runs: Record<string, Told>, { from = 'a', ...options }: Partial<WalkOptions> & { from?: string } = {}) {
  const reads: string[] = []
  async function* read({ runId }: { runId: string }): AsyncGenerator<TraceEntry> {
    reads.push(runId)
    const told = runs[runId]
    if (told === undefined || told.fails === 'at once') throw new Error(`${runId} is not there`)
    const run = { id: runId, parentId: null, kind: 'workflow', name: 'story' }
    const at = reads.length
    yield { ...run, at, phase: 'began', input: runId, attributes: { workflowId: 'w', runId, previousRunId: told.previous } }
    if (told.fails === 'half way') throw new Error(`${runId} is cut`)
    for (const child of told.children ?? []) {
      const node = { id: `${runId}:child:${child}`, parentId: runId, kind: 'child_workflow', name: 'story', at }
      yield { ...node, phase: 'began', attributes: { workflowId: child } }
      yield { ...node, phase: 'began', attributes: { runId: child } }
    }
    if (told.open === true) return
    yield { ...run, at: at + 1, phase: 'ended', output: runId, attributes: { status: 'completed', nextRunId: told.next } }
  }
  const walked = walkRuns({ workflowId: 'w', runId: from }, { read, firstRunId: 'a', maxRuns: 100, maxBytes: 1e6, ...options })
  return { reads, walked, tree: async () => shape(toTraceTree((await walked).entries)) }
}

function shape(node: TraceNode | null): string {
  if (node === null) return 'nothing'
  const mark = node.attributes.truncated === true ? `${node.id}*` : node.id
  return node.children.length === 0 ? mark : `${mark}(${node.children.map(shape).join(' ')})`
}

test('walkRuns: a run alone is the root, and the only one that is read', async () => {
  const { reads, tree } = walk({ a: {} })

  expect(await tree()).toBe('a')
  expect(reads).toEqual(['a'])
})

test('walkRuns: a chain stands side by side under one root, whichever link is asked for', async () => {
  const runs = { a: { next: 'b' }, b: { previous: 'a', next: 'c' }, c: { previous: 'b' } }

  for (const from of ['a', 'b', 'c']) expect(shapeSorted(await walk(runs, { from }).walked)).toBe('a:chain(a b c)')
})

test('walkRuns: the root of a chain has begun with what it knows first and ended with its last link', async () => {
  const root = toTraceTree((await walk({ a: { next: 'b' }, b: { previous: 'a' } }).walked).entries)

  expect(root).toMatchObject({ id: 'a:chain', kind: 'workflow', name: 'story', output: 'b', attributes: { status: 'completed' } })
})

test('walkRuns: the root of a chain whose last link is open is open itself', async () => {
  const root = toTraceTree((await walk({ a: { next: 'b' }, b: { previous: 'a', open: true } }).walked).entries)

  expect(root).toMatchObject({ id: 'a:chain', endedAt: null, output: null })
  expect(root?.children[0]?.endedAt).not.toBeNull()
})

test('walkRuns: the root of a chain ends with its last link, though the end of an older one could not be read', async () => {
  const root = toTraceTree((await walk({ a: { fails: 'half way' }, b: { previous: 'a' } }, { from: 'b' }).walked).entries)

  expect(root).toMatchObject({ id: 'a:chain', output: 'b', attributes: { status: 'completed' } })
  expect(root?.endedAt).not.toBeNull()
})

test('walkRuns: the root of a run that had ended and was reset is open while the new run is, and ends with it', async () => {
  const reset = (open: boolean) => walk({ a: {}, b: { previous: 'a', open } }, { from: 'b' }).walked

  expect(toTraceTree((await reset(true)).entries)).toMatchObject({ id: 'a:chain', endedAt: null, output: null })
  expect(toTraceTree((await reset(false)).entries)).toMatchObject({ id: 'a:chain', output: 'b' })
})

test('walkRuns: children have their trees below them, chains of their own included', async () => {
  const runs = { a: { children: ['x', 'y'] }, x: { children: ['z'] }, y: { next: 'y2' }, y2: { previous: 'y' }, z: {} }

  expect(await walk(runs).tree()).toBe('a(a:child:x(x(x:child:z(z))) a:child:y(y y2))')
})

test('walkRuns: runs that name one another are read once', async () => {
  const { reads, walked } = walk({ a: { next: 'a', children: ['b'] }, b: { children: ['a', 'b'] } })

  await walked
  expect(reads).toEqual(['a', 'b'])
})

test('walkRuns: beyond the bound on runs nothing is read, and what lacks something says so', async () => {
  const { reads, tree } = walk({ a: { children: ['x', 'y', 'z'] }, x: {}, y: {}, z: {} }, { maxRuns: 2 })

  expect(await tree()).toBe('a(a:child:x(x) a:child:y* a:child:z*)')
  expect(reads).toEqual(['a', 'x'])
})

test('walkRuns: beyond the bound on bytes a history is left, and nothing else is read', async () => {
  const { reads, tree } = walk({ a: { children: ['x'] }, x: {} }, { maxBytes: 200 })

  expect(await tree()).toBe('a*(a:child:x)')
  expect(reads).toEqual(['a'])
})

test('walkRuns: a child that can’t be read is a fault and a mark', async () => {
  const { walked, tree } = walk({ a: { children: ['x', 'y'] }, y: {} })

  expect(await tree()).toBe('a(a:child:x* a:child:y(y))')
  expect((await walked).faults).toEqual([new Error('x is not there')])
})

test('walkRuns: a history that breaks off is kept as far as it was read', async () => {
  expect(await walk({ a: { fails: 'half way' } }).tree()).toBe('a*')
})

test('walkRuns: rejects when nothing of the run itself can be read', async () => {
  await expect(walk({ a: { fails: 'at once' } }).walked).rejects.toThrow('a is not there')
})

function shapeSorted({ entries }: { entries: TraceEntry[] }): string {
  const root = toTraceTree(entries)
  root?.children.sort((a, b) => (a.id < b.id ? -1 : 1))
  return shape(root)
}
