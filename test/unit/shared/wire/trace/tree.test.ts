import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { TraceEntry } from '../../../../../src/shared/wire/trace/entry.ts'
import { type TraceNode, toTraceTree } from '../../../../../src/shared/wire/trace/tree.ts'
import { nodesIn } from '../../../../support/trace-nodes.ts'

const RUN: TraceEntry = {
  id: 'run',
  parentId: null,
  kind: 'workflow',
  name: 'greet',
  at: 100,
  phase: 'began',
  input: 'Ada',
}

function entry(id: string, parentId: string | null, more: Partial<TraceEntry> = {}): TraceEntry {
  return { id, parentId, kind: 'step', name: `name of ${id}`, at: 200, phase: 'began', ...more }
}

function tree(...entries: TraceEntry[]): TraceNode {
  const root = toTraceTree([RUN, ...entries])
  if (root === null) throw new Error('no root')
  return root
}

/** `id(children)` of a node and all below it. */
function shape({ id, children }: TraceNode): string {
  return children.length === 0 ? id : `${id}(${children.map(shape).join(' ')})`
}

/** Few ids, times and values, so that entries meet: copies that differ, lost parents, cycles. */
const anyEntry: fc.Arbitrary<TraceEntry> = fc.record(
  {
    id: fc.constantFrom('a', 'b', 'c', 'd', 'run', '__proto__'),
    parentId: fc.constantFrom(null, 'a', 'b', 'c', 'run', 'gone', '__proto__'),
    kind: fc.constantFrom('step', 'llm', 'workflow'),
    name: fc.constantFrom('x', 'y'),
    at: fc.integer({ min: 0, max: 5 }),
    phase: fc.constantFrom('began' as const, 'ended' as const),
    input: fc.constantFrom(null, 1, { a: 1 }),
    output: fc.constantFrom(null, 1, 'two'),
    error: fc.constantFrom({ name: 'A', message: 'a', cause: null }, { name: 'B', message: 'b', cause: null }),
    attributes: fc.dictionary(fc.constantFrom('k', 'l', '__proto__'), fc.integer({ min: 0, max: 3 })),
  },
  { requiredKeys: ['id', 'parentId', 'kind', 'name', 'at', 'phase'] },
)

const someEntries = fc.array(anyEntry, { maxLength: 12 })

test('toTraceTree: the order of the entries and copies of them make no difference', () => {
  const shuffled = someEntries.chain((entries) =>
    fc.record({
      entries: fc.constant(entries),
      others: fc
        .subarray(entries)
        .chain((copies) =>
          fc.shuffledSubarray([...entries, ...structuredClone(copies)], { minLength: entries.length + copies.length }),
        ),
    }),
  )

  fc.assert(
    fc.property(shuffled, ({ entries, others }) => void expect(toTraceTree(others)).toEqual(toTraceTree(entries))),
  )
})

test('toTraceTree: every id is in the tree exactly once', () => {
  fc.assert(
    fc.property(someEntries, (entries) => {
      const ids = idsIn(tree(...entries.filter(({ id }) => id !== 'run')))

      expect(ids.toSorted()).toEqual([...new Set(['run', ...entries.map(({ id }) => id)])].toSorted())
    }),
  )
})

test('toTraceTree: a node ends at its latest end, and is open without one', () => {
  fc.assert(
    fc.property(someEntries, (entries) => {
      const root = toTraceTree(entries)

      for (const { id, endedAt } of root === null ? [] : nodesIn(root)) {
        const ends = entries.filter((entry) => entry.id === id && entry.phase === 'ended').map(({ at }) => at)
        expect(endedAt).toBe(ends.length === 0 ? null : Math.max(...ends))
      }
    }),
  )
})

test('toTraceTree: children are sorted by their start', () => {
  fc.assert(
    fc.property(someEntries, (entries) => {
      const root = toTraceTree(entries)

      for (const { children } of root === null ? [] : nodesIn(root))
        expect(children).toEqual(children.toSorted((a, b) => a.startedAt - b.startedAt))
    }),
  )
})

test('toTraceTree: a start and its end make one node', () => {
  const root = tree(
    entry('s', 'run', { at: 110, input: { n: 1 }, attributes: { attempts: 1, queue: 'q' } }),
    entry('s', 'run', { at: 150, phase: 'ended', output: 'done', attributes: { attempts: 3 } }),
  )

  expect(root.children).toEqual([
    {
      id: 's',
      kind: 'step',
      name: 'name of s',
      startedAt: 110,
      endedAt: 150,
      input: { n: 1 },
      output: 'done',
      error: null,
      attributes: { attempts: 3, queue: 'q' },
      children: [],
    },
  ])
})

test('toTraceTree: a node without a start starts at its end', () => {
  expect(tree(entry('s', 'run', { at: 150, phase: 'ended' })).children[0]).toMatchObject({
    startedAt: 150,
    endedAt: 150,
  })
})

test('toTraceTree: nodes are nested to any depth', () => {
  expect(shape(tree(entry('b', 'a'), entry('a', 'run'), entry('c', 'b')))).toBe('run(a(b(c)))')
})

test('toTraceTree: a node without a parent, or with an unknown one, is attached to the root', () => {
  expect(shape(tree(entry('a', null), entry('b', 'gone')))).toBe('run(a b)')
})

test('toTraceTree: the nodes of a cycle are attached to the root, and keep their other children (threat 84)', () => {
  expect(shape(tree(entry('a', 'b'), entry('b', 'a'), entry('c', 'a'), entry('d', 'd')))).toBe('run(a(c) b d)')
})

test('toTraceTree: the workflow is the root, even if a span without a parent seems older', () => {
  expect(shape(tree(entry('early', null, { at: 1 })))).toBe('run(early)')
})

test('toTraceTree: returns null without a root', () => {
  expect(toTraceTree([])).toBeNull()
  expect(toTraceTree([entry('a', 'b'), entry('b', 'a')])).toBeNull()
})

test('toTraceTree: spans nested deeper than JSON allows are attached to the root (threat 84)', () => {
  const chain = Array.from({ length: 5000 }, (_, depth) => entry(`s${depth}`, depth === 0 ? 'run' : `s${depth - 1}`))

  const root = tree(...chain)

  expect(() => JSON.stringify(root)).not.toThrow()
  expect(root.children.map(({ id }) => id)).toEqual(['s0', 's1000', 's2000', 's3000', 's4000'])
})

test('toTraceTree: keeps an attribute named __proto__ (threat 84)', () => {
  const root = tree(entry('s', 'run', { attributes: JSON.parse('{"__proto__":1}') }))

  expect(JSON.stringify(root.children[0]?.attributes)).toBe('{"__proto__":1}')
})

function idsIn(node: TraceNode): string[] {
  return nodesIn(node).map(({ id }) => id)
}
